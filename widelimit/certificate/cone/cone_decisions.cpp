#include "widelimit/certificate/cone/cone_decisions.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Below, an inner product has lost the digits of 1 − |u|. [docs/theory/numerics.md]
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

/// 1 − |u| of all training samples, from differences where they are nearly parallel to the point.
void find_rests(const PointGeometry& geometry, MatrixView<const double> points, Index point,
                const std::vector<double>& u, std::vector<double>& rest) {
  for (Index i = 0; i < std::ssize(u); ++i) {
    rest[at(i)] = 1 - std::abs(u[at(i)]);
    if (rest[at(i)] >= least_kept || geometry.support.norms[at(i)] == 0) continue;
    rest[at(i)] = distance_rest(points.row(point), geometry.norms[at(point)], geometry.support.directions.view().row(i),
                                points.cols, u[at(i)] < 0 ? -1 : 1);
  }
}

/// Entries of the scaled problem times what they were divided by.
void unscale_entries(const EntryExponents& exponents, int kernel_exponent, double* row, Index supports) {
  for (Index i = 0; i < supports; ++i) {
    const int sample = exponents.sample.empty() ? 0 : exponents.sample[at(i)];
    if (sample == EntryExponents::no_entry) continue;
    const int exponent = exponents.point + kernel_exponent + sample;
    if (exponent != 0) row[i] = std::ldexp(row[i], exponent);
  }
}

}  // namespace

Matrix<double> cone_decisions(const ConeKernel& kernel, const Model& model, const PointGeometry& geometry,
                              MatrixView<const double> points, const EntryExponents& exponents, int threads) {
  const Index supports = model.supports(), outputs = model.outputs();
  Matrix<double> g(points.rows, outputs);
  constexpr Index points_at_once = 8;
  parallel_for((points.rows + points_at_once - 1) / points_at_once, team_size(threads), [&](Index task) {
    const Index begin = task * points_at_once, count = std::min(points_at_once, points.rows - begin);
    std::vector<double> memory(at(count * supports));
    const MatrixView<double> entries{memory.data(), count, supports, supports};
    std::vector<double> u(at(supports)), rest(at(supports));
    for (Index k = 0; k < count; ++k) {
      const double norm = geometry.norms[at(begin + k)];
      const double* inner = geometry.inner.view().row(begin + k);
      double* row = entries.row(k);
      const double inverse = norm > 0 ? 1 / norm : 0;
      int parallel = 0;
      for (Index i = 0; i < supports; ++i) {
        const double cosine = std::min(1.0, std::max(-1.0, inner[i] * inverse));
        parallel |= static_cast<int>(std::abs(cosine) > 1 - least_kept);
        u[at(i)] = cosine;
      }
      if (parallel != 0) find_rests(geometry, points, begin + k, u, rest);
      kernel.evaluate(supports, {.u = u.data(), .rest = parallel != 0 ? rest.data() : nullptr, .value = row});
      for (Index i = 0; i < supports; ++i) row[i] *= kernel.scale() * norm * geometry.support.norms[at(i)];
      unscale_entries(exponents, kernel.exponent(), row, supports);
    }
    cpu::gemm<double>(1, Transpose::no, entries, Transpose::no, model.alpha.view(), 0,
                      g.view().block(begin, 0, count, outputs));
    for (Index k = begin; k < begin + count; ++k) {
      for (Index o = 0; o < outputs; ++o) g(k, o) += model.bias[at(o)];
    }
  });
  return g;
}

}  // namespace widelimit
