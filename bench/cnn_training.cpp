// A training step of a convolutional ReLU network on images of 32 x 32 x 3 in float32: its convolutions compared with
// sgemm on the same machine, and the whole step compared with PyTorch for the same weights.

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/finite/layers/convolution.hpp"
#include "widelimit/finite/training/train.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <fstream>

namespace widelimit::bench {
namespace {

constexpr Index classes = 10;
constexpr double rate = 1e-4;
constexpr Index compared_steps = 5;
const Shape image{32, 32, 3};

/// Four 3 x 3 convolutions; the last two have half the side length and twice the channels.
Network cnn() {
  return Network::parse(
      "conv(b_std=1) relu conv(b_std=1) relu avg_pool conv(b_std=1) relu conv(b_std=1) relu avg_pool "
      "global_avg_pool dense(b_std=1)");
}

std::vector<Index> layer_widths(Index width) { return {width, width, 2 * width, 2 * width}; }

TrainOptions step_options(Index width) {
  TrainOptions options;
  options.layer_widths = layer_widths(width);
  options.parameterisation = Parameterisation::standard;
  options.initialisation = Initialisation::pytorch;
  options.loss = {LossKind::softmax};
  options.regulariser = Regulariser::none;
  options.rate = rate;
  options.precision = Precision::f32;
  options.records = 2;
  return options;
}

Matrix<double> targets_of(Index samples) {
  Matrix<double> y(samples, classes);
  for (Index i = 0; i < samples; ++i) y(i, i % classes) = 1;
  return y;
}

/// Returns the seconds of each step in ascending order, measured between calls of the observer at the start of steps.
std::vector<double> step_seconds(const TrainData& data, Index width, int steps, const Engine& engine) {
  std::vector<std::chrono::steady_clock::time_point> begins;
  TrainOptions options = step_options(width);
  options.steps = steps + 1;
  options.keep_record = false;
  options.observer = [&](const TrainStep&) { begins.push_back(std::chrono::steady_clock::now()); };
  (void)train(cnn(), data, options, engine);
  std::vector<double> seconds;
  for (std::size_t i = 1; i < begins.size(); ++i) {
    seconds.push_back(std::chrono::duration<double>(begins[i] - begins[i - 1]).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds;
}

/// Rates of a single convolution: forward, backward, and weight gradient.
struct ConvolutionRates {
  double forward = 0;
  double back = 0;
  double weights = 0;
};

/// Returns the operations per second of a convolution of `width` to `width` channels.
ConvolutionRates convolution_rates(Index samples, Index width, int repeats, const Engine& engine) {
  const Shape shape{image.height, image.width, width};
  const WeightSlot slot{.fan_in = 9 * width, .fan_out = width};
  const Windows windows(shape, {3, 3}, {1, 1}, Padding::same);
  Weights<float> weights;
  weights.w = std::vector<float>(static_cast<std::size_t>(slot.fan_in * slot.fan_out), 0.01F);
  Tensor<float> in(samples, shape);
  std::fill_n(in.data(), in.size(), 1.0F);
  Tensor<float> out;
  Tensor<float> back;
  Tensor<float> patches;
  Matrix<float> gradient(slot.fan_in, slot.fan_out);
  const auto best = [&](const auto& work) {
    double least = std::numeric_limits<double>::infinity();
    for (int k = 0; k < repeats; ++k) least = std::min(least, seconds_of([&] { return work(), 0; }));
    return 2.0 * static_cast<double>(in.rows()) * static_cast<double>(slot.fan_in * slot.fan_out) / least;
  };
  ConvolutionRates rates;
  rates.forward = best([&] { convolve(slot, weights, windows, in, patches, out, engine); });
  rates.back = best([&] { convolve_signal(slot, weights, windows, shape, out, patches, back, engine); });
  rates.weights = best([&] { add_filter_gradient(windows, in, out, gradient.view(), engine); });
  return rates;
}

void print_convolutions(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const double product = product_rate(1024, benchmark.engine);
  const ConvolutionRates rates = convolution_rates(settings.rows, settings.width, settings.repeats, benchmark.engine);
  fmt::print("Convolution of {} to {} channels, {} images, {} threads, float32; sgemm {:.0f} GFLOP/s\n", settings.width,
             settings.width, settings.rows, settings.threads, product / 1e9);
  const auto line = [&](const char* what, double operations) {
    fmt::print("{:>16} {:>8.0f} GFLOP/s {:>6.0f}% of sgemm  {}\n", what, operations / 1e9, 100 * operations / product,
               verdict_at_least(operations / product, 0.6));
  };
  line("forward", rates.forward);
  line("back", rates.back);
  line("into weights", rates.weights);
}

/// Writes the initial weights to files for the peer.
std::vector<std::string> write_start(const Scratch& scratch, const TrainedNetwork& trained) {
  std::vector<std::string> files;
  const auto& start = std::get<Parameters<float>>(trained.start);
  for (std::size_t l = 0; l < start.slots.size(); ++l) {
    files.push_back((scratch / fmt::format("w{}", l)).string());
    std::ofstream file(files.back(), std::ios::binary);
    for (const Values<float>* part : {&start.slots[l].w, &start.slots[l].b}) {
      file.write(reinterpret_cast<const char*>(part->data()),
                 static_cast<std::streamsize>(part->size() * sizeof(float)));
    }
  }
  return files;
}

/// Largest difference of two outputs relative to the largest entry.
double difference(const Matrix<float>& theirs, const Matrix<double>& ours) {
  double apart = 0;
  double largest = 0;
  for (Index i = 0; i < ours.rows() * ours.cols(); ++i) {
    apart = std::max(apart, std::abs(static_cast<double>(theirs.data()[i]) - ours.data()[i]));
    largest = std::max(largest, std::abs(ours.data()[i]));
  }
  return apart / largest;
}

bool run_all(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  print_convolutions(benchmark);
  const Matrix<double> y = targets_of(settings.rows);
  const TrainData data{SampleView(benchmark.inputs.view(), image), y.view()};
  TrainOptions options = step_options(settings.width);
  options.steps = compared_steps;
  const TrainedNetwork trained = train(cnn(), data, options, benchmark.engine);

  std::vector<std::string> command{settings.with_peer ? peers_python() : "",
                                   peer_script("torch_cnn_training.py"),
                                   "--precision",
                                   "f32",
                                   "--input",
                                   (benchmark.scratch / "x").string(),
                                   "--rows",
                                   std::to_string(settings.rows),
                                   "--threads",
                                   std::to_string(settings.threads),
                                   "--rate",
                                   fmt::format("{}", rate),
                                   "--width",
                                   std::to_string(settings.width),
                                   "--weights"};
  for (const std::string& file : write_start(benchmark.scratch, trained)) command.push_back(file);
  Peer peer(command, benchmark.scratch / "log");
  if (!peer.present()) fmt::print("no PyTorch ({})\n", peer.why_absent());
  fmt::print("Step of a network of four convolutions ({}, {}, {}, {} channels), a batch of {}; milliseconds\n",
             settings.width, settings.width, 2 * settings.width, 2 * settings.width, settings.rows);
  const auto ours = [&] { return step_seconds(data, settings.width, 3, benchmark.engine)[1]; };
  if (!peer.present()) {
    fmt::print("widelimit {:.1f}\n", 1e3 * medians_in_turn({ours}, settings.repeats)[0]);
    return true;
  }
  const auto file = benchmark.scratch / "outputs";
  peer.request(fmt::format("compute first {} {}", compared_steps, file.string()));
  const double error =
      difference(read_raw<float>(file, settings.rows, classes), predict_outputs(trained, data.x, benchmark.engine));
  if (!(error <= 100 * tolerance<float>)) {  // error accumulated over several steps of a deep network
    fmt::print("RESULTS DIFFER by {:.1e}; not timed\n", error);
    return false;
  }
  std::vector<std::function<double()>> clocks{ours};
  for (const char* layout : {"first", "last"}) {
    clocks.emplace_back([&, layout] { return std::stod(peer.request(fmt::format("time {} 3", layout))) / 3; });
  }
  const auto seconds = medians_in_turn(clocks, settings.repeats);
  const double ratio = std::min(seconds[1], seconds[2]) / seconds[0];
  fmt::print("{:>12} {:>22} {:>22} {:>8} {:>14} {:>9}\n", "widelimit", "PyTorch, channels first", "channels last",
             "/ours", "target", "error");
  fmt::print("{:>12.1f} {:>22.1f} {:>22.1f} {:>7.2f}x {:>14} {:>9.1e}\n", 1e3 * seconds[0], 1e3 * seconds[1],
             1e3 * seconds[2], ratio, verdict_at_least(ratio, 1), error);
  return true;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(
      argc, argv, "Training of a convolutional network, compared with sgemm and PyTorch",
      {.rows = 128, .cols = 3072, .width = 64, .repeats = 5}, widelimit::bench::run_all);
}
