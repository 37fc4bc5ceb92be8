#include "widelimit/certificate/convex/expansion.hpp"

#include "widelimit/engine/cones.hpp"
#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/engine.hpp"
#include "widelimit/engine/host/host.hpp"
#include "widelimit/engine/host/residual.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace widelimit {

namespace {

/// κ at both endpoints of each range; for ranges with negative u, at the moduli of endpoints and tangent points.
struct CurvatureEnds {
  std::vector<double> low, high;  ///< cosines
  std::vector<double> low_value, high_value;
  std::vector<double> modulus, modulus_value, modulus_slope;  ///< of tangent points
};

/// Endpoints too close to the tangent point, relative to the distance to ±1, are moved outwards: C is monotone there,
/// so this is safe, and the difference quotient keeps half of its digits.
CurvatureEnds find_ends(const ConeKernel& kernel, std::span<const CosineRange> ranges) {
  constexpr double least_step = 0x1p-9;
  CurvatureEnds ends;
  std::vector<double> low_modulus, high_modulus;
  for (const auto& [low, tangent, high] : ranges) {
    const double step = least_step * (1 - std::abs(tangent));
    ends.low.push_back(std::max(low >= 0 ? 0.0 : -1.0, std::min(low, tangent - step)));
    ends.high.push_back(std::min(1.0, std::max(high, tangent + step)));
    low_modulus.push_back(std::abs(ends.low.back()));
    high_modulus.push_back(std::abs(ends.high.back()));
    ends.modulus.push_back(std::abs(tangent));
  }
  const auto count = std::ssize(ranges);
  for (auto* values : {&ends.low_value, &ends.high_value, &ends.modulus_value, &ends.modulus_slope}) {
    values->resize(ranges.size());
  }
  kernel.evaluate(count, {.u = low_modulus.data(), .value = ends.low_value.data()});
  kernel.evaluate(count, {.u = high_modulus.data(), .value = ends.high_value.data()});
  kernel.evaluate(count,
                  {.u = ends.modulus.data(), .value = ends.modulus_value.data(), .slope = ends.modulus_slope.data()});
  return ends;
}

/// Returns a lower bound of κ''(0)/2, the coefficient c₂. φ(u²) = (κ(u) + κ(−u) − 2κ(0))/(2u²) = c₂ + c₄u² + … is
/// convex, so c₂ = φ(0) ≥ 2φ(h) − φ(2h).
double half_curvature_at_zero(const ConeKernel& kernel) {
  constexpr double h = 0x1p-13;
  const auto phi = [&](double square) {
    const double u = std::sqrt(square);
    return (kernel.value(u) + kernel.value(-u) - 2 * kernel.value(0)) / (2 * square);
  };
  const double error = (8 * kernel.value_error() + 0x1p-48 * kernel.largest()) / h;
  return std::max(0.0, 2 * phi(h) - phi(2 * h) - error);
}

}  // namespace

CurvatureBounds::CurvatureBounds(const ConeKernel& kernel, std::span<const CosineRange> ranges)
    : value(ranges.size()), slope(ranges.size()), curvature(ranges.size()) {
  std::vector<double> tangents;
  for (const CosineRange& range : ranges) tangents.push_back(range.tangent);
  kernel.evaluate(std::ssize(ranges), {.u = tangents.data(), .value = value.data(), .slope = slope.data()});
  const CurvatureEnds ends = find_ends(kernel, ranges);
  const double middle = kernel.slope(0);
  const double bend = half_curvature_at_zero(kernel);
  const double value_error = 4 * (kernel.value_error() + kernel.slope_error()) + 0x1p-48 * (kernel.largest() + middle);

  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const double t = tangents[i];
    const bool right = ranges[i].low >= 0;
    // E(u) = κ(|u|) − κ'(0)|u| differs from κ by a linear function if no u is negative: one formula for both cases.
    const double straight = right ? 0 : middle;
    const double base = ends.modulus_value[i] - straight * ends.modulus[i];
    const double tilt = std::copysign(ends.modulus_slope[i] - straight, t);
    const double tilt_error =
        2 * kernel.slope_error() * (1 + 1 / std::sqrt(1 - ends.modulus[i])) + 0x1p-50 * (std::abs(tilt) + middle);
    const auto divided = [&](double u, double kappa, double sign) {
      const double step = u - t;
      if (step == 0) return 0.0;
      const double above_tangent = kappa - straight * std::abs(u) - base - tilt * step;
      return (above_tangent + sign * (value_error + tilt_error * std::abs(step))) / (step * step);
    };
    const double most =
        std::max(divided(ends.low[i], ends.low_value[i], 1), divided(ends.high[i], ends.high_value[i], 1));
    const double across = kernel.depth() <= 1 ? bend : std::max(2 * bend - most, kernel.convex() ? 0 : -most);
    const double least = right ? std::max(0.0, divided(ends.low[i], ends.low_value[i], -1)) : across;
    constexpr double slack = 0x1p-48;
    curvature[i] = {least - slack * std::abs(least), most + slack * std::abs(most)};
  }
}

ReducedDirections::ReducedDirections(const SupportGeometry& support)
    : used_(support.used), rows_(support.directions.view()) {
  if (support.held) holder_ = &*support.held, held_ = support.held->directions;
  if (std::ssize(used_) == rows_.cols) return;
  for (Index j = 0; j < rows_.cols; ++j) {
    if (!std::binary_search(used_.begin(), used_.end(), j)) rest_.push_back(j);
  }
  own_ = Matrix<double>(rows_.rows, std::ssize(used_) + 1, Content::unset);
  for (Index i = 0; i < rows_.rows; ++i) {
    double* row = own_.view().row(i);
    for (std::size_t j = 0; j < used_.size(); ++j) row[j] = rows_(i, used_[j]);
    row[used_.size()] = 0;
  }
  rows_ = std::as_const(own_).view();
  if (holder_ != nullptr) held_ = holder_->engine.algebra().hold(rows_);
}

ReducedDirections::ReducedDirections(const SupportGeometry& support, std::span<const double> factors)
    : ReducedDirections(support) {
  Matrix<double> scaled(rows_.rows, rows_.cols, Content::unset);
  for (Index i = 0; i < rows_.rows; ++i) {
    std::transform(rows_.row(i), rows_.row(i) + rows_.cols, scaled.view().row(i),
                   [&](double x) { return factors[usize(i)] * x; });
  }
  own_ = std::move(scaled);
  rows_ = std::as_const(own_).view();
  if (holder_ != nullptr) held_ = holder_->engine.algebra().hold(rows_);
}

double ReducedDirections::rest_length(std::span<const double> unit) const {
  double squares = 0;
  for (const Index j : rest_) squares += unit[usize(j)] * unit[usize(j)];
  return std::sqrt(squares) * (1 + slack(unit.size()));
}

double ReducedDirections::rest_sum(std::span<const double> unit, std::span<const double> low,
                                   std::span<const double> high, bool larger) const {
  double sum = 0;
  for (const Index j : rest_) {
    const double left = unit[usize(j)] * low[usize(j)], right = unit[usize(j)] * high[usize(j)];
    sum += larger ? std::max(left, right) : std::min(left, right);
  }
  return sum;
}

double ReducedDirections::rest_half(std::span<const double> unit, std::span<const double> half, double rest) const {
  if (!(rest > 0)) return 0;
  std::vector<double> negative(half.size());
  std::transform(half.begin(), half.end(), negative.begin(), [](double x) { return -x; });
  return rest_sum(unit, negative, half, true) / rest * (1 + slack(half.size()));
}

double ReducedDirections::rest_total(std::span<const double> full) const {
  double sum = 0;
  for (const Index j : rest_) sum += full[usize(j)];
  return sum;
}

std::vector<double> ReducedDirections::keep(std::span<const double> full, double rest) const {
  std::vector<double> kept;
  kept.reserve(usize(rows_.cols));
  for (const Index j : used_) kept.push_back(full[usize(j)]);
  if (!rest_.empty()) kept.push_back(rest);
  return kept;
}

void ReducedDirections::combine(const std::vector<double>& weights, std::vector<double>& to) const {
  if (weights.empty()) return;
  if (holder_ == nullptr) return host::multiply(1, Transpose::yes, rows_, weights, 0, to);
  holder_->engine.algebra().multiply(Transpose::yes, held_,
                                     MatrixView<const double>{weights.data(), std::ssize(weights), 1, 1},
                                     MatrixView<double>{to.data(), std::ssize(to), 1, 1});
}

namespace {

/// Relative rounding error of a sum of `terms` products in any order, relative to the sum of their moduli.
double gamma_of(Index terms) { return 1.01 * static_cast<double>(terms) * unit_roundoff; }

/// The part of an expansion that does not depend on the weights: the cosines of samples and their ranges.
struct CosineGeometry {
  Interval norm;
  double half_norm = 0;        ///< upper bound of ‖z‖
  double slack = 0;            ///< error of the computed ⟨x̂ᵢ, x⟩ − uᵢ‖x‖, the same for all samples
  double nu_slack = 0;         ///< error of ν
  std::vector<double> offset;  ///< ⟨x̂ᵢ, c⟩ − uᵢ‖c‖
  std::vector<CosineRange> cosines;  ///< with tangent points
};

/// Range of the cosine of a sample: q = ⟨x̂ᵢ, x⟩ − u‖x‖ changes the cosine from u by q/‖x‖.
CosineRange cosine_range(double u, double low, double high, const Interval& norm) {
  constexpr double slack = 0x1p-50;
  const double least = u + (low < 0 ? low / norm.low : low / norm.high);
  const double most = u + (high > 0 ? high / norm.low : high / norm.high);
  return {std::clamp(least - slack, -1.0, u), u, std::clamp(most + slack, u, 1.0)};
}

/// Tangent point: the cosine at the centre, kept away from ±1, where κ' is infinite.
double tangent_point(double cosine, double reach, double norm) {
  const double rest = std::clamp(reach / norm / 8, 0x1p-42, 0.25);
  return std::clamp(cosine, -1 + rest, 1 - rest);
}

/// Residuals of all directions, computed in the memory that holds them; sums over features in an unspecified order.
std::vector<host::Residual> residuals_of(const ReducedDirections& directions, const host::ResidualFrame& frame,
                                         bool euclidean) {
  const MatrixView<const double> rows = directions.rows();
  std::vector<host::Residual> result(usize(rows.rows));
  if (directions.holder() == nullptr) {
    for (Index i = 0; i < rows.rows; ++i) result[usize(i)] = host::residual_of(frame, rows.row(i), euclidean);
    return result;
  }
  std::vector<double> inner(result.size()), reach(result.size());
  directions.holder()->cones.residuals(directions.held(), frame, euclidean, inner.data(), reach.data());
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = {inner[i], reach[i]};
  return result;
}

/// `centre` is on reduced features; `half_norm` is an upper bound of ‖z‖.
CosineGeometry find_cosines(const Ranges& ranges, const ReducedDirections& directions, const Ball& ball, bool euclidean,
                            const std::vector<double>& centre, double half_norm, Expansion& expansion) {
  const Index count = directions.rows().rows, features = ranges.directions().cols;
  CosineGeometry geometry{.norm = ranges.norm_range(ball), .half_norm = half_norm};
  const double norm = expansion.centre_norm;
  // ν ≤ ‖z‖²/(2‖c‖) by (a − b)² ≥ 0; both ‖c‖ and ĉ are rounded.
  expansion.nu = geometry.half_norm * geometry.half_norm / (2 * norm) * (1 + 0x1p-48);
  const double lengths = norm + geometry.norm.high + geometry.half_norm;
  geometry.nu_slack = (16 * unit_roundoff + 4 * ranges.norm_error()) * lengths;
  geometry.slack = (gamma_of(features + 32) + 4 * ranges.norm_error()) * 2 * lengths + geometry.nu_slack;
  expansion.u.resize(usize(count));
  expansion.reach.resize(usize(count));
  geometry.offset.resize(usize(count));
  geometry.cosines.resize(usize(count));
  const host::ResidualFrame frame{.size = directions.rows().cols,
                                  .centre = centre.data(),
                                  .unit = expansion.unit.data(),
                                  .half = expansion.half.data(),
                                  .norm = norm};
  const std::vector<host::Residual> residuals = residuals_of(directions, frame, euclidean);
  for (Index i = 0; i < count; ++i) {
    const auto [inner, reach] = residuals[usize(i)];
    const double cosine = inner / norm, first = reach * (euclidean ? ball.radius : 1);
    const double u = expansion.u[usize(i)] = tangent_point(cosine, first + expansion.nu, norm);
    // A shift of the tangent point by s changes the residual by s·ĉ.
    const double moved = std::abs(u - cosine) * geometry.half_norm;
    const double variation = (first + moved) * (1 + gamma_of(features + 16));
    const double offset = geometry.offset[usize(i)] = inner - u * norm;
    const double low = offset - variation - std::max(u, 0.0) * expansion.nu - geometry.slack;
    const double high = offset + variation - std::min(u, 0.0) * expansion.nu + geometry.slack;
    expansion.reach[usize(i)] = variation + std::abs(u) * expansion.nu;
    geometry.cosines[usize(i)] = cosine_range(u, low, high, geometry.norm);
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
/// bounded by CurvatureBounds and q = offset + ⟨yᵢ, z⟩ − uν. Positive weights use the minimum of C/N, the others the
/// maximum. Offsets are 0 up to rounding and shifts of tangent points; they are added to the linear terms.
Expansion expand(const ConeKernel& kernel, const Ranges& ranges, const ReducedDirections& directions,
                 const double* point, const Ball& ball, bool euclidean, const FunctionalWeights& weights) {
  Expansion result{.exponent = weights.exponent};
  Surrounding box = ranges.surrounding(ball);
  const Index features = ranges.directions().cols, size = directions.rows().cols, count = directions.rows().rows;
  if (euclidean) {
    // An ℓ2 ball about the point is not a ball about another centre.
    box.centre.assign(point, point + features);
    std::fill(box.half.begin(), box.half.end(), ball.radius * (1 + 0x1p-50));
  }
  const double norm = result.centre_norm = euclidean_norm(box.centre.data(), features);
  const Interval around = ranges.norm_range(ball);
  if (!(around.low > 0x1p-20 * around.high) || !(norm > 0)) return result;
  result.direction.resize(box.centre.size());
  std::transform(box.centre.begin(), box.centre.end(), result.direction.begin(), [&](double x) { return x / norm; });
  const double rest = directions.rest_length(result.direction);
  result.unit = directions.keep(result.direction, rest);
  result.half = directions.keep(box.half, directions.rest_half(result.direction, box.half, rest));
  const double half_norm = euclidean ? ball.radius * (1 + 0x1p-50) : euclidean_norm(box.half.data(), features);
  const CosineGeometry geometry =
      find_cosines(ranges, directions, ball, euclidean, directions.keep(box.centre, 0), half_norm, result);
  result.centre = std::move(box.centre);
  const CurvatureBounds bounds(kernel, geometry.cosines);

  result.w.resize(usize(count));
  result.gradient.assign(usize(size), 0.0);
  std::vector<double> slopes(usize(count), 0.0);
  double level = 0, turn = 0, squares = 0;   // Σaκ, Σmu, Σ(aκ' + we)·e
  double levels = 0, turns = 0, moduli = 0;  // the same with moduli
  double error = 0;
  for (Index i = 0; i < count; ++i) {
    const double a = weights.beta[usize(i)];
    if (a == 0) continue;
    const double u = result.u[usize(i)], e = geometry.offset[usize(i)];
    const auto [least, most] = bounds.curvature[usize(i)];
    const double c = a > 0 ? least / (least > 0 ? geometry.norm.high : geometry.norm.low)
                           : most / (most > 0 ? geometry.norm.low : geometry.norm.high);
    const double w = result.w[usize(i)] = a * c - 0x1p-50 * std::abs(a * c);
    const double first = a * bounds.slope[usize(i)];
    const double m = first + 2 * w * e;
    const double whole = result.reach[usize(i)] + std::abs(e) + geometry.slack;
    level += a * bounds.value[usize(i)];
    levels += std::abs(a) * kernel.largest();
    turn += m * u;
    turns += std::abs(m) + std::abs(first);
    squares += (first + w * e) * e;
    moduli += (std::abs(first) + std::abs(w * e)) * std::abs(e);
    error += std::abs(a) * (kernel.value_error() * geometry.norm.high +
                            kernel.slope_error() * (1 + 1 / std::sqrt(1 - std::abs(u))) * whole) +
             (std::abs(first) + 2 * std::abs(w) * whole) * geometry.slack;
    slopes[usize(i)] = m;
  }
  directions.combine(slopes, result.gradient);
  result.rise = level - turn;
  for (Index j = 0; j < size; ++j) result.gradient[usize(j)] += result.rise * result.unit[usize(j)];
  result.constant = weights.bias + level * norm + squares;
  // Rounding of the sums above, of the weights and of ν.
  const double sums = gamma_of(count + 64);
  const double own = kernel.scale_error() + ranges.norm_error() + 8 * unit_roundoff;
  error += (sums + own) * levels * 2 * geometry.norm.high + sums * (moduli + turns * 4 * geometry.half_norm) +
           sums * (levels + turns) * (geometry.half_norm + result.nu) + (levels + turns) * geometry.nu_slack +
           4 * unit_roundoff * (std::abs(weights.bias) + std::abs(result.constant));
  result.error = 1.01 * error;
  result.bounded = std::isfinite(result.error) && std::isfinite(result.constant);
  return result;
}

}  // namespace widelimit
