#include "widelimit/certificate/network_attack.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/finite/backward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr double infinite_distance = std::numeric_limits<double>::infinity();
/// Balls of the first descent, and of each from a random start.
constexpr Index first_balls = 12;
constexpr Index later_balls = 2;

/// Margins of the function that predicts, and their gradients in x.
template <std::floating_point T>
class MarginSlope {
 public:
  MarginSlope(const TrainedNetwork& trained, int threads) : trained_(trained), pass_{.threads = threads} {}

  /// The least margin at every x, and its gradient into `slope`.
  std::vector<double> look(const Tensor<double>& x, std::span<const Index> labels, Tensor<double>& slope) {
    const Architecture& architecture = trained_.architecture;
    const Index outputs = architecture.output.size();
    input_.resize(x.count(), architecture.input);
    std::transform(x.values().begin(), x.values().end(), input_.values().begin(),
                   [](double v) { return static_cast<T>(v); });
    f_.assign(at(x.count() * outputs), 0.0);
    pass(std::get<Parameters<T>>(trained_.parameters), 1.0);
    if (trained_.centred) pass(std::get<Parameters<T>>(trained_.start), -1.0);
    std::vector<double> margins(at(x.count()));
    signal_.resize(x.count(), architecture.output);
    signal_.clear();
    for (Index i = 0; i < x.count(); ++i) margins[at(i)] = choose(i, labels[at(i)], outputs);
    slope.resize(x.count(), architecture.input);
    slope.clear();
    back(std::get<Parameters<T>>(trained_.parameters), trace_, 1.0, slope);
    if (trained_.centred) back(std::get<Parameters<T>>(trained_.start), start_trace_, -1.0, slope);
    return margins;
  }

 private:
  void pass(const Parameters<T>& w, double sign) {
    Trace<T>& trace = sign > 0 ? trace_ : start_trace_;
    trace.input().assign(input_);
    forward(trained_.architecture, w, pass_, trace);
    const Tensor<T>& f = trace.output();
    for (Index i = 0; i < f.size(); ++i) f_[at(i)] += sign * static_cast<double>(f[i]);
  }

  /// The least margin of one sample; its signal ∂margin/∂f is set.
  double choose(Index i, Index label, Index outputs) {
    const double* f = f_.data() + i * outputs;
    T* signal = signal_.sample(i);
    if (outputs == 1) {
      signal[0] = label == 1 ? T{1} : T{-1};
      return label == 1 ? f[0] : -f[0];
    }
    Index nearest = label == 0 ? 1 : 0;
    for (Index k = 0; k < outputs; ++k) {
      if (k != label && f[k] > f[nearest]) nearest = k;
    }
    signal[label] = T{1};
    signal[nearest] = T{-1};
    return f[label] - f[nearest];
  }

  void back(const Parameters<T>& w, const Trace<T>& trace, double sign, Tensor<double>& slope) {
    gradient_.output_signal(trained_.architecture).assign(signal_);
    backward(trained_.architecture, w, trace, pass_, gradient_);
    const Tensor<T>& input = gradient_.input();
    for (Index i = 0; i < slope.size(); ++i) slope[i] += sign * static_cast<double>(input[i]);
  }

  const TrainedNetwork& trained_;
  PassOptions pass_;
  Tensor<T> input_;
  Tensor<T> signal_;
  std::vector<double> f_;
  Trace<T> trace_;
  Trace<T> start_trace_;
  Gradient<T> gradient_;
};

/// ‖·‖ of a move, and of the slope in the dual norm.
double move_length(const double* v, Index size, Norm norm) {
  double sum = 0;
  for (Index k = 0; k < size; ++k) sum = norm == Norm::linf ? std::max(sum, std::abs(v[k])) : sum + v[k] * v[k];
  return norm == Norm::linf ? sum : std::sqrt(sum);
}
double dual_length(const double* v, Index size, Norm norm) {
  if (norm == Norm::l2) return move_length(v, size, norm);
  double sum = 0;
  for (Index k = 0; k < size; ++k) sum += std::abs(v[k]);
  return sum;
}

template <std::floating_point T>
class NetworkDescent {
 public:
  NetworkDescent(const TrainedNetwork& trained, const Tensor<double>& points, std::span<const Index> labels,
                 std::span<const double> margin, const CertifyOptions& options)
      : points_(points),
        labels_(labels),
        margin_(margin),
        options_(options),
        slope_of_(trained, team_size(options.threads)),
        size_(points.shape().size()),
        ball_(at(points.count())),
        failed_(at(points.count())) {
    found_.distance.assign(at(points.count()), infinite_distance);
    found_.attacked.assign(points);
  }

  NetworkAttack run() {
    begin();
    for (Index round = 0; round < first_balls; ++round) {
      descend(0, round);
      for (Index i = 0; i < points_.count(); ++i) next_ball(i);
    }
    for (Index restart = 1; restart <= options_.attack->restarts; ++restart) {
      for (Index round = 0; round < later_balls; ++round) {
        for (Index i = 0; i < points_.count(); ++i) {
          if (std::isfinite(found_.distance[at(i)])) ball_[at(i)] = 0.95 * found_.distance[at(i)];
        }
        descend(restart, round);
      }
    }
    return std::move(found_);
  }

 private:
  /// The radius at which the tangent of the margin meets zero.
  void begin() {
    x_.assign(points_);
    slope_of_.look(x_, labels_, slope_);
    for (Index i = 0; i < points_.count(); ++i) {
      if (margin_[at(i)] <= 0) found_.distance[at(i)] = 0;
      const double steepest = dual_length(slope_.sample(i), size_, options_.norm);
      ball_[at(i)] = steepest > 0 ? std::max(margin_[at(i)], 0.0) / steepest : 1.0;
    }
  }

  void next_ball(Index i) {
    const double found = found_.distance[at(i)];
    if (!std::isfinite(found)) {
      failed_[at(i)] = ball_[at(i)];
      ball_[at(i)] *= 2;
    } else {
      if (ball_[at(i)] < found) failed_[at(i)] = std::max(failed_[at(i)], ball_[at(i)]);
      ball_[at(i)] = 0.5 * (failed_[at(i)] + found);
    }
  }

  double into_box(double value) const {
    return options_.box ? std::clamp(value, options_.box->low, options_.box->high) : value;
  }

  /// Back into the ball, then into the box, which holds the centre and so shortens no move the wrong way.
  void project(Index i) {
    const double* centre = points_.sample(i);
    double* x = x_.sample(i);
    const double radius = ball_[at(i)];
    for (Index k = 0; k < size_; ++k) x[k] -= centre[k];
    const double far = move_length(x, size_, options_.norm);
    for (Index k = 0; k < size_; ++k) {
      double move = x[k];
      if (far > radius) move = options_.norm == Norm::l2 ? move * (radius / far) : std::clamp(move, -radius, radius);
      x[k] = into_box(centre[k] + move);
    }
  }

  void note(Index i) {
    std::vector<double> move(at(size_));
    for (Index k = 0; k < size_; ++k) move[at(k)] = x_.sample(i)[k] - points_.sample(i)[k];
    const double far = move_length(move.data(), size_, options_.norm);
    if (far >= found_.distance[at(i)]) return;
    found_.distance[at(i)] = far;
    std::copy_n(x_.sample(i), size_, found_.attacked.sample(i));
  }

  /// One descent of every point in its ball, from the point or from a random place.
  void descend(Index restart, Index round) {
    x_.assign(points_);
    if (restart > 0) {
      const Random random(options_.attack->seed, static_cast<std::uint64_t>(restart * later_balls + round));
      for (Index i = 0; i < x_.size(); ++i) {
        x_[i] += (2 * random.uniform(static_cast<std::uint64_t>(i)) - 1) * ball_[at(i / size_)];
      }
      for (Index i = 0; i < points_.count(); ++i) project(i);
    }
    for (Index step = 0; step <= options_.attack->steps; ++step) {
      const std::vector<double> margins = slope_of_.look(x_, labels_, slope_);
      for (Index i = 0; i < points_.count(); ++i) {
        if (margins[at(i)] <= 0) note(i);
        move(i, 2.5 * ball_[at(i)] / static_cast<double>(std::max<Index>(1, options_.attack->steps)), step);
      }
    }
  }

  /// The first step goes to the edge of the ball, where the tangent says the least margin is.
  void move(Index i, double step, Index number) {
    const double reach = number == 0 ? ball_[at(i)] : step;
    const double* slope = slope_.sample(i);
    double* x = x_.sample(i);
    const double steepest = move_length(slope, size_, Norm::l2);
    if (!(steepest > 0)) return;
    for (Index k = 0; k < size_; ++k) {
      const double sign = static_cast<double>((slope[k] > 0) - (slope[k] < 0));
      x[k] -= reach * (options_.norm == Norm::linf ? sign : slope[k] / steepest);
    }
    project(i);
  }

  const Tensor<double>& points_;
  std::span<const Index> labels_;
  std::span<const double> margin_;
  const CertifyOptions& options_;
  MarginSlope<T> slope_of_;
  Index size_;
  std::vector<double> ball_;
  std::vector<double> failed_;
  Tensor<double> x_;
  Tensor<double> slope_;
  NetworkAttack found_;
};

}  // namespace

NetworkAttack attack_network(const TrainedNetwork& trained, const Tensor<double>& points, std::span<const Index> labels,
                             std::span<const double> margin, const CertifyOptions& options) {
  if (trained.precision() == Precision::f32)
    return NetworkDescent<float>(trained, points, labels, margin, options).run();
  return NetworkDescent<double>(trained, points, labels, margin, options).run();
}

}  // namespace widelimit
