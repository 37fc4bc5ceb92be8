#include "widelimit/machine/gram/gram_product.hpp"

#include "widelimit/engine/cpu/algebra/team.hpp"
#include "widelimit/machine/gram/check_gram.hpp"
#include "widelimit/machine/gram/product.hpp"

namespace widelimit {

namespace {

class MemoryProduct final : public GramProduct {
 public:
  MemoryProduct(const AnyView& k, int threads) : k_(k), threads_(threads), asymmetry_(check_gram(k, threads)) {}

  Index samples() const override { return samples_of(k_); }

  std::vector<double> diagonal() const override {
    std::vector<double> result;
    std::visit(
        [&](const auto& k) {
          for (Index i = 0; i < k.rows; ++i) result.push_back(static_cast<double>(k(i, i)));
        },
        k_);
    return result;
  }

  Matrix<double> columns(std::span<const Index> chosen) const override {
    Matrix<double> result(samples(), std::ssize(chosen), Content::unset);
    std::visit(
        [&](const auto& k) {
          for (Index i = 0; i < k.rows; ++i) {
            for (std::size_t j = 0; j < chosen.size(); ++j) {
              result(i, static_cast<Index>(j)) = static_cast<double>(k(i, chosen[j]));
            }
          }
        },
        k_);
    return result;
  }

  void apply(MatrixView<const double> v, MatrixView<double> out, Progress* /*progress*/) const override {
    const cpu::AlgebraTeam team(threads_);
    multiply(k_, v, out);
  }

  Precision precision() const override {
    return std::holds_alternative<MatrixView<const float>>(k_) ? Precision::f32 : Precision::f64;
  }
  double asymmetry() const override { return asymmetry_; }
  double entry_cost() const override { return 10; }
  std::size_t bytes() const override { return 0; }

 private:
  AnyView k_;
  int threads_;
  double asymmetry_;
};

}  // namespace

std::unique_ptr<GramProduct> memory_product(const AnyView& k, int threads) {
  return std::make_unique<MemoryProduct>(k, threads);
}

}  // namespace widelimit
