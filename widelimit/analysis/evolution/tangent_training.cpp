#include "widelimit/analysis/evolution/tangent_training.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/tangent/output_kernels.hpp"
#include "widelimit/finite/training/targets.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 2> tangent_kernel_names{"full", "trace"};

/// Number of test points per block of Θ̂(x, X).
constexpr Index block_points = 256;

template <std::floating_point T>
Matrix<double> in_double(const Matrix<T>& from) {
  Matrix<double> to(from.rows(), from.cols(), Content::unset);
  std::copy_n(from.data(), from.rows() * from.cols(), to.data());
  return to;
}

/// Computes outputs −= K·a; rows of a full kernel are ordered (sample, output).
void subtract_product(const Matrix<double>& k, const Matrix<double>& a, const Engine& engine, MatrixView<double> out) {
  Matrix<double> product(k.rows(), a.cols(), Content::unset);
  engine.algebra().host_product(1, Transpose::no, k.view(), Transpose::no, a.view(), 0, product.view());
  for (Index i = 0; i < k.rows() * a.cols(); ++i) out.data[i] -= product.data()[i];
}

/// Samples with their gradients of one output.
template <std::floating_point T>
class SampleGradients {
 public:
  SampleGradients(const Architecture& architecture, const Parameters<T>& w, const Engine& engine, Progress* progress)
      : architecture_(architecture), w_(w), engine_(engine), pass_{.input_signal = false, .progress = progress} {}

  void set_samples(const Tensor<T>& x) {
    trace_.input().assign(x);
    forward(architecture_, w_, pass_, engine_, trace_);
  }
  const Gradient<T>& of(Index output) {
    Tensor<T>& signal = gradient_.output_signal(architecture_);
    signal.resize(trace_.output().count(), architecture_.output);
    signal.clear();
    for (Index i = 0; i < signal.count(); ++i) signal.sample(i)[output] = T{1};
    backward(architecture_, w_, trace_, pass_, engine_, gradient_);
    return gradient_;
  }

 private:
  const Architecture& architecture_;
  const Parameters<T>& w_;
  const Engine& engine_;
  PassOptions pass_;
  Trace<T> trace_;
  Gradient<T> gradient_;
};

/// Θ̂ between points and samples at fixed weights.
class TangentModel {
 public:
  TangentModel(const TrainedNetwork& network, const SampleView& x, TangentKernel kernel, const Engine& engine,
               Progress* progress)
      : network_(network), x_(x), full_(kernel == TangentKernel::full), engine_(engine), progress_(progress) {}

  [[nodiscard]] Matrix<double> own() const {
    return std::visit(
        [&]<typename T>(const Parameters<T>& w) {
          const Tensor<T> samples = read_samples<T>(x_, network_.architecture.input);
          if (full_) return pairs(w, samples, samples);
          OutputKernels found = output_kernels(network_.architecture, w, samples, {.progress = progress_}, engine_);
          return std::move(found.kernels.front());
        },
        network_.parameters);
  }

  /// Subtracts Θ̂(points, X)·a from `outputs`, which hold f.
  void subtract(const SampleView& points, const Matrix<double>& a, Matrix<double>& outputs) const {
    std::visit(
        [&]<typename T>(const Parameters<T>& w) {
          const Architecture& architecture = network_.architecture;
          const Tensor<T> samples = read_samples<T>(x_, architecture.input);
          SampleGradients<T> own(architecture, w, engine_, progress_);
          SampleGradients<T> others(architecture, w, engine_, progress_);
          if (!full_) own.set_samples(samples);
          for (Index first = 0; first < points.count(); first += block_points) {
            const Index count = std::min(block_points, points.count() - first);
            const Tensor<T> block = read_samples<T>(points.part(first, count), architecture.input);
            const MatrixView<double> to = outputs.view().block(first, 0, count, outputs.cols());
            if (full_) {
              subtract_product(pairs(w, block, samples), a, engine_, to);
              continue;
            }
            others.set_samples(block);
            Matrix<double> mean(count, samples.count());
            for (Index k = 0; k < outputs.cols(); ++k) {
              const Matrix<T> part = empirical_ntk(architecture, others.of(k), own.of(k), engine_);
              for (Index i = 0; i < count * samples.count(); ++i) {
                mean.data()[i] += static_cast<double>(part.data()[i]) / static_cast<double>(outputs.cols());
              }
            }
            subtract_product(mean, a, engine_, to);
          }
        },
        network_.parameters);
  }

 private:
  template <std::floating_point T>
  [[nodiscard]] Matrix<double> pairs(const Parameters<T>& w, const Tensor<T>& points, const Tensor<T>& samples) const {
    const NtkOptions how{.outputs = NtkOutputs::full, .progress = progress_};
    return in_double(empirical_ntk(network_.architecture, w, points, samples, how, engine_));
  }

  const TrainedNetwork& network_;
  SampleView x_;
  bool full_;
  const Engine& engine_;
  Progress* progress_;
};

/// Returns H⁻¹(I − e^{−2tH})·r by eigendecomposition; adds the number of omitted eigenvalues to `unlearnt`.
Matrix<double> flow_coefficients(const Matrix<double>& h, const Matrix<double>& r, double time, double rounding,
                                 const Engine& engine, Progress* progress, Index& unlearnt) {
  const Index n = h.rows();
  const Algebra& algebra = engine.algebra();
  EngineMatrix rows = algebra.allocate(n, n, Precision::f64);
  const std::vector<double> values = algebra.eigenvectors(algebra.copy_of(h.view()), rows, progress);
  const double least = rounding * static_cast<double>(n) * std::max(values.back(), 0.0);
  Matrix<double> modes(n, r.cols());
  algebra.multiply(Transpose::no, rows, r.view(), modes.view());
  for (Index i = 0; i < n; ++i) {
    const double value = values[usize(i)];
    const bool learnt = value > least;
    unlearnt += learnt ? 0 : 1;
    const double factor = learnt ? -std::expm1(-2 * time * value) / value : 0.0;
    for (Index c = 0; c < r.cols(); ++c) modes(i, c) *= factor;
  }
  Matrix<double> result(n, r.cols());
  algebra.multiply(Transpose::yes, rows, modes.view(), result.view());
  return result;
}

}  // namespace

std::string_view to_string(TangentKernel kernel) { return tangent_kernel_names[static_cast<std::size_t>(kernel)]; }
TangentKernel parse_tangent_kernel(std::string_view text) {
  return parse_choice<TangentKernel>("kernel of tangent training", tangent_kernel_names, text);
}

void TangentOptions::validate() const {
  if (samples < 0)
    fail(Code::usage, "the number of samples for tangent training is {}; choose 0 for all, or more", samples);
  if (!(time > 0)) fail(Code::usage, "the time of tangent training is {}; it must be positive", time);
}

TangentTraining tangent_training(const TrainedNetwork& network, const TrainData& data, const TangentOptions& options,
                                 const Engine& engine, Progress* progress) {
  const Interruptible interruptible(progress);
  options.validate();
  const Index n = options.samples == 0 ? data.x.count() : std::min(options.samples, data.x.count());
  const Index outputs = network.architecture.output.size();
  if (data.y.rows != data.x.count() || data.y.cols != outputs) {
    fail(Code::input, "{} samples of {} outputs have {} rows of {} targets", data.x.count(), outputs, data.y.rows,
         data.y.cols);
  }
  const bool full = options.kernel == TangentKernel::full;
  const double side = static_cast<double>(full ? n * outputs : n);
  require_memory(4 * 8 * side * side, {}, "the kernel of tangent training and its eigenvectors",
                 "take fewer samples, or the trace over outputs");
  const SampleView x = data.x.part(0, n);
  const TangentModel model(network, x, options.kernel, engine, progress);
  TangentTraining result{.samples = n};
  result.outputs = predict_outputs(network, x, engine, progress);
  // A full kernel acts on the row-major vector of all outputs of all samples.
  Matrix<double> residual(full ? n * outputs : n, full ? 1 : outputs, Content::unset);
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < outputs; ++k) residual.data()[i * outputs + k] = result.outputs(i, k) - data.y(i, k);
  }
  const double rounding = epsilon_of(network.precision());
  const Matrix<double> h = model.own();
  const Matrix<double> a = flow_coefficients(h, residual, options.time, rounding, engine, progress, result.unlearnt);
  subtract_product(h, a, engine, result.outputs.view());
  for (Index i = 0; i < n; ++i) {
    for (Index k = 0; k < outputs; ++k) {
      const double error = result.outputs(i, k) - data.y(i, k);
      result.squared_error += error * error / static_cast<double>(n * outputs);
    }
  }
  result.accuracy = accuracy_of(result.outputs.view(), data.y.block(0, 0, n, outputs));
  if (!data.test) return result;
  result.test_outputs = predict_outputs(network, *data.test, engine, progress);
  model.subtract(*data.test, a, result.test_outputs);
  if (data.test_y.rows > 0) result.test_accuracy = accuracy_of(result.test_outputs.view(), data.test_y);
  return result;
}

}  // namespace widelimit
