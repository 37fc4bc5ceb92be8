#include "widelimit/certificate/attack/network_attack.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/finite/backward.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Negative where the class is another: at a margin of zero, if prediction takes the other; never where outputs
/// overflow, which have no class.
double told_margin(double margin, bool kept_at_zero) {
  if (!std::isfinite(margin)) return std::numeric_limits<double>::infinity();
  return margin == 0 && !kept_at_zero ? -std::numeric_limits<double>::denorm_min() : margin;
}

/// Margins of the function that predicts, and their gradients in x.
template <std::floating_point T>
class MarginSlope {
 public:
  MarginSlope(const TrainedNetwork& trained, std::span<const Index> labels, int threads)
      : trained_(trained), labels_(labels), pass_{.threads = threads} {}

  /// The least margin at every x of points `rows`, and its gradient: an AttackGoal.
  void evaluate(MatrixView<const double> x, std::span<const Index> rows, double* values, MatrixView<double> slopes) {
    const Architecture& architecture = trained_.architecture;
    const Index outputs = architecture.output.size();
    input_.resize(x.rows, architecture.input);
    for (Index i = 0; i < x.rows; ++i) {
      std::transform(x.row(i), x.row(i) + x.cols, input_.sample(i), [](double v) { return static_cast<T>(v); });
    }
    f_.assign(at(x.rows * outputs), 0.0);
    pass(std::get<Parameters<T>>(trained_.parameters), 1.0);
    if (trained_.centred) pass(std::get<Parameters<T>>(trained_.start), -1.0);
    signal_.resize(x.rows, architecture.output);
    signal_.clear();
    for (Index i = 0; i < x.rows; ++i) values[i] = choose(i, labels_[at(rows[at(i)])], outputs);
    for (Index i = 0; i < x.rows; ++i) std::fill_n(slopes.row(i), x.cols, 0.0);
    back(std::get<Parameters<T>>(trained_.parameters), trace_, 1.0, slopes);
    if (trained_.centred) back(std::get<Parameters<T>>(trained_.start), start_trace_, -1.0, slopes);
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
      return told_margin(label == 1 ? f[0] : -f[0], label == 0);
    }
    Index nearest = label == 0 ? 1 : 0;
    for (Index k = 0; k < outputs; ++k) {
      if (k != label && f[k] > f[nearest]) nearest = k;
    }
    signal[label] = T{1};
    signal[nearest] = T{-1};
    return told_margin(f[label] - f[nearest], label < nearest);
  }

  void back(const Parameters<T>& w, const Trace<T>& trace, double sign, MatrixView<double> slopes) {
    gradient_.output_signal(trained_.architecture).assign(signal_);
    backward(trained_.architecture, w, trace, pass_, gradient_);
    const Tensor<T>& input = gradient_.input();
    for (Index i = 0; i < slopes.rows; ++i) {
      for (Index j = 0; j < slopes.cols; ++j) slopes(i, j) += sign * static_cast<double>(input.sample(i)[j]);
    }
  }

  const TrainedNetwork& trained_;
  std::span<const Index> labels_;
  PassOptions pass_;
  Tensor<T> input_;
  Tensor<T> signal_;
  std::vector<double> f_;
  Trace<T> trace_;
  Trace<T> start_trace_;
  Gradient<T> gradient_;
};

template <std::floating_point T>
Attacked attack_margins(const TrainedNetwork& trained, const AttackedRows& attacked, std::span<const Index> labels,
                        std::vector<Index> rows, const CertifyOptions& options, Progress* progress) {
  MarginSlope<T> margins(trained, labels, team_size(options.threads));
  const AttackGoal goal = [&](MatrixView<const double> x, std::span<const Index> which, double* values,
                              MatrixView<double> slopes) { margins.evaluate(x, which, values, slopes); };
  const ClassChange changed = [&](MatrixView<const double> x, std::span<const Index> which) {
    std::vector<double> values(which.size());
    Matrix<double> slopes(x.rows, x.cols, Content::unset);
    margins.evaluate(x, which, values.data(), slopes.view());
    std::vector<bool> answers;
    for (const double value : values) answers.push_back(value < 0);
    return answers;
  };
  Descended found(attacked.points.rows, attacked.points.cols);
  AttackDescent(attacked, goal, std::move(rows), *options.attack, found).run(progress);
  return confirmed(attacked, found, changed);
}

}  // namespace

Attacked attack_network(const TrainedNetwork& trained, const Tensor<double>& points, std::span<const Index> labels,
                        std::span<const double> margin, const CertifyOptions& options, Progress* progress) {
  const Index features = points.shape().size();
  AttackedRows attacked{{points.data(), points.count(), features, features}, {}, options.norm, options.box};
  std::vector<Index> rows;
  for (Index i = 0; i < points.count(); ++i) {
    attacked.point.push_back(i);
    if (margin[at(i)] > 0) rows.push_back(i);
  }
  Attacked found = trained.precision() == Precision::f32
                       ? attack_margins<float>(trained, attacked, labels, std::move(rows), options, progress)
                       : attack_margins<double>(trained, attacked, labels, std::move(rows), options, progress);
  for (Index i = 0; i < points.count(); ++i) {
    if (!(margin[at(i)] > 0)) found.distance[at(i)] = 0;
  }
  return found;
}

}  // namespace widelimit
