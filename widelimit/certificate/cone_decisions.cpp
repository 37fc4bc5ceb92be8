#include "widelimit/certificate/cone_decisions.hpp"

#include "widelimit/backend/cpu/gemm.hpp"
#include "widelimit/base/parallel.hpp"

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

}  // namespace

Matrix<double> cone_decisions(const ConeKernel& kernel, const Model& model, const PointGeometry& geometry,
                              MatrixView<const double> points, int threads) {
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
      for (Index i = 0; i < supports; ++i) {
        u[at(i)] = norm > 0 ? std::clamp(inner[i] / norm, -1.0, 1.0) : 0;
        rest[at(i)] = 1 - std::abs(u[at(i)]);
        if (rest[at(i)] >= least_kept || geometry.support.norms[at(i)] == 0) continue;
        rest[at(i)] = distance_rest(points.row(begin + k), norm, geometry.support.directions.view().row(i), points.cols,
                                    u[at(i)] < 0 ? -1 : 1);
      }
      kernel.evaluate(supports, {.u = u.data(), .rest = rest.data(), .value = row});
      for (Index i = 0; i < supports; ++i) row[i] *= kernel.scale() * norm * geometry.support.norms[at(i)];
    }
    cpu::multiply(entries, model.alpha.view(), g.view().block(begin, 0, count, outputs));
    for (Index k = begin; k < begin + count; ++k) {
      for (Index o = 0; o < outputs; ++o) g(k, o) += model.bias[at(o)];
    }
  });
  return g;
}

}  // namespace widelimit
