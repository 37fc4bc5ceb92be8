#include "widelimit/certificate/network/network_certificate.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/certificate/attack/attack.hpp"
#include "widelimit/certificate/input_units.hpp"
#include "widelimit/certificate/network/network_margins.hpp"
#include "widelimit/certificate/point_block.hpp"
#include "widelimit/certificate/search/radius_search.hpp"
#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/training/trained_network.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>
#include <variant>

namespace widelimit {

namespace {

/// Returns a value that is negative if and only if the predicted class differs: a margin of zero counts as changed if
/// prediction takes the other class; outputs that overflow have no class and count as unchanged.
double prediction_margin(double margin, bool kept_at_zero) {
  if (!std::isfinite(margin)) return std::numeric_limits<double>::infinity();
  return margin == 0 && !kept_at_zero ? -std::numeric_limits<double>::denorm_min() : margin;
}

/// Margins of the function used for prediction, and their gradients with respect to x.
template <std::floating_point T>
class MarginSlope {
 public:
  MarginSlope(const TrainedNetwork& trained, std::span<const Index> labels, const Engine& engine)
      : trained_(trained), labels_(labels), engine_(engine) {}

  /// Computes the smallest margin at every x of points `rows`, and its gradient: an AttackGoal.
  void evaluate(MatrixView<const double> x, std::span<const Index> rows, double* values, MatrixView<double> slopes) {
    const Architecture& architecture = trained_.architecture;
    const Index outputs = architecture.output.size();
    input_.resize(x.rows, architecture.input);
    for (Index i = 0; i < x.rows; ++i) {
      std::transform(x.row(i), x.row(i) + x.cols, input_.sample(i), [](double v) { return static_cast<T>(v); });
    }
    f_.assign(usize(x.rows * outputs), 0.0);
    pass(std::get<Parameters<T>>(trained_.parameters), 1.0);
    if (trained_.centred) pass(std::get<Parameters<T>>(trained_.start), -1.0);
    signal_.resize(x.rows, architecture.output);
    signal_.clear();
    for (Index i = 0; i < x.rows; ++i) values[i] = choose(i, labels_[usize(rows[usize(i)])], outputs);
    for (Index i = 0; i < x.rows; ++i) std::fill_n(slopes.row(i), x.cols, 0.0);
    back(std::get<Parameters<T>>(trained_.parameters), trace_, 1.0, slopes);
    if (trained_.centred) back(std::get<Parameters<T>>(trained_.start), start_trace_, -1.0, slopes);
  }

 private:
  void pass(const Parameters<T>& w, double sign) {
    Trace<T>& trace = sign > 0 ? trace_ : start_trace_;
    trace.input().assign(input_);
    forward(trained_.architecture, w, {}, engine_, trace);
    const Tensor<T>& f = trace.output();
    for (Index i = 0; i < f.size(); ++i) f_[usize(i)] += sign * static_cast<double>(f[i]);
  }

  /// Returns the smallest margin of one sample and sets its signal ∂margin/∂f.
  double choose(Index i, Index label, Index outputs) {
    const double* f = f_.data() + i * outputs;
    T* signal = signal_.sample(i);
    if (outputs == 1) {
      signal[0] = label == 1 ? T{1} : T{-1};
      return prediction_margin(label == 1 ? f[0] : -f[0], label == 0);
    }
    Index nearest = label == 0 ? 1 : 0;
    for (Index k = 0; k < outputs; ++k) {
      if (k != label && f[k] > f[nearest]) nearest = k;
    }
    signal[label] = T{1};
    signal[nearest] = T{-1};
    return prediction_margin(f[label] - f[nearest], label < nearest);
  }

  void back(const Parameters<T>& w, const Trace<T>& trace, double sign, MatrixView<double> slopes) {
    gradient_.output_signal(trained_.architecture).assign(signal_);
    backward(trained_.architecture, w, trace, {}, engine_, gradient_);
    const Tensor<T>& input = gradient_.input();
    for (Index i = 0; i < slopes.rows; ++i) {
      for (Index j = 0; j < slopes.cols; ++j) slopes(i, j) += sign * static_cast<double>(input.sample(i)[j]);
    }
  }

  const TrainedNetwork& trained_;
  std::span<const Index> labels_;
  const Engine& engine_;
  Tensor<T> input_;
  Tensor<T> signal_;
  std::vector<double> f_;
  Trace<T> trace_;
  Trace<T> start_trace_;
  Gradient<T> gradient_;
};

template <std::floating_point T>
Attacked attack_margins(const TrainedNetwork& trained, const AttackedRows& attacked, std::span<const Index> labels,
                        std::vector<Index> rows, const CertifyOptions& options, const Engine& engine,
                        Progress* progress) {
  MarginSlope<T> margins(trained, labels, engine);
  const AttackGoal goal = [&](MatrixView<const double> x, std::span<const Index> which, double* values,
                              MatrixView<double> slopes) { margins.evaluate(x, which, values, slopes); };
  const ClassChange changed = [&](MatrixView<const double> x, std::span<const Index> which) {
    std::vector<double> values(which.size());
    Matrix<double> slopes(x.rows, x.cols, Content::unset);
    margins.evaluate(x, which, values.data(), slopes.view());
    std::vector<bool> is_changed;
    for (const double value : values) is_changed.push_back(value < 0);
    return is_changed;
  };
  NearestSamples found(attacked.points.rows, attacked.points.cols);
  AttackDescent(attacked, goal, std::move(rows), *options.attack, found).run(progress);
  return confirmed(attacked, found, changed);
}

/// Attacks the smallest margin of the network used for prediction (f, or f − f₀ if centred), in its own precision: the
/// distances found are upper bounds of certified radii, up to the rounding of the network's evaluation. Processes all
/// points in lockstep. `margin` has the margins at the points; points with a margin that is not positive get distance
/// 0. Reports every step to `progress` instead of options.progress.
Attacked attack_network(const TrainedNetwork& trained, const Tensor<double>& points, std::span<const Index> labels,
                        std::span<const double> margin, const CertifyOptions& options, const Engine& engine,
                        Progress* progress) {
  const Index features = points.shape().size();
  AttackedRows attacked{{points.data(), points.count(), features, features}, {}, options.shape()};
  std::vector<Index> rows;
  for (Index i = 0; i < points.count(); ++i) {
    attacked.point.push_back(i);
    if (margin[usize(i)] > 0) rows.push_back(i);
  }
  Attacked found = trained.precision() == Precision::f32
                       ? attack_margins<float>(trained, attacked, labels, std::move(rows), options, engine, progress)
                       : attack_margins<double>(trained, attacked, labels, std::move(rows), options, engine, progress);
  for (Index i = 0; i < points.count(); ++i) {
    if (!(margin[usize(i)] > 0)) found.distance[usize(i)] = 0;
  }
  return found;
}

MatrixView<const double> rows_of(const Tensor<double>& points) {
  return {points.data(), points.count(), points.shape().size(), points.shape().size()};
}

void check_request(const TrainedNetwork& trained, const SampleView& samples, std::span<const Index> labels,
                   const CertifyOptions& options) {
  options.validate();
  if (trained.linearised) {
    fail(Code::usage,
         "a linearised network has no interval certificate, since it is a kernel machine of its tangent kernel; train "
         "the network itself");
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
      fail(Code::input, "label {} of sample {}: the network has classes 0 to {}", labels[i], i, classes - 1);
    }
  }
}

using AnyMargins = std::variant<NetworkMargins, DifferenceMargins>;

/// Returns the margins of the function used for prediction: f, or f − f₀.
AnyMargins margins_of(const TrainedNetwork& trained, const CertifyOptions& options, const Engine& engine) {
  if (trained.centred) {
    return AnyMargins(std::in_place_type<DifferenceMargins>, trained.architecture, trained.parameters, trained.start,
                      options.shape(), engine);
  }
  return AnyMargins(std::in_place_type<NetworkMargins>, trained.architecture, trained.parameters, options.shape(),
                    engine);
}

MarginBounds margins_on(const AnyMargins& margins, std::span<const Ball> balls) {
  return std::visit([&](const auto& any) { return any.evaluate(balls); }, margins);
}

/// Returns the smallest lower bound of the margins of each ball.
std::vector<double> least_margins(const MarginBounds& margins) {
  std::vector<double> least(margins.centre.size() / usize(margins.each), std::numeric_limits<double>::infinity());
  for (std::size_t i = 0; i < margins.centre.size(); ++i) {
    const double bound = below(margins.centre[i] - margins.radius[i]);
    double& value = least[i / usize(margins.each)];
    value = std::isnan(bound) ? -std::numeric_limits<double>::infinity() : std::min(value, bound);
  }
  return least;
}

/// All margins of a point form one functional: one pass through the network bounds them together.
class NetworkBound final : public LowerBound {
 public:
  NetworkBound(const AnyMargins& margins, std::span<const Functional> functionals)
      : margins_(margins), functionals_(functionals) {}

  [[nodiscard]] std::vector<double> evaluate(std::span<const BallQuery> queries) const override {
    std::vector<Ball> balls;
    for (const BallQuery& query : queries) {
      balls.push_back({.point = functionals_[usize(query.functional)].point, .radius = query.radius});
    }
    return least_margins(margins_on(margins_, balls));
  }

 private:
  const AnyMargins& margins_;
  std::span<const Functional> functionals_;
};

/// Stores the margins at the points themselves.
void note_margins(const MarginBounds& margins, Index first, Certificates& result) {
  for (Index i = 0; i < std::ssize(margins.centre) / margins.each; ++i) {
    const auto begin = margins.centre.begin() + i * margins.each;
    const double least = *std::min_element(begin, begin + margins.each);
    if (!std::isfinite(least)) {
      fail(Code::numerical, "the output at sample {} overflows; scale the samples down", first + i);
    }
    result.margin[usize(first + i)] = least;
    result.correct[usize(first + i)] = least > 0;
  }
}

/// Computes the radii of the points set in `margins` and stores them in the result from block.first on.
void certify_points(const AnyMargins& margins, const Tensor<double>& points, const PointBlock& block,
                    const CertifyOptions& options, const Engine& engine, Certificates& result) {
  std::vector<Ball> balls;
  for (Index i = 0; i < points.count(); ++i) balls.push_back({.point = i, .radius = 0});
  const MarginBounds at_points = margins_on(margins, balls);
  note_margins(at_points, block.first, result);
  std::vector<Functional> functionals;
  std::vector<double> values;
  const std::vector<double> least = least_margins(at_points);
  for (Index i = 0; i < points.count(); ++i) {
    if (!(least[usize(i)] > 0)) continue;
    functionals.push_back({.point = i});
    values.push_back(least[usize(i)]);
  }
  const NetworkBound bound(margins, functionals);
  if (options.radius) {
    const std::vector<char> all(balls.size(), 1);
    const std::vector<bool> holds = holds_at(bound, functionals, all, *options.radius);
    for (std::size_t i = 0; i < holds.size(); ++i)
      result.radius[usize(block.first) + i] = holds[i] ? *options.radius : 0;
    return;
  }
  constexpr double first_radius = 1e-3;
  BlockProgress progress(options.progress, block);
  const RadiusGrid grid(options.tolerance);
  const std::vector<Index> places =
      search_radii(bound, {functionals, values}, grid, search_ranges(grid, rows_of(points), options, first_radius),
                   engine, progress.get());
  std::transform(places.begin(), places.end(), result.radius.begin() + block.first,
                 [&](Index place) { return grid.radius(place); });
}

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

/// Number of points attacked per batch, which bounds the memory.
constexpr Index attacked_at_once = 256;

void attack_points(const TrainedNetwork& trained, const SampleView& samples, std::span<const Index> labels,
                   const CertifyOptions& options, const Engine& engine, Certificates& result) {
  const auto begin = Clock::now();
  const Shape& shape = trained.architecture.input;
  result.attack.resize(labels.size());
  if (options.keep_attacked) result.attacked = Matrix<double>(samples.count(), shape.size());
  SharedProgress shared(options.progress, samples.count(), "points attacked");
  for (Index first = 0; first < samples.count(); first += attacked_at_once) {
    const Index size = std::min(attacked_at_once, samples.count() - first);
    const Tensor<double> points = read_samples<double>(samples.part(first, size), shape);
    const Attacked attack = attack_network(trained, points, labels.subspan(usize(first), usize(size)),
                                           std::span<const double>(result.margin).subspan(usize(first), usize(size)),
                                           options, engine, shared.get());
    std::copy(attack.distance.begin(), attack.distance.end(), result.attack.begin() + first);
    if (options.keep_attacked) std::copy_n(attack.samples.data(), points.size(), result.attacked.view().row(first));
    shared.at(first + size);
  }
  result.attack_seconds = seconds_since(begin);
}

}  // namespace

Certificates certify_network(const TrainedNetwork& trained, const SampleView& given, std::span<const Index> labels,
                             const CertifyOptions& requested, const Engine& engine, const Scaler* scaling) {
  const Interruptible interruptible(requested.progress);
  require_layers(engine, "certificates of networks of finite width");
  check_request(trained, given, labels, requested);
  const auto begin = Clock::now();
  Dataset data = copy_samples(given, "the samples");
  if (scaling != nullptr) scaling->apply(data);
  const SampleView samples = data.view();
  const Tensor<double> all = read_samples<double>(samples, trained.architecture.input);
  const InputUnits units(scaling, requested, all.shape().size(),
                         std::holds_alternative<Matrix<float>>(data.values) ? Precision::f32 : Precision::f64);
  const CertifyOptions options = units.scaled(rows_of(all));
  const Index count = samples.count();
  Certificates result;
  result.correct.resize(usize(count));
  result.margin.resize(usize(count));
  result.radius.resize(usize(count));
  result.method.assign(usize(count), CertificateMethod::interval);
  result.remark = remark_on(trained, options);
  AnyMargins margins = margins_of(trained, options, engine);
  ProgressTicker ticker(options.progress, count, "points");
  const Index together = std::visit([](const auto& any) { return any.points_at_once(); }, margins);
  for (Index first = 0; first < count; first += together) {
    const Index size = std::min(together, count - first);
    const Tensor<double> points = read_samples<double>(samples.part(first, size), trained.architecture.input);
    std::visit([&](auto& any) { any.set_points(points, labels.subspan(usize(first), usize(size))); }, margins);
    certify_points(margins, points, {.first = first, .total = count}, options, engine, result);
    ticker.at(first + size);
  }
  result.seconds = seconds_since(begin);
  if (options.attack) attack_points(trained, samples, labels, options, engine, result);
  units.restore(rows_of(all), result);
  return result;
}

}  // namespace widelimit
