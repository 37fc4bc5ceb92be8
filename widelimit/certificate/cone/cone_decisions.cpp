#include "widelimit/certificate/cone/cone_decisions.hpp"

#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace widelimit {

namespace {

/// For smaller 1 − |u|, the inner product is too inaccurate due to cancellation. [docs/theory/numerics.md]
constexpr double least_kept = 0x1p-20;

/// 1 − |u| = ½‖x/N ∓ x̂ᵢ‖².
double distance_rest(const double* x, double norm, const double* direction, Index size, double sign) {
  double sum = 0;
  for (Index j = 0; j < size; ++j) {
    const double difference = x[j] / norm - sign * direction[j];
    sum += difference * difference;
  }
  return sum / 2;
}

/// Computes 1 − |u| for all training samples, from differences for samples nearly parallel to the point.
void find_rests(const PointGeometry& geometry, MatrixView<const double> points, Index point,
                const std::vector<double>& u, std::vector<double>& rest) {
  for (Index i = 0; i < std::ssize(u); ++i) {
    rest[usize(i)] = 1 - std::abs(u[usize(i)]);
    if (rest[usize(i)] >= least_kept || geometry.support.norms[usize(i)] == 0) continue;
    rest[usize(i)] = distance_rest(points.row(point), geometry.norms[usize(point)],
                                   geometry.support.directions.view().row(i), points.cols, u[usize(i)] < 0 ? -1 : 1);
  }
}

/// Converts entries of the scaled problem to the original problem.
void unscale_entries(const EntryExponents& exponents, int kernel_exponent, double* row, Index supports) {
  for (Index i = 0; i < supports; ++i) {
    const int sample = exponents.sample.empty() ? 0 : exponents.sample[usize(i)];
    if (sample == EntryExponents::no_entry) continue;
    const int exponent = exponents.point + kernel_exponent + sample;
    if (exponent != 0) row[i] = std::ldexp(row[i], exponent);
  }
}

Matrix<double> host_decisions(const ConeKernel& kernel, const ConeOutputs& machine, const PointGeometry& geometry,
                              MatrixView<const double> points, const EntryExponents& exponents, const Engine& engine) {
  const Index supports = machine.alpha.rows, outputs = machine.alpha.cols;
  Matrix<double> g(points.rows, outputs);
  constexpr Index points_at_once = 8;
  engine.for_each((points.rows + points_at_once - 1) / points_at_once, [&](Index task) {
    const Index begin = task * points_at_once, count = std::min(points_at_once, points.rows - begin);
    std::vector<double> memory(usize(count * supports));
    const MatrixView<double> entries{memory.data(), count, supports, supports};
    std::vector<double> u(usize(supports)), rest(usize(supports));
    for (Index k = 0; k < count; ++k) {
      const double norm = geometry.norms[usize(begin + k)];
      const double* inner = geometry.inner.view().row(begin + k);
      double* row = entries.row(k);
      const double inverse = norm > 0 ? 1 / norm : 0;
      int parallel = 0;
      for (Index i = 0; i < supports; ++i) {
        const double cosine = std::min(1.0, std::max(-1.0, inner[i] * inverse));
        parallel |= static_cast<int>(std::abs(cosine) > 1 - least_kept);
        u[usize(i)] = cosine;
      }
      if (parallel != 0) find_rests(geometry, points, begin + k, u, rest);
      kernel.evaluate(supports, {.u = u.data(), .rest = parallel != 0 ? rest.data() : nullptr, .value = row});
      for (Index i = 0; i < supports; ++i) row[i] *= kernel.scale() * norm * geometry.support.norms[usize(i)];
      unscale_entries(exponents, kernel.exponent(), row, supports);
    }
    host::product<double>(1, Transpose::no, entries, Transpose::no, machine.alpha, 0,
                          g.view().block(begin, 0, count, outputs));
  });
  return g;
}

/// Evaluates on the engine that holds support and points; a matrix product sums batches of entries.
Matrix<double> held_decisions(const ConeKernel& kernel, const ConeOutputs& machine, const PointGeometry& geometry,
                              MatrixView<const double> points, const EntryExponents& exponents) {
  const HeldSupport& held = *geometry.support.held;
  const Algebra& algebra = held.engine.algebra();
  const Index supports = machine.alpha.rows, outputs = machine.alpha.cols;
  Matrix<double> g(points.rows, outputs);
  if (supports == 0) return g;
  std::vector<std::int32_t> of_samples(usize(supports), 0);
  for (std::size_t i = 0; i < of_samples.size(); ++i) {
    const int sample = exponents.sample.empty() ? 0 : exponents.sample[i];
    if (sample != EntryExponents::no_entry) of_samples[i] = exponents.point + kernel.exponent() + sample;
  }
  constexpr Index entries_at_once = Index{1} << 26;
  const Index rows = std::clamp<Index>(entries_at_once / supports, 1, std::max<Index>(points.rows, 1));
  const EngineMatrix all = algebra.hold(points), alpha = algebra.hold(machine.alpha),
                     memory = algebra.allocate(rows, supports, Precision::f64),
                     outputs_memory = algebra.allocate(rows, outputs, Precision::f64);
  for (Index begin = 0; begin < points.rows; begin += rows) {
    const Index count = std::min(rows, points.rows - begin);
    EngineMatrix entries = memory.block(0, 0, count, supports), found = outputs_memory.block(0, 0, count, outputs);
    const ConePairs pairs{.points = all.block(begin, 0, count, points.cols),
                          .directions = held.directions,
                          .inner = geometry.placed.block(begin, 0, count, supports),
                          .norms = std::span(geometry.norms).subspan(usize(begin), usize(count)),
                          .lengths = geometry.support.norms,
                          .exponents = of_samples,
                          .scale = kernel.scale()};
    held.cones.entries(kernel.chain(), pairs, entries);
    algebra.product(1, Transpose::no, entries, Transpose::no, alpha, 0, found);
    algebra.read(found, g.view().block(begin, 0, count, outputs));
  }
  return g;
}

}  // namespace

Matrix<double> cone_decisions(const ConeKernel& kernel, const ConeOutputs& machine, const PointGeometry& geometry,
                              MatrixView<const double> points, const EntryExponents& exponents, const Engine& engine) {
  Matrix<double> g = geometry.support.held ? held_decisions(kernel, machine, geometry, points, exponents)
                                           : host_decisions(kernel, machine, geometry, points, exponents, engine);
  for (Index k = 0; k < g.rows(); ++k) {
    for (Index o = 0; o < g.cols(); ++o) g(k, o) += machine.bias[usize(o)];
  }
  return g;
}

}  // namespace widelimit
