#include "widelimit/analysis/hierarchy/kernel_at_time.hpp"

#include "widelimit/analysis/hierarchy/label_weights.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/train.hpp"
#include "widelimit/finite/training/weight_step.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/network/activation_jet.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

namespace widelimit {

namespace {

constexpr double epsilon = std::numeric_limits<double>::epsilon();

bool has_kinks(const Layers& layers) {
  return std::any_of(layers.begin(), layers.end(), [](const Layer& layer) {
    if (const auto* activation = std::get_if<Activation>(&layer.value)) {
      return smoothness(*activation) != Smoothness::smooth;
    }
    const auto* residual = std::get_if<Residual>(&layer.value);
    return residual != nullptr &&
           (has_kinks(residual->branch) || (residual->shortcut && has_kinks(*residual->shortcut)));
  });
}

Parameters<double> in_double(const AnyParameters& parameters) {
  return std::visit(
      [](const auto& from) {
        Parameters<double> to;
        for (const auto& slot : from.slots) {
          to.slots.push_back({{slot.w.begin(), slot.w.end()}, {slot.b.begin(), slot.b.end()}});
        }
        return to;
      },
      parameters);
}

/// Computes to += factor·by.
void add(double factor, const Parameters<double>& by, Parameters<double>& to) {
  const auto each = [&](std::span<const double> from, std::span<double> sum) {
    for (std::size_t i = 0; i < from.size(); ++i) sum[i] += factor * from[i];
  };
  for (std::size_t l = 0; l < to.slots.size(); ++l) {
    each(by.slots[l].w, to.slots[l].w);
    each(by.slots[l].b, to.slots[l].b);
  }
}

/// Network at its initial weights with its training samples.
class NetworkAtStart {
 public:
  NetworkAtStart(const Architecture& architecture, Parameters<double> weights, const Tensor<double>& x,
                 const Engine& engine)
      : architecture_(architecture), weights_(std::move(weights)), x_(x), engine_(engine) {}

  [[nodiscard]] std::vector<double> outputs() const {
    const Trace<double> trace = forward(architecture_, weights_, x_, {}, engine_);
    return {trace.output().data(), trace.output().data() + x_.count()};
  }

  /// Returns Σ v_i∇f_i at the initial weights.
  [[nodiscard]] Parameters<double> pull(std::span<const double> v) const { return pull_at(weights_, v); }

  /// Returns (X·∇) Σ u_i∇f_i by a central difference. The step length ε^{1/3} balances truncation and rounding errors
  /// of a first difference: pre-activations change at most as much as weights.
  [[nodiscard]] Parameters<double> turn(const Parameters<double>& x, std::span<const double> u) const {
    const double length = norm(x);
    Parameters<double> result = zero_parameters<double>(architecture_);
    if (length == 0) return result;
    const double step = std::cbrt(epsilon) / length;
    for (const double sign : {1.0, -1.0}) {
      Parameters<double> there = weights_;
      add(sign * step, x, there);
      add(sign / (2 * step), pull_at(there, u), result);
    }
    return result;
  }

  [[nodiscard]] double norm(const Parameters<double>& x) const {
    return std::sqrt(squared_distance(x, zero_parameters<double>(architecture_), engine_));
  }

  [[nodiscard]] const Parameters<double>& weights() const { return weights_; }

 private:
  [[nodiscard]] Parameters<double> pull_at(const Parameters<double>& weights, std::span<const double> v) const {
    interruption_point();
    const PassOptions options{.input_signal = false};
    const Trace<double> trace = forward(architecture_, weights, x_, options, engine_);
    Tensor<double> signal(x_.count(), architecture_.output);
    std::copy(v.begin(), v.end(), signal.data());
    const Gradient<double> gradient = backward(architecture_, weights, trace, std::move(signal), options, engine_);
    Parameters<double> direction = zero_parameters<double>(architecture_);
    add_gradient(architecture_, gradient, 1.0, direction, engine_);
    return direction;
  }

  const Architecture& architecture_;
  Parameters<double> weights_;
  const Tensor<double>& x_;
  const Engine& engine_;
};

/// Throws Error{numerical} if an entry overflowed; LAPACK would report that eigenvectors did not converge.
void require_finite(const Matrix<double>& m) {
  if (!std::all_of(m.data(), m.data() + m.rows() * m.cols(), [](double entry) { return std::isfinite(entry); })) {
    fail(Code::numerical,
         "the kernel and the labels exceed the range of float64; scale the samples or the labels down");
  }
}

/// Returns Y = Σ_ij M_ij (∇f_j·∇)∇f_i = Σ_k (X_k·∇) Σ_i (Mv_k)_i∇f_i with X_k = Σ_j v_kj∇f_j, v_k the right singular
/// vectors of M. Uses the eigenvectors of MᵀM, so singular values below 10⁻⁸ of the largest are not resolved and
/// omitted.
Parameters<double> second_move(const NetworkAtStart& start, const Matrix<double>& m, const Engine& engine,
                               Parameters<double> sum) {
  const Index n = m.rows();
  const Algebra& algebra = engine.algebra();
  Matrix<double> vectors(n, n);
  algebra.host_product(1, Transpose::yes, m.view(), Transpose::no, m.view(), 0, vectors.view());
  require_finite(vectors);
  EngineMatrix rows = algebra.allocate(n, n, Precision::f64);
  const std::vector<double> squares = algebra.eigenvectors(algebra.copy_of(vectors.view()), rows, nullptr);
  algebra.read(rows, vectors.view());
  std::vector<double> image(usize(n));
  for (Index k = n - 1; k >= 0 && squares[usize(k)] > 1e-16 * squares.back(); --k) {
    const std::span<const double> v(vectors.view().row(k), usize(n));
    for (Index i = 0; i < n; ++i) image[usize(i)] = std::inner_product(v.begin(), v.end(), m.view().row(i), 0.0);
    add(1, start.turn(start.pull(v), image), sum);
  }
  return sum;
}

/// Computes κ'(0) and κ''(0)/2 of κ(ε) = Θ̂(w₀ + εX + ε²Y) by finite differences of fourth order, and κ(0) = K₀.
class PathExpansion {
 public:
  /// The step ε‖X‖ = ε_machine^{1/6} balances truncation h⁴ and rounding ε/h².
  PathExpansion(const NetworkAtStart& start, const Parameters<double>& x, const Parameters<double>& y) {
    const double length = start.norm(x);
    step_ = length > 0 ? std::pow(epsilon, 1.0 / 6) / length : 1.0;
    for (std::size_t k = 0; k < places.size(); ++k) {
      weights_[k] = start.weights();
      add(places[k] * step_, x, weights_[k]);
      add(places[k] * places[k] * step_ * step_, y, weights_[k]);
    }
  }

  [[nodiscard]] TimedKernel expand(const Architecture& architecture, const Parameters<double>& start,
                                   const Tensor<double>& points, const Tensor<double>& samples,
                                   const KernelAtTimeOptions& options, const Engine& engine) const {
    const NtkOptions how{.progress = options.progress};
    TimedKernel result;
    result.start = empirical_ntk(architecture, start, points, samples, how, engine);
    const Index rows = result.start.rows();
    const Index cols = result.start.cols();
    result.first = Matrix<double>(rows, cols);
    result.second = Matrix<double>(rows, cols);
    result.values = Matrix<double>(rows, cols);
    for (std::size_t k = 0; k < places.size(); ++k) {
      const Matrix<double> there = empirical_ntk(architecture, weights_[k], points, samples, how, engine);
      for (Index i = 0; i < rows * cols; ++i) {
        const double change = there.data()[i] - result.start.data()[i];
        result.first.data()[i] += slope[k] / (12 * step_) * change;
        result.second.data()[i] += curvature[k] / (24 * step_ * step_) * change;
      }
    }
    for (Index i = 0; i < rows * cols; ++i) {
      result.values.data()[i] = result.start.data()[i] + result.first.data()[i] + result.second.data()[i];
    }
    return result;
  }

 private:
  static constexpr std::array<double, 4> places{-2, -1, 1, 2};
  static constexpr std::array<double, 4> slope{1, -8, 8, -1};        // κ' = Σ/(12h)
  static constexpr std::array<double, 4> curvature{-1, 16, 16, -1};  // κ'' = Σ(κ_k − κ₀)/(12h²)
  double step_ = 1;
  std::array<Parameters<double>, 4> weights_;
};

void check_network(const TrainedNetwork& network, const SampleView& x) {
  if (network.architecture.output.size() != 1) {
    fail(Code::usage, "the network has {} outputs; the kernel at a time requires one output",
         network.architecture.output.size());
  }
  if (network.linearised) fail(Code::usage, "the kernel of a linearised network does not change in training");
  if (x.shape.size() != network.shape.size()) {
    fail(Code::input, "samples have shape {}, but the network was trained on {}", to_string(x.shape),
         to_string(network.shape));
  }
}

/// Returns the weights after the gradient flow on Σ(y − f)².
Parameters<double> trained_weights(const TrainedNetwork& network, const SampleView& x, std::span<const double> y,
                                   const KernelAtTimeOptions& options, const Engine& engine) {
  TrainOptions how;
  how.width = network.widths.hidden;
  how.parameterisation = network.widths.parameterisation;
  how.regulariser = network.regulariser == Regulariser::output ? Regulariser::output : Regulariser::none;
  how.centred = network.centred;
  how.flow_time = options.time;
  how.tolerance = options.tolerance;
  how.steps = 1'000'000;
  how.seed = network.seed;
  how.records = 2;
  how.record_outputs = false;
  how.progress = options.progress;
  const TrainedNetwork trained = train(network.network, {x, {y.data(), x.count(), 1, 1}}, how, engine);
  if (!trained.summary.finished()) fail(Code::numerical, "{}", trained.summary.message);
  return in_double(trained.parameters);
}

}  // namespace

void KernelAtTimeOptions::validate() const {
  if (!(time >= 0)) fail(Code::usage, "time {} is invalid; it must not be negative", time);
  if (trained && std::isinf(time)) fail(Code::usage, "the comparison with a trained network needs a finite time");
  if (!(tolerance > 0)) fail(Code::usage, "tolerance is {}; it must be positive", tolerance);
}

KernelAtTime kernel_at_time(const TrainedNetwork& network, const SampleView& x, std::span<const double> y,
                            const std::optional<SampleView>& test, const KernelAtTimeOptions& options,
                            const Engine& engine) {
  const Interruptible interruptible(options.progress);
  const auto begin = Clock::now();
  options.validate();
  check_network(network, x);
  if (test) check_network(network, *test);
  if (std::ssize(y) != x.count()) fail(Code::input, "{} labels for {} samples", y.size(), x.count());
  check_targets({y.data(), x.count(), 1, 1}, x.count());

  const Architecture& architecture = network.architecture;
  const Tensor<double> samples = read_samples<double>(x, architecture.input);
  const NetworkAtStart start(architecture, in_double(network.start), samples, engine);
  std::vector<double> residual(y.begin(), y.end());
  if (!network.centred) {
    const std::vector<double> outputs = start.outputs();
    for (std::size_t i = 0; i < residual.size(); ++i) residual[i] -= outputs[i];
  }
  const Matrix<double> k =
      empirical_ntk(architecture, start.weights(), samples, samples, {.progress = options.progress}, engine);
  // The derivative of the squared loss is 2(f − y).
  const LabelWeights weights = label_weights({k.view(), engine}, residual, options.progress, 2 * options.time);
  const Parameters<double> move = start.pull(weights.coefficients);
  const PathExpansion path(start, move,
                           second_move(start, weights.pairs, engine, zero_parameters<double>(architecture)));
  KernelAtTime result;
  const auto expand = [&](const Tensor<double>& points) {
    return path.expand(architecture, start.weights(), points, samples, options, engine);
  };
  result.train = expand(samples);
  const std::optional<Tensor<double>> others =
      test ? std::optional(read_samples<double>(*test, architecture.input)) : std::nullopt;
  if (others) result.test = expand(*others);
  if (options.trained) {
    const Parameters<double> there = trained_weights(network, x, y, options, engine);
    const NtkOptions how{.progress = options.progress};
    result.train.trained = empirical_ntk(architecture, there, samples, samples, how, engine);
    if (others) result.test->trained = empirical_ntk(architecture, there, *others, samples, how, engine);
  }
  if (has_kinks(network.network.layers)) {
    result.remarks.emplace_back(
        "the network has an activation with kinks: the expansion ignores the jump of gradients at kinks; use erf, tanh "
        "or another smooth activation to avoid this error");
  }
  if (weights.unlearnt > 0 && std::isinf(options.time)) {
    result.remarks.push_back(
        fmt::format("{} of {} eigenvalues of the kernel are 0 up to rounding; labels in these "
                    "directions are not learned, and are omitted",
                    weights.unlearnt, y.size()));
  }
  result.seconds = seconds_since(begin);
  return result;
}

}  // namespace widelimit
