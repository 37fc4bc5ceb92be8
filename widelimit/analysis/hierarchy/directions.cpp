#include "widelimit/analysis/hierarchy/directions.hpp"

#include "widelimit/base/quasi_random.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/select.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

namespace widelimit {

namespace {

/// Chooses the sign of an axis such that its largest component is positive; the first one of those that are largest up
/// to rounding, since components of equal magnitude are frequent (features without correlation or with equal
/// variances).
void fix_sign(std::span<double> axis) {
  double largest = 0;
  for (const double component : axis) largest = std::max(largest, std::abs(component));
  const auto leading = std::find_if(axis.begin(), axis.end(),
                                    [&](double component) { return std::abs(component) >= (1 - 1e-6) * largest; });
  if (leading != axis.end() && *leading < 0) {
    for (double& component : axis) component = -component;
  }
}

/// Returns the leading eigenvectors of xᵀx, at most QuasiRandom::dimensions; computed from those of xxᵀ if that matrix
/// is smaller.
Matrix<double> principal_axes(MatrixView<const double> x, const Engine& engine) {
  const Algebra& algebra = engine.algebra();
  const bool by_features = x.cols <= x.rows;
  const Index size = by_features ? x.cols : x.rows;
  if (size == 0) return {0, x.cols};
  Matrix<double> products(size, size);
  algebra.host_product(1, by_features ? Transpose::yes : Transpose::no, x, by_features ? Transpose::no : Transpose::yes,
                       x, 0, products.view());
  EngineMatrix rows = algebra.allocate(size, size, Precision::f64);
  const std::vector<double> values = algebra.eigenvectors(algebra.copy_of(products.view()), rows, nullptr);
  algebra.read(rows, products.view());
  // Null vectors of xxᵀ define no axis.
  const double least = 1e3 * static_cast<double>(size) * std::numeric_limits<double>::epsilon() * values.back();
  Index count = 0;
  while (count < std::min(size, QuasiRandom::dimensions) && values[usize(size - 1 - count)] > least) ++count;
  Matrix<double> axes(count, x.cols);
  for (Index k = 0; k < count; ++k) {
    const double* const vector = products.view().row(size - 1 - k);
    double* const axis = axes.view().row(k);
    if (by_features) {
      std::copy_n(vector, x.cols, axis);
    } else {
      algebra.host_product(1 / std::sqrt(values[usize(size - 1 - k)]), Transpose::no,
                           MatrixView<const double>{vector, 1, size, size}, Transpose::no, x, 0,
                           MatrixView<double>{axis, 1, x.cols, x.cols});
    }
    fix_sign({axis, usize(x.cols)});
  }
  return axes;
}

}  // namespace

Directions::Directions(MatrixView<const double> x, bool antithetic, std::uint64_t seed, const Engine& engine)
    : axes_(principal_axes(x, *make_engine("cpu", {.threads = engine.threads()}))),
      antithetic_(antithetic),
      seed_(seed),
      engine_(engine) {}

/// w = g + Σ_k (z_k − g·v_k)v_k with g pseudo-random, z quasi-random, and v_k the axes.
void Directions::write(Index replicate, Index first, MatrixView<double> to) const {
  const Index step = antithetic_ ? 2 : 1;
  const Index begin = first / step;
  const Index count = (to.rows + step - 1) / step;
  const auto stream = 2 * static_cast<std::uint64_t>(replicate);
  const Random random(seed_, stream);
  const QuasiRandom quasi(seed_, stream + 1);
  Matrix<double> w(count, to.cols);
  Matrix<double> along(count, axes_.rows());
  engine_.for_each(count, [&](Index i) {
    const auto index = static_cast<std::uint64_t>(begin + i);
    random.normals(index * static_cast<std::uint64_t>(to.cols), to.cols, 1.0, w.view().row(i));
    for (Index k = 0; k < axes_.rows(); ++k) along(i, k) = quasi.normal(k, static_cast<std::uint32_t>(index));
  });
  if (axes_.rows() > 0) {
    const Algebra& algebra = engine_.algebra();
    algebra.host_product(-1, Transpose::no, w.view(), Transpose::yes, axes_.view(), 1, along.view());
    algebra.host_product(1, Transpose::no, along.view(), Transpose::no, axes_.view(), 1, w.view());
  }
  for (Index i = 0; i < to.rows; ++i) {
    const double sign = antithetic_ && i % 2 == 1 ? -1.0 : 1.0;
    const double* const from = w.view().row(i / step);
    std::transform(from, from + to.cols, to.row(i), [&](double value) { return sign * value; });
  }
}

}  // namespace widelimit
