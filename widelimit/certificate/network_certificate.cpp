#include "widelimit/certificate/network_certificate.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/certificate/bracket.hpp"
#include "widelimit/certificate/difference_margins.hpp"
#include "widelimit/certificate/network_attack.hpp"
#include "widelimit/certificate/network_margins.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

namespace widelimit {

namespace {

/// The first radius of a search, in multiples of a point's largest entry.
constexpr double first_radius = 1e-3;

void check_request(const TrainedNetwork& trained, const SampleView& samples, std::span<const Index> labels,
                   const CertifyOptions& options) {
  options.validate();
  if (trained.linearised) {
    fail(Code::usage,
         "a linearised network is not what intervals bound, but a kernel machine of its tangent kernel; train the "
         "network "
         "itself");
  }
  if (samples.shape != trained.shape && samples.shape.size() != trained.shape.size()) {
    fail(Code::input, "samples of shape {}; the network was trained on {}", to_string(samples.shape),
         to_string(trained.shape));
  }
  if (std::ssize(labels) != samples.count()) {
    fail(Code::input, "{} samples have {} labels; give one for each", samples.count(), labels.size());
  }
  const Index classes = std::max<Index>(2, trained.architecture.output.size());
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail(Code::input, "label {} of sample {}: the network knows 0 to {}", labels[i], i, classes - 1);
    }
  }
}

void check_network_box(const Tensor<double>& points, Index first, const std::optional<Box>& box) {
  if (!box) return;
  for (Index i = 0; i < points.size(); ++i) {
    if (points[i] < box->low || points[i] > box->high) {
      fail(Code::input, "value {:g} of sample {} lies outside the box [{:g}, {:g}]; scale the samples or widen the box",
           points[i], first + i / points.shape().size(), box->low, box->high);
    }
  }
}

/// The function that predicts: f, or f − f₀.
class PredictedMargins {
 public:
  PredictedMargins(const TrainedNetwork& trained, const CertifyOptions& options, int threads) {
    if (trained.centred) {
      difference_.emplace(trained.architecture, trained.parameters, trained.start, options.norm, options.box, threads);
    } else {
      network_.emplace(trained.architecture, trained.parameters, options.norm, options.box, threads);
    }
  }

  [[nodiscard]] Index points_at_once() const {
    return network_ ? network_->points_at_once() : difference_->points_at_once();
  }
  void look_at(const Tensor<double>& points, std::span<const Index> labels) {
    if (network_) {
      network_->look_at(points, labels);
    } else {
      difference_->look_at(points, labels);
    }
  }
  [[nodiscard]] MarginBounds evaluate(std::span<const PointBall> balls) const {
    return network_ ? network_->evaluate(balls) : difference_->evaluate(balls);
  }
  /// Least lower bound of the margins of each ball.
  [[nodiscard]] std::vector<double> lower(std::span<const PointBall> balls) const {
    const MarginBounds margins = evaluate(balls);
    std::vector<double> least(balls.size(), std::numeric_limits<double>::infinity());
    for (std::size_t i = 0; i < margins.centre.size(); ++i) {
      const double bound = rounded_down(margins.centre[i] - margins.radius[i]);
      double& value = least[i / at(margins.each)];
      value = std::isnan(bound) ? -std::numeric_limits<double>::infinity() : std::min(value, bound);
    }
    return least;
  }

 private:
  std::optional<NetworkMargins> network_;
  std::optional<DifferenceMargins> difference_;
};

double largest_value(const Tensor<double>& points, Index i) {
  double largest = 0;
  for (Index k = 0; k < points.shape().size(); ++k) largest = std::max(largest, std::abs(points.sample(i)[k]));
  return largest > 0 ? largest : 1.0;
}

/// Radii of points that lie in one set, into result from `first` on.
class SetOfPoints {
 public:
  SetOfPoints(const PredictedMargins& margins, const Tensor<double>& points, Index first, const CertifyOptions& options,
              Certificates& result)
      : margins_(margins), points_(points), first_(first), options_(options), result_(result) {}

  void certify() {
    std::vector<PointBall> balls;
    for (Index i = 0; i < points_.count(); ++i) balls.push_back({i, 0.0});
    note_margins(margins_.evaluate(balls));
    const std::vector<double> at_rest = margins_.lower(balls);
    std::vector<Index> certain;
    for (Index i = 0; i < points_.count(); ++i) {
      if (at_rest[at(i)] > 0) certain.push_back(i);
    }
    if (options_.radius) {
      test(certain);
    } else {
      search(certain, at_rest);
    }
  }

 private:
  void note_margins(const MarginBounds& margins) {
    for (Index i = 0; i < points_.count(); ++i) {
      const auto begin = margins.centre.begin() + i * margins.each;
      const double least = *std::min_element(begin, begin + margins.each);
      if (!std::isfinite(least)) {
        fail(Code::numerical, "the output at sample {} overflows; scale the samples down", first_ + i);
      }
      result_.margin[at(first_ + i)] = least;
      result_.correct[at(first_ + i)] = least > 0;
    }
  }

  /// Whether the one radius asked for holds.
  void test(const std::vector<Index>& points) {
    std::vector<PointBall> balls;
    for (const Index i : points) balls.push_back({i, *options_.radius});
    const std::vector<double> bounds = margins_.lower(balls);
    for (std::size_t k = 0; k < balls.size(); ++k) {
      if (bounds[k] > 0) result_.radius[at(first_ + balls[k].point)] = *options_.radius;
    }
  }

  /// All searches in lock-step: one pass through the network for those that go on.
  void search(const std::vector<Index>& points, const std::vector<double>& at_rest) {
    std::vector<Bracket> brackets;
    for (const Index i : points) {
      const double unit = largest_value(points_, i);
      brackets.emplace_back(at_rest[at(i)], first_radius * unit, options_.largest * unit, options_.tolerance);
    }
    for (;;) {
      std::vector<PointBall> balls;
      std::vector<std::size_t> asking;
      for (std::size_t k = 0; k < brackets.size(); ++k) {
        if (brackets[k].done()) continue;
        balls.push_back({points[k], brackets[k].next()});
        asking.push_back(k);
      }
      if (balls.empty()) break;
      const std::vector<double> bounds = margins_.lower(balls);
      for (std::size_t q = 0; q < asking.size(); ++q) brackets[asking[q]].hear(bounds[q]);
    }
    for (std::size_t k = 0; k < points.size(); ++k) result_.radius[at(first_ + points[k])] = brackets[k].certified();
  }

  const PredictedMargins& margins_;
  const Tensor<double>& points_;
  Index first_;
  const CertifyOptions& options_;
  Certificates& result_;
};

std::string remark_on(const TrainedNetwork& trained, const CertifyOptions& options) {
  std::vector<std::string_view> remarks;
  if (options.method != CertificateMethod::interval) {
    remarks.emplace_back("networks are certified by interval bound propagation");
  }
  if (trained.centred) remarks.emplace_back("f − f₀ is certified");
  if (options.box && options.norm == Norm::l2) {
    remarks.emplace_back("the whole ball is bounded, not only its part in the box");
  }
  return fmt::format("{}", fmt::join(remarks, "; "));
}

/// Points attacked at a time: memory does not grow with their number.
constexpr Index attacked_at_once = 256;

void attack_points(const TrainedNetwork& trained, const SampleView& samples, std::span<const Index> labels,
                   const CertifyOptions& options, Certificates& result) {
  const auto begin = Clock::now();
  const Shape& shape = trained.architecture.input;
  result.attack.resize(labels.size());
  if (options.keep_attacked) result.attacked = Matrix<double>(samples.count(), shape.size());
  Pulse pulse(options.progress, samples.count(), "points attacked");
  for (Index first = 0; first < samples.count(); first += attacked_at_once) {
    const Index size = std::min(attacked_at_once, samples.count() - first);
    const Tensor<double> points = read_samples<double>(samples.part(first, size), shape);
    const NetworkAttack attack =
        attack_network(trained, points, labels.subspan(at(first), at(size)),
                       std::span<const double>(result.margin).subspan(at(first), at(size)), options);
    std::copy(attack.distance.begin(), attack.distance.end(), result.attack.begin() + first);
    if (options.keep_attacked) std::copy_n(attack.attacked.data(), points.size(), result.attacked.view().row(first));
    pulse.at(first + size);
  }
  result.attack_seconds = seconds_since(begin);
}

}  // namespace

Certificates certify_network(const TrainedNetwork& trained, const SampleView& samples, std::span<const Index> labels,
                             const CertifyOptions& options) {
  check_request(trained, samples, labels, options);
  const auto begin = Clock::now();
  const Index count = samples.count();
  Certificates result;
  result.correct.resize(at(count));
  result.margin.resize(at(count));
  result.radius.resize(at(count));
  result.method.assign(at(count), CertificateMethod::interval);
  result.remark = remark_on(trained, options);
  PredictedMargins margins(trained, options, team_size(options.threads));
  Pulse pulse(options.progress, count, "points");
  const Index together = margins.points_at_once();
  for (Index first = 0; first < count; first += together) {
    const Index size = std::min(together, count - first);
    const Tensor<double> points = read_samples<double>(samples.part(first, size), trained.architecture.input);
    check_network_box(points, first, options.box);
    margins.look_at(points, labels.subspan(at(first), at(size)));
    SetOfPoints(margins, points, first, options, result).certify();
    pulse.at(first + size);
  }
  result.seconds = seconds_since(begin);
  if (options.attack) attack_points(trained, samples, labels, options, result);
  return result;
}

}  // namespace widelimit
