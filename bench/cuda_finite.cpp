#include "bench/cuda.hpp"

#include "bench/measure.hpp"
#include "bench/peer.hpp"
#include "bench/weight_files.hpp"
#include "widelimit/engine/layers.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/finite/training/train.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace widelimit::bench {

namespace {

constexpr int train_depth = 2;
constexpr int kernel_depth = 3;

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + std::ssize(values) / 2, values.end());
  return values[values.size() / 2];
}

TrainOptions training(Index width, Index steps, Regulariser regulariser) {
  return {.width = width,
          .loss = {LossKind::hinge},
          .regulariser = regulariser,
          .lambda = 0.01,
          .rate = 0.01,
          .steps = steps,
          .precision = Precision::f32,
          .records = 2};
}

struct TrainSet {
  explicit TrainSet(const FiniteSizes& sizes) : x(normal_inputs(sizes.rows, sizes.cols)), y(sizes.rows, 1) {
    for (Index i = 0; i < sizes.rows; ++i) y(i, 0) = i % 2 == 0 ? 1.0 : -1.0;
  }
  [[nodiscard]] TrainData data() const { return {SampleView(x.view(), {1, 1, x.cols()}), y.view()}; }
  Network network = Network::parse(fmt::format("fc:{}(w_std=1.4142)", train_depth));
  Matrix<double> x;
  Matrix<double> y;
};

/// Returns the median seconds per step, measured between calls of the observer.
double step_seconds(const TrainSet& set, TrainOptions options, const Engine& engine) {
  std::vector<std::chrono::steady_clock::time_point> begins;
  options.observer = [&](const TrainStep&) { begins.push_back(std::chrono::steady_clock::now()); };
  (void)train(set.network, set.data(), options, engine);
  std::vector<double> seconds;
  for (std::size_t i = 1; i < begins.size(); ++i) {
    seconds.push_back(std::chrono::duration<double>(begins[i] - begins[i - 1]).count());
  }
  return median(seconds);
}

/// A zero matrix in the memory of an engine.
class Zeros {
 public:
  Zeros(const std::shared_ptr<LayerPasses<float>>& layers, Index rows, Index cols)
      : numbers_(Values<float>::unset(usize(rows * cols))), view_{numbers_.write(layers), rows, cols, cols} {
    layers->clear(view_.data, rows * cols);
  }
  [[nodiscard]] MatrixView<float> view() const { return view_; }

 private:
  Values<float> numbers_;
  MatrixView<float> view_;
};

/// Returns the seconds of the matrix products of one step.
double product_seconds(const std::shared_ptr<LayerPasses<float>>& layers, const FiniteSizes& sizes) {
  const Index n = sizes.rows;
  const Index m = sizes.width;
  const Zeros x(layers, n, sizes.cols);
  const Zeros first(layers, sizes.cols, m);
  const Zeros second(layers, m, m);
  const Zeros last(layers, m, 1);
  const Zeros a(layers, n, m);
  const Zeros b(layers, n, m);
  const Zeros f(layers, n, 1);
  const auto multiply = [&](Transpose op_a, const Zeros& left, Transpose op_b, const Zeros& right, double beta,
                            const Zeros& to) {
    layers->product(1, op_a, left.view(), op_b, right.view(), beta, to.view());
  };
  const auto no = Transpose::no;
  const auto yes = Transpose::yes;
  float number = 0;
  std::vector<double> seconds;
  for (int i = 0; i < sizes.repeats + 2; ++i) {
    seconds.push_back(seconds_of([&] {
      multiply(no, x, no, first, 0, a);
      multiply(no, a, no, second, 0, b);
      multiply(no, b, no, last, 0, f);
      multiply(no, f, yes, last, 0, b);
      multiply(no, b, yes, second, 0, a);
      multiply(yes, b, no, f, 1, last);
      multiply(yes, a, no, b, 1, second);
      multiply(yes, x, no, a, 1, first);
      layers->download(first.view().data, 1, &number);
      return number;
    }));
  }
  return median(seconds);
}

/// ‖a − b‖/‖b‖.
template <std::floating_point T>
double relative_distance(const Matrix<T>& a, const Matrix<T>& b) {
  double far = 0;
  double size = 0;
  for (Index i = 0; i < a.rows() * a.cols(); ++i) {
    const auto value = static_cast<double>(b.data()[i]);
    far += std::pow(static_cast<double>(a.data()[i]) - value, 2);
    size += value * value;
  }
  return std::sqrt(far / size);
}

template <std::floating_point T>
bool kernels_of(const Engine& engine, const FiniteSizes& sizes, const std::string& python, const std::string& peers) {
  const Shape shape{1, 1, sizes.cols};
  const auto architecture = Architecture::make(
      Network::parse(fmt::format("fc:{}(w_std={})", kernel_depth, std::sqrt(2.0))), shape, {.hidden = sizes.width});
  const auto parameters = draw_parameters<T>(architecture, 1, engine);
  const Matrix<double> wide = normal_inputs(sizes.rows, sizes.cols);
  const Matrix<T> inputs = converted<T>(wide);
  const Scratch scratch;
  write_raw(scratch / "x", wide);
  const Tensor<T> x = read_samples<T>(SampleView(inputs.view(), shape), shape);
  const auto ours = [&] { return empirical_ntk(architecture, parameters, x, x, {}, engine); };

  const Index few = std::min<Index>(64, sizes.rows);
  const Tensor<T> some = read_samples<T>(SampleView(inputs.view().block(0, 0, few, sizes.cols), shape), shape);
  const double cpu_difference =
      relative_distance(empirical_ntk(architecture, parameters, some, some, {}, engine),
                        empirical_ntk(architecture, parameters, some, some, {}, all_processors()));
  const std::string precision = precision_of<T> == Precision::f32 ? "f32" : "f64";
  std::vector<std::string> command{python,        peers + "/torch_empirical_ntk.py",
                                   "--device",    "cuda",
                                   "--precision", precision,
                                   "--input",     (scratch / "x").string(),
                                   "--rows",      std::to_string(sizes.rows),
                                   "--cols",      std::to_string(sizes.cols),
                                   "--width",     std::to_string(sizes.width),
                                   "--weights"};
  for (std::string& file : write_weights(scratch, parameters)) command.push_back(std::move(file));
  Peer peer(command, scratch / "log");
  double error = 0;
  if (peer.present()) {
    const auto file = scratch / "kernel";
    peer.request(fmt::format("compute kernel {}", file.string()));
    error = relative_distance(ours(), read_raw<T>(file, sizes.rows, sizes.rows));
  } else {
    fmt::print("no PyTorch: {}\n", peer.why_absent());
  }
  (void)ours();
  std::vector<std::function<double()>> clocks{[&] { return seconds_of(ours); }};
  if (peer.present()) clocks.push_back([&] { return std::stod(peer.request("time kernel")); });
  const std::vector<double> seconds = medians_in_turn(clocks, sizes.repeats);
  const double ratio = peer.present() ? seconds[1] / seconds[0] : 0;
  fmt::print("empirical NTK, {} hidden layers of {}, n = {}, d = {}, {}: {:.2f} ms; ", kernel_depth, sizes.width,
             sizes.rows, sizes.cols, precision, 1e3 * seconds[0]);
  if (peer.present()) {
    fmt::print("Jacobians of torch.func {:.1f} ms, ratio {:.1f} {}, difference from them {:.1e}; ", 1e3 * seconds[1],
               ratio, verdict_at_least(ratio, 100), error);
  }
  const bool agree = cpu_difference <= 10 * tolerance<T> && error <= 10 * tolerance<T>;
  fmt::print("difference from the CPU {:.1e}{}\n", cpu_difference, agree ? "" : " RESULTS DIFFER");
  return agree;
}

}  // namespace

bool training_steps(const Engine& engine, const FiniteSizes& sizes) {
  const auto& layers = layers_of<float>(engine);
  const TrainSet set(sizes);
  const Index narrow = std::min<Index>(512, sizes.width);
  double error = 0;
  for (const Regulariser regulariser : {Regulariser::none, Regulariser::init}) {
    const TrainOptions few = training(narrow, 5, regulariser);
    const double loss = train(set.network, set.data(), few, engine).record.loss.back();
    const double expected = train(set.network, set.data(), few).record.loss.back();
    error = std::max(error, std::abs(loss / expected - 1));
  }
  const auto n = static_cast<double>(sizes.rows);
  const auto m = static_cast<double>(sizes.width);
  const double operations = 2 * (2 * n * static_cast<double>(sizes.cols) * m + 3 * n * m * m + 3 * n * m);
  const bool agree = error <= 1e-4;
  fmt::print(
      "training, {} hidden layers of {}, n = {}, d = {}, f32; loss difference from the CPU after 5 steps of width {}: "
      "{:.1e}{}\n",
      train_depth, sizes.width, sizes.rows, sizes.cols, narrow, error, agree ? "" : " RESULTS DIFFER");
  for (const Regulariser regulariser : {Regulariser::none, Regulariser::init}) {
    const double step = step_seconds(set, training(sizes.width, sizes.repeats + 2, regulariser), engine);
    fmt::print("  regulariser {}: {:.3f} ms a step, {:.1f} TFLOP/s", to_string(regulariser), 1e3 * step,
               operations / step / 1e12);
    if (layers != nullptr) {
      const double products = product_seconds(layers, sizes);
      fmt::print("; products alone {:.3f} ms, {:.1f} TFLOP/s; share {:.2f} {}", 1e3 * products,
                 operations / products / 1e12, products / step, verdict_at_least(products / step, 0.6));
    }
    fmt::print("\n");
  }
  return agree;
}

bool empirical_kernels(const Engine& engine, const FiniteSizes& sizes, const std::string& python,
                       const std::string& peers) {
  const bool single = kernels_of<float>(engine, sizes, python, peers);
  const bool twice = kernels_of<double>(engine, sizes, python, peers);
  return single && twice;
}

}  // namespace widelimit::bench
