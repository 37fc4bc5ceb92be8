#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/cuda/cone/cuda_cones.hpp"

#include <vector>

namespace widelimit::cuda {

/// Balls and samples in device memory, with the residuals of all pairs.
class CudaCones::PlacedBalls {
 public:
  PlacedBalls(const CudaCones& cones, const ChainBalls& balls)
      : steps_(cones.copied(std::span(balls.chain.steps, usize(balls.chain.depth)))),
        ranges_(cones.copied(balls.balls)),
        samples_(cones.copied(balls.samples)),
        residuals_(cones.device_, 2 * balls.balls.size() * balls.samples.size() * sizeof(double)) {
    const DeviceBuffer centre = rows_of(cones, balls.centre), unit = rows_of(cones, balls.unit),
                       half = rows_of(cones, balls.half);
    std::vector<double> lengths;
    for (const LiftedRange& ball : balls.balls) lengths.push_back(ball.centre_norm);
    const DeviceBuffer norms = cones.copied(std::span<const double>(lengths));
    auto* const inner = residuals_.data<double>();
    pairs_ = {.chain = balls.chain,
              .balls = std::ssize(balls.balls),
              .support = std::ssize(balls.samples),
              .ranges = ranges_.data<LiftedRange>(),
              .samples = samples_.data<LiftedSample>(),
              .inner = inner,
              .reach = inner + balls.balls.size() * balls.samples.size()};
    pairs_.chain.steps = steps_.data<ChainStep>();
    cones.device_->cones().residuals({.directions = cones.numbers(balls.directions),
                                      .support = pairs_.support,
                                      .features = balls.directions.cols(),
                                      .balls = pairs_.balls,
                                      .centre = centre.data<double>(),
                                      .unit = unit.data<double>(),
                                      .half = half.data<double>(),
                                      .norms = norms.data<double>(),
                                      .samples = pairs_.samples,
                                      .euclidean = balls.euclidean,
                                      .inner = inner,
                                      .reach = inner + pairs_.balls * pairs_.support});
  }

  [[nodiscard]] const ChainPairs& pairs() const { return pairs_; }
  [[nodiscard]] std::size_t count() const { return usize(pairs_.balls * pairs_.support); }

 private:
  /// Uploads contiguous rows.
  static DeviceBuffer rows_of(const CudaCones& cones, MatrixView<const double> rows) {
    return cones.copied(std::span(rows.data, usize(rows.rows * rows.cols)));
  }

  DeviceBuffer steps_, ranges_, samples_, residuals_;
  ChainPairs pairs_;
};

void CudaCones::enclose_sums(const ChainBalls& balls, const EngineMatrix& weights, std::span<const ConeSum> sums,
                             Interval* to) const {
  interruption_point();
  if (sums.empty()) return;
  if (balls.samples.empty()) return static_cast<void>(std::fill_n(to, sums.size(), Interval::of(0)));
  std::vector<ConeSumView> requests;
  for (const ConeSum& s : sums) requests.push_back({s.ball, s.weights});
  const PlacedBalls placed(*this, balls);
  const DeviceBuffer device_requests = copied(std::span<const ConeSumView>(requests)),
                     entries(device_, 2 * placed.count() * sizeof(double)),
                     results(device_, sums.size() * sizeof(Interval));
  auto *const low = entries.data<double>(), *const high = low + placed.count();
  device_->cones().chain_entries({.pairs = placed.pairs(), .low = low, .high = high});
  device_->cones().chain_sums({.support = placed.pairs().support,
                               .low = low,
                               .high = high,
                               .weights = numbers(weights),
                               .requests = device_requests.data<ConeSumView>(),
                               .sums = std::ssize(sums),
                               .to = results.data<Interval>()});
  device_->download_bytes(results.data(), sums.size() * sizeof(Interval), to);
}

void CudaCones::enclose_changes(const ChainBalls& balls, bool biased, EntryChange* to) const {
  interruption_point();
  if (balls.samples.empty() || balls.balls.empty()) return;
  const PlacedBalls placed(*this, balls);
  const std::size_t bytes = placed.count() * sizeof(EntryChange);
  const DeviceBuffer results(device_, bytes);
  device_->cones().chain_changes({.pairs = placed.pairs(), .biased = biased, .to = results.data<EntryChange>()});
  device_->download_bytes(results.data(), bytes, to);
}

void CudaCones::chain_slopes(const ChainView& chain, const EngineMatrix& weights, std::span<const Index> which,
                             std::span<const double> norms, std::span<const double> lengths, EngineMatrix& inner,
                             double* values, double* along) const {
  interruption_point();
  const Index rows = std::ssize(which);
  if (rows == 0) return;
  const DeviceBuffer steps = copied(std::span(chain.steps, usize(chain.depth))), device_which = copied(which),
                     device_norms = copied(norms), device_lengths = copied(lengths),
                     sums(device_, 2 * usize(rows) * sizeof(double));
  ChainView view = chain;
  view.steps = steps.data<ChainStep>();
  auto* const first = sums.data<double>();
  device_->cones().chain_slopes({.chain = view,
                                 .rows = rows,
                                 .support = weights.cols(),
                                 .weights = numbers(weights),
                                 .which = device_which.data<Index>(),
                                 .norms = device_norms.data<double>(),
                                 .lengths = device_lengths.data<double>(),
                                 .inner = const_cast<double*>(numbers(inner)),
                                 .values = first,
                                 .along = first + rows});
  device_->download_bytes(first, usize(rows) * sizeof(double), values);
  device_->download_bytes(first + rows, usize(rows) * sizeof(double), along);
}

}  // namespace widelimit::cuda
