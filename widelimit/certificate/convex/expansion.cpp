#include "widelimit/certificate/convex/expansion.hpp"

#include "widelimit/certificate/cone/curvature.hpp"
#include "widelimit/engine/cpu/algebra/blas_calls.hpp"
#include "widelimit/engine/cpu/vector/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr double expansion_unit = 0x1p-53;

/// A sum of `terms` products in any order is off by no more than this part of the sum of their moduli.
double gamma_of(Index terms) { return 1.01 * static_cast<double>(terms) * expansion_unit; }

/// The part of an expansion that does not depend on the weights: where each sample's cosine is and may go.
struct CosineGeometry {
  NormRange norm;
  double half_norm = 0;  ///< ‖z‖ is not larger
  double slack = 0;      ///< of ⟨x̂ᵢ, x⟩ − uᵢ‖x‖ against its computed parts, the same for all samples
  double nu_slack = 0;   ///< of ν
  std::vector<double> offset;        ///< ⟨x̂ᵢ, c⟩ − uᵢ‖c‖
  std::vector<CosineRange> cosines;  ///< with tangent points
};

/// Cosines of a sample: q = ⟨x̂ᵢ, x⟩ − u‖x‖ moves the cosine from u by q/‖x‖.
CosineRange cosine_range(double u, double low, double high, const NormRange& norm) {
  constexpr double slack = 0x1p-50;
  const double least = u + (low < 0 ? low / norm.low : low / norm.high);
  const double most = u + (high > 0 ? high / norm.low : high / norm.high);
  return {std::clamp(least - slack, -1.0, u), u, std::clamp(most + slack, u, 1.0)};
}

/// Tangent points are the cosines at the centre, and a little off ±1, where κ' is infinite.
double tangent_point(double cosine, double reach, double norm) {
  const double rest = std::clamp(reach / norm / 8, 0x1p-42, 0.25);
  return std::clamp(cosine, -1 + rest, 1 - rest);
}

/// `centre` on reduced features; `half_norm` is not smaller than ‖z‖.
CosineGeometry find_cosines(const Ranges& ranges, MatrixView<const double> directions, const Ball& ball, bool euclidean,
                            const std::vector<double>& centre, double half_norm, Expansion& expansion) {
  const Index count = directions.rows, features = ranges.directions().cols;
  CosineGeometry geometry{.norm = ranges.norm_range(ball), .half_norm = half_norm};
  const double norm = expansion.centre_norm;
  // ν ≤ ‖z‖²/(2‖c‖) by (a − b)² ≥ 0; both ‖c‖ and ĉ are rounded.
  expansion.nu = geometry.half_norm * geometry.half_norm / (2 * norm) * (1 + 0x1p-48);
  const double lengths = norm + geometry.norm.high + geometry.half_norm;
  geometry.nu_slack = (16 * expansion_unit + 4 * ranges.norm_error()) * lengths;
  geometry.slack = (gamma_of(features + 32) + 4 * ranges.norm_error()) * 2 * lengths + geometry.nu_slack;
  expansion.u.resize(at(count));
  expansion.reach.resize(at(count));
  geometry.offset.resize(at(count));
  geometry.cosines.resize(at(count));
  const cpu::ResidualFrame frame{.size = directions.cols,
                                 .centre = centre.data(),
                                 .unit = expansion.unit.data(),
                                 .half = expansion.half.data(),
                                 .norm = norm};
  for (Index i = 0; i < count; ++i) {
    const auto [inner, reach] = cpu::residual_of(frame, directions.row(i), euclidean);
    const double cosine = inner / norm, first = reach * (euclidean ? ball.radius : 1);
    const double u = expansion.u[at(i)] = tangent_point(cosine, first + expansion.nu, norm);
    // Moving the tangent point by s moves the residual by s·ĉ.
    const double moved = std::abs(u - cosine) * geometry.half_norm;
    const double swing = (first + moved) * (1 + gamma_of(features + 16));
    const double offset = geometry.offset[at(i)] = inner - u * norm;
    const double low = offset - swing - std::max(u, 0.0) * expansion.nu - geometry.slack;
    const double high = offset + swing - std::min(u, 0.0) * expansion.nu + geometry.slack;
    expansion.reach[at(i)] = swing + std::abs(u) * expansion.nu;
    geometry.cosines[at(i)] = cosine_range(u, low, high, geometry.norm);
  }
  return geometry;
}

}  // namespace

double Expansion::first_order(bool euclidean, double radius) const {
  if (!bounded) return -std::numeric_limits<double>::infinity();
  double squares = 0;
  for (std::size_t i = 0; i < w.size(); ++i) squares += std::min(0.0, w[i]) * reach[i] * reach[i];
  double linear = 0;
  if (euclidean) {
    linear = euclidean_norm(gradient.data(), std::ssize(gradient)) * radius;
  } else {
    for (std::size_t j = 0; j < half.size(); ++j) linear += std::abs(gradient[j]) * half[j];
  }
  const double falls = std::min(0.0, rise) * nu;
  const double size = std::abs(constant) + linear - falls - squares;
  return constant - linear + falls + squares - error - gamma_of(std::ssize(w) + std::ssize(half) + 16) * size;
}

/// With F = N·κ(a/N), a = ⟨x̂ᵢ, x⟩, N = ‖x‖, and any u: F = N·κ(u) + κ'(u)·q + (C/N)·q², q = a − u·N, where C is
/// bounded by CurvatureBounds and q = offset + ⟨yᵢ, z⟩ − uν. Samples of weight > 0 take the least of C/N, the others
/// the largest. Offsets are 0 but for rounding and tangent points that were moved; they go into what is linear.
Expansion expand(const ConeKernel& kernel, const Ranges& ranges, const ReducedDirections& directions,
                 const double* point, const Ball& ball, bool euclidean, const FunctionalWeights& weights) {
  Expansion result{.exponent = weights.exponent};
  Surrounding box = ranges.surrounding(ball);
  const Index features = ranges.directions().cols, size = directions.rows().cols, count = directions.rows().rows;
  if (euclidean) {
    // A ball about the point is one about no other centre.
    box.centre.assign(point, point + features);
    std::fill(box.half.begin(), box.half.end(), ball.radius * (1 + 0x1p-50));
  }
  const double norm = result.centre_norm = euclidean_norm(box.centre.data(), features);
  const NormRange around = ranges.norm_range(ball);
  if (!(around.low > 0x1p-20 * around.high) || !(norm > 0)) return result;
  result.direction.resize(box.centre.size());
  std::transform(box.centre.begin(), box.centre.end(), result.direction.begin(), [&](double x) { return x / norm; });
  const double rest = directions.rest_length(result.direction);
  result.unit = directions.keep(result.direction, rest);
  result.half = directions.keep(box.half, directions.rest_half(result.direction, box.half, rest));
  const double half_norm = euclidean ? ball.radius * (1 + 0x1p-50) : euclidean_norm(box.half.data(), features);
  const CosineGeometry geometry =
      find_cosines(ranges, directions.rows(), ball, euclidean, directions.keep(box.centre, 0), half_norm, result);
  result.centre = std::move(box.centre);
  const CurvatureBounds bounds(kernel, geometry.cosines);

  result.w.resize(at(count));
  result.gradient.assign(at(size), 0.0);
  std::vector<double> slopes(at(count), 0.0);
  double level = 0, turn = 0, squares = 0;   // Σaκ, Σmu, Σ(aκ' + we)·e
  double levels = 0, turns = 0, moduli = 0;  // the same of moduli
  double error = 0;
  for (Index i = 0; i < count; ++i) {
    const double a = weights.beta[at(i)];
    if (a == 0) continue;
    const double u = result.u[at(i)], e = geometry.offset[at(i)];
    const auto [least, most] = bounds.curvature[at(i)];
    const double c = a > 0 ? least / (least > 0 ? geometry.norm.high : geometry.norm.low)
                           : most / (most > 0 ? geometry.norm.low : geometry.norm.high);
    const double w = result.w[at(i)] = a * c - 0x1p-50 * std::abs(a * c);
    const double first = a * bounds.slope[at(i)];
    const double m = first + 2 * w * e;
    const double whole = result.reach[at(i)] + std::abs(e) + geometry.slack;
    level += a * bounds.value[at(i)];
    levels += std::abs(a) * kernel.largest();
    turn += m * u;
    turns += std::abs(m) + std::abs(first);
    squares += (first + w * e) * e;
    moduli += (std::abs(first) + std::abs(w * e)) * std::abs(e);
    error += std::abs(a) * (kernel.value_error() * geometry.norm.high +
                            kernel.slope_error() * (1 + 1 / std::sqrt(1 - std::abs(u))) * whole) +
             (std::abs(first) + 2 * std::abs(w) * whole) * geometry.slack;
    slopes[at(i)] = m;
  }
  const MatrixView<const double> rows = directions.rows();
  if (count > 0) {
    cpu::gemv<double>(1, Transpose::yes, rows, {slopes.data()}, 0, {result.gradient.data()});
  }
  result.rise = level - turn;
  for (Index j = 0; j < size; ++j) result.gradient[at(j)] += result.rise * result.unit[at(j)];
  result.constant = weights.bias + level * norm + squares;
  // Sums of the terms above, the weights' own rounding, and ν's.
  const double sums = gamma_of(count + 64);
  const double own = kernel.scale_error() + ranges.norm_error() + 8 * expansion_unit;
  error += (sums + own) * levels * 2 * geometry.norm.high + sums * (moduli + turns * 4 * geometry.half_norm) +
           sums * (levels + turns) * (geometry.half_norm + result.nu) + (levels + turns) * geometry.nu_slack +
           4 * expansion_unit * (std::abs(weights.bias) + std::abs(result.constant));
  result.error = 1.01 * error;
  result.bounded = std::isfinite(result.error) && std::isfinite(result.constant);
  return result;
}

}  // namespace widelimit
