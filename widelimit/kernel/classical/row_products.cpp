#include "widelimit/kernel/classical/row_products.hpp"

#include "widelimit/kernel/classical/classical.hpp"

#include <fmt/format.h>

namespace widelimit {

namespace {

constexpr Index processor_edge = 128;
constexpr Index device_edge = 1024;

}  // namespace

std::string classical_route(const ClassicalKernel& kernel, bool sparse, const Engine& engine) {
  if (device_matrices(engine) == nullptr) return "classical kernel, by its formula";
  if (sparse || kernel.name == ClassicalKernel::Name::laplace)
    return "classical kernel, by its formula on the processor";
  return fmt::format("classical kernel, products of samples on {}, its formula on the processor", engine.name());
}

Index classical_tile_edge(const Engine& engine) {
  return device_matrices(engine) != nullptr ? device_edge : processor_edge;
}

RowProducts<ScaledRows>::RowProducts(const ScaledRows& x1, const ScaledRows& x2, const Engine& engine)
    : x1_(x1), x2_(x2), algebra_(device_matrices(engine) != nullptr ? &engine.algebra() : nullptr) {
  if (algebra_ == nullptr) return;
  first_ = algebra_->hold(x1.unit());
  second_ = &x1 == &x2 ? first_ : algebra_->hold(x2.unit());
}

void RowProducts<ScaledRows>::multiply(Range rows, Range cols, MatrixView<double> out) const {
  if (algebra_ == nullptr) return x1_.multiply(rows, x2_, cols, out);
  EngineMatrix products = algebra_->allocate(rows.size(), cols.size(), Precision::f64);
  algebra_->product(1, Transpose::no, first_.block(rows.begin, 0, rows.size(), first_.cols()), Transpose::yes,
                    second_.block(cols.begin, 0, cols.size(), second_.cols()), 0, products);
  algebra_->read(products, out);
}

}  // namespace widelimit
