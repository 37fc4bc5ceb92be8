#include "widelimit/engine/cpu/algebra/bunch_kaufman.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"

#include <algorithm>

namespace widelimit::cpu {

namespace {

/// Rows that are eliminated together.
constexpr int panel = 64;

class BunchKaufman final : public IndefiniteFactor {
 public:
  /// Panel by panel, as LAPACK's dsytrf. LAPACK's lower triangle by columns is ours upper by rows.
  explicit BunchKaufman(Matrix<double> a) : factor_(std::move(a)), pivots_(usize(factor_.rows())) {
    const int n = lapack_size(factor_.rows());
    std::vector<double> work(usize(n) * panel);
    for (int begin = 0, done = 0; begin < n; begin += done) {
      interruption_point();
      const int rest = n - begin;
      int* own = pivots_.data() + begin;
      int info = 0;  // a pivot of 0, which counts as such
      done = rest;
      if (rest > panel) {
        dlasyf_("L", &rest, &panel, &done, &factor_(begin, begin), &n, own, work.data(), &rest, &info);
      } else {
        dsytf2_("L", &rest, &factor_(begin, begin), &n, own, &info);
      }
      // Rows of the whole matrix, not of what was left; negative where a pivot has two.
      std::for_each_n(own, done, [&](int& row) { row += row > 0 ? begin : -begin; });
    }
  }

  [[nodiscard]] Index size() const override { return factor_.rows(); }

  /// By Sylvester's law from the pivots.
  [[nodiscard]] Inertia inertia() const override {
    Inertia result;
    for (Index k = 0; k < size(); ++k) {
      if (pivots_[usize(k)] < 0) {  // a block of two rows, whose determinant is negative
        ++result.negative;
        ++result.positive;
        ++k;
        continue;
      }
      const double pivot = factor_(k, k);
      ++(pivot > 0 ? result.positive : pivot < 0 ? result.negative : result.zero);
    }
    return result;
  }

  void solve(MatrixView<double> b) const override {
    if (b.rows == 0 || b.cols == 0) return;
    const int n = lapack_size(size());
    const int columns = lapack_size(b.cols);
    int info = 0;
    Matrix<double> turned(b.cols, b.rows, Content::unset);  // by columns
    transpose(b, turned.view());
    dsytrs_("L", &n, &columns, factor_.data(), &n, pivots_.data(), turned.data(), &n, &info);
    transpose(turned.view(), b);
  }

 private:
  Matrix<double> factor_;
  std::vector<int> pivots_;
};

}  // namespace

std::unique_ptr<IndefiniteFactor> bunch_kaufman(Matrix<double> a) {
  return std::make_unique<BunchKaufman>(std::move(a));
}

}  // namespace widelimit::cpu
