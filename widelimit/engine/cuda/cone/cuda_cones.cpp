#include "widelimit/engine/cuda/cone/cuda_cones.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/host/cone/cone_extremes.hpp"

#include <algorithm>
#include <vector>

namespace widelimit::cuda {

namespace {

ConeChainView chain_view(const host::ConeChain& chain, const DeviceBuffer& layers) {
  return {layers.data<host::ConeLayer>(), static_cast<std::int32_t>(chain.layers.size()), chain.tangent, chain.trained};
}

ConeProfileView profile_view(const ConeProfile& profile, const DeviceBuffer& layers) {
  const auto ray = [](const SupportingRay& r) { return ConeRayView{r.low, r.high, r.slope}; };
  return {.chain = chain_view(profile.chain, layers),
          .largest = profile.largest,
          .opposite = profile.opposite,
          .lowest = profile.lowest,
          .fall_end = profile.fall_end,
          .growth_begin = profile.growth_begin,
          .lowest_value = profile.lowest_value,
          .above = ray(profile.ray_above),
          .below = ray(profile.ray_below)};
}

/// Includes the thresholds of ConeRule::interval, moved by more than the rounding errors of products and quotients.
ConeBallView ball_view(const ConeBall& ball, const SupportingRay& ray) {
  constexpr double surely_beyond = 1 + host::ratio_slack, least_norm = 1e-300;
  return {.point = ball.point,
          .radius = ball.radius,
          .error = ball.error,
          .inner = ball.inner,
          .outer = ball.outer,
          .box_error = ball.box_error,
          .inner_inverse = 1 / std::max(ball.inner, least_norm),
          .outer_inverse = 1 / std::max(ball.outer, least_norm),
          .grows = ray.low * ball.inner / surely_beyond,
          .falls = ray.high * ball.outer * surely_beyond};
}

/// Rows per block of `squares`: half a gibibyte.
Index rows_at_once(Index cols) { return std::max<Index>(256, (Index{1} << 26) / std::max<Index>(1, cols)); }

}  // namespace

/// Returns the data of a contiguous float64 matrix; throws Error{usage} for others.
const double* CudaCones::numbers(const EngineMatrix& a) const {
  if (a.empty()) return nullptr;
  const Array array = array_of(a, *device_);
  if (array.precision != Precision::f64 || (array.stride != array.cols && array.rows > 1)) {
    fail(Code::usage, "certificates require contiguous float64 matrices");
  }
  return static_cast<const double*>(array.data);
}

void CudaCones::bound_sums(const ConeProfile& profile, ConeRule rule, const ConeRanges& ranges,
                           std::span<const ConeBall> balls, const EngineMatrix& weights, std::span<const ConeSum> sums,
                           double* to) const {
  interruption_point();
  if (sums.empty()) return;
  std::vector<ConeBallView> views;
  for (const ConeBall& ball : balls) views.push_back(ball_view(ball, profile.ray_above));
  std::vector<ConeSumView> requests;
  for (const ConeSum& s : sums) requests.push_back({s.ball, s.weights});
  const DeviceBuffer layers = copied(profile.chain.layers), device_balls = copied(std::span<const ConeBallView>(views)),
                     device_requests = copied(std::span<const ConeSumView>(requests)),
                     results(device_, sums.size() * sizeof(double));
  device_->cones().bound_sums({.profile = profile_view(profile, layers),
                               .exact = rule == ConeRule::interval,
                               .support = weights.cols(),
                               .inner = numbers(ranges.inner),
                               .spread = numbers(ranges.spread),
                               .middle = numbers(ranges.middle),
                               .reach = numbers(ranges.reach),
                               .weights = numbers(weights),
                               .balls = device_balls.data<ConeBallView>(),
                               .requests = device_requests.data<ConeSumView>(),
                               .sums = std::ssize(sums),
                               .to = results.data<double>()});
  device_->download_bytes(results.data(), sums.size() * sizeof(double), to);
}

double CudaCones::additions(Index support) const {
  const Index each = (support + cone_parts - 1) / cone_parts;
  return static_cast<double>(each + cone_tree_depth);
}

void CudaCones::entries(const host::ConeChain& chain, const ConePairs& pairs, EngineMatrix& to) const {
  interruption_point();
  if (to.rows() == 0 || to.cols() == 0) return;
  const DeviceBuffer layers = copied(chain.layers), norms = copied(pairs.norms), lengths = copied(pairs.lengths),
                     exponents = copied(pairs.exponents);
  device_->cones().entries({.chain = chain_view(chain, layers),
                            .rows = to.rows(),
                            .support = to.cols(),
                            .features = pairs.directions.cols(),
                            .points = numbers(pairs.points),
                            .directions = numbers(pairs.directions),
                            .inner = numbers(pairs.inner),
                            .norms = norms.data<double>(),
                            .lengths = lengths.data<double>(),
                            .exponents = exponents.data<std::int32_t>(),
                            .scale = pairs.scale,
                            .to = const_cast<double*>(numbers(to))});
}

void CudaCones::slopes(const host::ConeChain& chain, double most, const EngineMatrix& weights,
                       std::span<const Index> which, std::span<const double> norms, EngineMatrix& inner, double* values,
                       double* along) const {
  interruption_point();
  const Index rows = std::ssize(which);
  if (rows == 0) return;
  const DeviceBuffer layers = copied(chain.layers), device_which = copied(which), device_norms = copied(norms),
                     sums(device_, 2 * usize(rows) * sizeof(double));
  auto* const first = sums.data<double>();
  device_->cones().slopes({.chain = chain_view(chain, layers),
                           .most = most,
                           .support = weights.cols(),
                           .rows = rows,
                           .weights = numbers(weights),
                           .which = device_which.data<Index>(),
                           .norms = device_norms.data<double>(),
                           .inner = const_cast<double*>(numbers(inner)),
                           .values = first,
                           .along = first + rows});
  device_->download_bytes(first, usize(rows) * sizeof(double), values);
  device_->download_bytes(first + rows, usize(rows) * sizeof(double), along);
}

void CudaCones::residuals(const EngineMatrix& directions, const host::ResidualFrame& frame, bool euclidean,
                          double* inner, double* reach) const {
  interruption_point();
  const std::size_t features = usize(frame.size), count = usize(directions.rows());
  if (count == 0) return;
  const DeviceBuffer centre = copied(std::span(frame.centre, features)), unit = copied(std::span(frame.unit, features)),
                     half = copied(std::span(frame.half, features)), norm = copied(std::span(&frame.norm, 1)),
                     results(device_, 2 * count * sizeof(double));
  auto* const first = results.data<double>();
  device_->cones().residuals({.directions = numbers(directions),
                              .support = directions.rows(),
                              .features = frame.size,
                              .balls = 1,
                              .centre = centre.data<double>(),
                              .unit = unit.data<double>(),
                              .half = half.data<double>(),
                              .norms = norm.data<double>(),
                              .samples = nullptr,
                              .euclidean = euclidean,
                              .inner = first,
                              .reach = first + count});
  device_->download_bytes(first, count * sizeof(double), inner);
  device_->download_bytes(first + count, count * sizeof(double), reach);
}

void CudaCones::squares(const EngineMatrix& directions, const host::ResidualFrame& frame, std::span<const double> t,
                        std::span<const double> w, double last, MatrixView<double> b) const {
  const std::lock_guard lock(forming_);
  const Index count = directions.rows(), features = frame.size, dimension = features + 1;
  const Index most = std::min(std::max<Index>(count, 1), rows_at_once(dimension));
  const DeviceBuffer unit = copied(std::span(frame.unit, usize(features))),
                     half = copied(std::span(frame.half, usize(features))), places = copied(t);
  const EngineMatrix rows = allocate(device_, most, dimension, Precision::f64),
                     weighed = allocate(device_, most, dimension, Precision::f64),
                     sum = allocate(device_, dimension, dimension, Precision::f64);
  const Array all = array_of(rows, *device_), scaled = array_of(weighed, *device_), total = array_of(sum, *device_);
  device_->clear(total);
  for (Index begin = 0; begin < count; begin += most) {
    interruption_point();
    const Index size = std::min(most, count - begin);
    const Array part = block(all, 0, 0, size, dimension), other = block(scaled, 0, 0, size, dimension);
    device_->cones().residual_rows({.directions = numbers(directions) + begin * features,
                                    .support = size,
                                    .features = features,
                                    .unit = unit.data<double>(),
                                    .half = half.data<double>(),
                                    .t = places.data<double>() + begin,
                                    .last = last,
                                    .rows = static_cast<double*>(part.data)});
    device_->scale_rows(part, w.subspan(usize(begin), usize(size)), other);
    device_->product(1, Transpose::yes, part, Transpose::no, other, begin > 0 ? 1 : 0, total);
  }
  download(*device_, total, b);
}

}  // namespace widelimit::cuda
