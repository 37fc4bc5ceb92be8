// Kernels of convolutional networks on an NVIDIA device. Results are first compared with the CPU in float64; a network
// whose results differ is not timed. Prints microseconds per pair, the ratio to neural-tangents 0.6.5 on an H200
// (measured once, float32), and plane elements times layers per second.

#include "bench/cuda.hpp"

#include "bench/measure.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <algorithm>

namespace widelimit::bench {
namespace {

struct Workload {
  const char* network;
  Shape shape;
  Precision precision;
  double peer;      ///< µs per pair of neural-tangents, 0 if unknown
  double target;    ///< ratio to the peer for all pairs; twice as much for a symmetric matrix
  double floor;     ///< lower bound in µs per pair on an H200: necessary operations in every issue slot; 0: unknown
  double elements;  ///< plane elements times layers; 0 if not counted
  Index images;     ///< images per side
};

constexpr double full = 32.0 * 32 * 32 * 32;
const Workload workloads[] = {
    {"cntk:20(readout=pool)", {32, 32, 3}, Precision::f32, 441, 14, 22, 20 * full, 32},
    {"cntk:10(readout=flatten)", {32, 32, 3}, Precision::f32, 0.10, 5, 0.011, 10 * 1024.0, 2048},
    {"myrtle5", {32, 32, 3}, Precision::f32, 156, 20, 0, 2 * full + full / 16 + full / 256, 32},
    {"myrtle10", {32, 32, 3}, Precision::f32, 261, 20, 0, 3 * full + 3 * full / 16 + 3 * full / 256, 32},
    {"cntk:5(readout=pool)", {28, 28, 1}, Precision::f32, 0, 0, 0, 5 * 614656.0, 32},
    {"cntk:5(readout=pool)", {32, 32, 3}, Precision::f64, 0, 0, 0, 5 * full, 8},
    {"cntk:5(readout=pool,b_std=0.1)", {32, 32, 3}, Precision::f32, 0, 0, 0, 5 * full, 8},
    {"conv residual{ relu conv } relu conv(strides=2x2) residual{ relu conv } relu global_avg_pool dense",
     {32, 32, 3},
     Precision::f32,
     0,
     0,
     0,
     0,
     8},
    {"cntk:3(readout=pool)", {48, 40, 3}, Precision::f32, 0, 0, 0, 3 * 3686400.0, 4},
    {"cntk:20(readout=flatten)", {64, 64, 3}, Precision::f32, 0, 0, 0, 20 * 4096.0, 64},
    {"myrtle5", {32, 32, 3}, Precision::f64, 0, 0, 0, 0, 8},
    // All pairs of places, which planes do not support.
    {"conv erf conv erf conv erf conv erf conv erf global_avg_pool dense", {32, 32, 3}, Precision::f64, 0, 0, 0, 0, 8},
    {"conv erf conv erf conv erf conv erf conv erf flatten dense", {32, 32, 3}, Precision::f64, 0, 0, 0, 0, 256},
    {"conv relu avg_pool conv relu avg_pool attention conv relu flatten dense",
     {32, 32, 3},
     Precision::f32,
     0,
     0,
     0,
     0,
     8},
};

/// Smooth images with noise: neighbouring pixels are correlated, as in photographs.
Matrix<float> images(Index count, const Shape& shape, std::uint64_t seed) {
  Matrix<float> x(count, shape.size());
  const Random random(seed);
  std::uint64_t next = 0;
  for (Index i = 0; i < count; ++i) {
    for (Index c = 0; c < shape.channels; ++c) {
      const double mean = random.normal(next++);
      const double down = random.normal(next++);
      const double across = random.normal(next++);
      for (Index p = 0; p < shape.height * shape.width; ++p) {
        const Index row = p / shape.width;
        const double y = static_cast<double>(row) / static_cast<double>(shape.height);
        const double z = static_cast<double>(p - row * shape.width) / static_cast<double>(shape.width);
        x(i, p * shape.channels + c) = static_cast<float>(mean + down * y + across * z + 0.5 * random.normal(next++));
      }
    }
  }
  return x;
}

class Run {
 public:
  Run(const Engine& engine, const Workload& workload)
      : engine_(engine),
        network_(Network::parse(workload.network)),
        recipe_(lower(network_, workload.shape, RecipeOutputs::ntk)),
        workload_(workload) {}

  [[nodiscard]] std::string route() const { return engine_.kernels().route(recipe_, workload_.precision); }

  /// Largest relative difference from the CPU.
  [[nodiscard]] double error() const {
    constexpr Index n = 5;
    const Matrix<float> x = images(2 * n, workload_.shape, 1);
    const SampleView first{x.view().block(0, 0, n, x.cols()), workload_.shape};
    const SampleView second{x.view().block(n, 0, n, x.cols()), workload_.shape};
    const GramOptions ours{.kind = Kind::ntk, .precision = workload_.precision};
    const GramOptions exact{.kind = Kind::ntk, .precision = Precision::f64};
    const Engine& cpu = all_processors();
    return std::max(compare(gram(network_, first, second, ours, engine_), gram(network_, first, second, exact, cpu)),
                    compare(gram(network_, first, ours, engine_), gram(network_, first, exact, cpu)));
  }

  /// Median of microseconds per entry of the matrix.
  [[nodiscard]] double time(bool symmetric, int repeats) const {
    const Index n = workload_.images;
    const Matrix<float> x = images(n, workload_.shape, 2);
    const Kernels& kernels = engine_.kernels();
    const auto loaded = kernels.load(recipe_, {x.view(), workload_.shape}, workload_.precision, [](Index) {});
    const EngineMatrix out = engine_.algebra().allocate(n, n, workload_.precision);
    std::vector<double> seconds;
    for (int r = 0; r <= repeats; ++r) {
      seconds.push_back(seconds_of([&] {
        kernels.fill(recipe_, *loaded, {0, n}, *loaded, {0, n}, symmetric, {&out, 1}, [](Index) {});
        return 0;
      }));
    }
    seconds.erase(seconds.begin());  // warm-up: CUDA loads code on the first run
    std::sort(seconds.begin(), seconds.end());
    return 1e6 * seconds[seconds.size() / 2] / static_cast<double>(n * n);
  }

 private:
  [[nodiscard]] static double compare(const Gram& ours, const Gram& exact) {
    const auto& expected = std::get<Matrix<double>>(exact.ntk);
    return std::visit([&](const auto& found) { return relative_difference(found, expected); }, ours.ntk);
  }

  const Engine& engine_;
  Network network_;
  Recipe recipe_;
  const Workload& workload_;
};

}  // namespace

bool planes(const Engine& engine, const std::string& only, int repeats) {
  const auto named = [&](const Workload& workload) { return only.empty() || only == workload.network; };
  if (std::ranges::none_of(workloads, named)) {
    fail(Code::usage, "'{}' is none of the networks of this benchmark; without --network it lists them", only);
  }
  fmt::print("{:>9} {:>10} {:>8} {:>8} {:>10} {:>8} {:>8} {:>9} {:>9}  network\n", "error", "us/pair", "ratio",
             "target", "symmetric", "ratio", "target", "of floor", "G/s");
  bool agree = true;
  for (const Workload& workload : workloads) {
    if (!named(workload)) continue;
    const Run run(engine, workload);
    const double error = run.error();
    const bool right = error <= (workload.precision == Precision::f32 ? 1e-5 : 1e-11);
    agree = agree && right;
    if (!right) {
      fmt::print("{:>9.1e} RESULTS DIFFER; not timed: {}\n", error, workload.network);
      continue;
    }
    const double rectangular = run.time(false, repeats);
    const double symmetric = run.time(true, repeats);
    const auto ratio = [](double value, int digits) {
      return value > 0 ? fmt::format("{:.{}f}x", value, digits) : std::string("-");
    };
    // The peer computes all pairs of a symmetric matrix.
    fmt::print("{:>9.1e} {:>10.4f} {:>8} {:>8} {:>10.4f} {:>8} {:>8} {:>9} {:>9}  {} on {}, {}; {}\n", error,
               rectangular, ratio(workload.peer / rectangular, 1), ratio(workload.target, 0), symmetric,
               ratio(workload.peer / symmetric, 1), ratio(2 * workload.target, 0),
               workload.floor > 0 ? fmt::format("{:.0f} %", 100 * workload.floor / rectangular) : "-",
               workload.elements > 0 ? fmt::format("{:.0f}", 1e-3 * workload.elements / rectangular) : "-",
               workload.network, to_string(workload.shape), to_string(workload.precision), run.route());
  }
  return agree;
}

}  // namespace widelimit::bench
