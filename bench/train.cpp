// One step of full-batch training of a wide ReLU network on few samples in float32, compared with sgemm on the same
// machine: 2·n·m² operations forward, as many backward, and as many for the weight gradient.

#include "widelimit/finite/training/train.hpp"
#include "bench/measure.hpp"
#include "bench/program.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace widelimit::bench {
namespace {

constexpr Index hidden_layers = 2;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

/// Operations of one step: forward and weight gradient for every layer, backward for all but the first.
double step_operations(Index samples, Index features, Index width) {
  const auto n = static_cast<double>(samples);
  const auto m = static_cast<double>(width);
  const double first = n * static_cast<double>(features) * m;
  const double inner = static_cast<double>(hidden_layers - 1) * n * m * m;
  return 2.0 * (2.0 * first + 3.0 * inner + 3.0 * n * m);
}

/// Returns the seconds of each step, measured between calls of the observer at the start of steps.
std::vector<double> step_seconds(const Benchmark& benchmark, Index width, Regulariser regulariser) {
  const Matrix<double>& x = benchmark.inputs;
  Matrix<double> y(x.rows(), 1);
  for (Index i = 0; i < x.rows(); ++i) y(i, 0) = i % 2 == 0 ? 1.0 : -1.0;
  std::vector<double> begins;
  TrainOptions options{.width = width,
                       .loss = {LossKind::hinge},
                       .regulariser = regulariser,
                       .lambda = 0.01,
                       .rate = 0.01,
                       .steps = benchmark.settings.repeats + 1,
                       .precision = Precision::f32,
                       .records = 2};
  options.observer = [&](const TrainStep&) { begins.push_back(now()); };
  const TrainedNetwork trained = train(Network::parse(fmt::format("fc:{}(w_std=1.4142)", hidden_layers)),
                                       {SampleView(x.view(), {1, 1, x.cols()}), y.view()}, options, benchmark.engine);
  if (!trained.summary.finished()) fmt::print("{}\n", trained.summary.message);
  std::vector<double> seconds;
  for (std::size_t i = 1; i < begins.size(); ++i) seconds.push_back(begins[i] - begins[i - 1]);
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

bool run_all(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const Index width = settings.width;
  const double work = step_operations(settings.rows, settings.cols, width);
  fmt::print("Training step, {} hidden layers of {}, n = {}, d = {}, {} threads, float32\n", hidden_layers, width,
             settings.rows, settings.cols, settings.threads);
  fmt::print("{:>12} {:>10} {:>10} {:>10} {:>12} {:>16}\n", "regulariser", "steps/s", "GFLOP/s", "sgemm", "of sgemm",
             "GB/s of weights");
  for (const Regulariser regulariser : {Regulariser::none, Regulariser::init}) {
    const double product = product_rate(std::clamp<Index>(width, 64, 2048), benchmark.engine);
    const std::vector<double> seconds = step_seconds(benchmark, width, regulariser);
    const double median = seconds[seconds.size() / 2];
    // Weights are read forward and backward, read and written by the update, and w₀ is read with Regulariser::init.
    const double passes = regulariser == Regulariser::init ? 5 : 4;
    const double bytes = passes * 4.0 * static_cast<double>(width) * static_cast<double>(width);
    fmt::print("{:>12} {:>10.3f} {:>10.1f} {:>10.1f} {:>11.0f}% {:>16.2f}\n", to_string(regulariser), 1 / median,
               work / median / 1e9, product / 1e9, 100 * work / median / product, bytes / median / 1e9);
  }
  return true;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Training step of a wide network, compared with sgemm",
                                         {.rows = 128, .width = 10000}, widelimit::bench::run_all);
}
