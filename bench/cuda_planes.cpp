// Targets 5 and 6 on one NVIDIA GPU: kernels of convolutional networks by displacement planes. Answers are compared
// with the cpu engine in float64 first; a network whose answers differ is not timed. Prints microseconds per pair, the
// ratio to neural-tangents 0.6.5 on an H200 (measured once, float32), and the fraction of the time that the operations
// of a layer take at the full issue rate of the device.
//
// usage: cuda_planes [images [repeats]]

#include "widelimit/base/random.hpp"
#include "widelimit/engine/cuda/plane/plane_path.hpp"
#include "widelimit/engine/cuda/plugin/plane/cuda_plane_device.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <cuda_runtime_api.h>
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace widelimit::bench {
namespace {

/// Arithmetic of one element of a plane in one layer [register_plane.cuh]: 4 × 1.5 additions of the window, 3 special
/// functions, 5 of the polynomial, 11 others.
constexpr double operations = 25;

struct Workload {
  const char* network;
  Shape shape;
  Precision precision;
  double peer;      ///< µs per pair of neural-tangents, 0 where unknown
  double wanted;    ///< ratio, rectangular
  double elements;  ///< of planes, times layers
  Index images;     ///< on each side
};

constexpr double full = 32.0 * 32 * 32 * 32;
const Workload workloads[] = {
    {"cntk:20(readout=pool)", {32, 32, 3}, Precision::f32, 441, 14, 20 * full, 32},
    {"cntk:10(readout=flatten)", {32, 32, 3}, Precision::f32, 0.10, 5, 10 * 1024.0, 2048},
    {"myrtle5", {32, 32, 3}, Precision::f32, 156, 20, 2 * full + full / 16 + full / 256, 32},
    {"myrtle10", {32, 32, 3}, Precision::f32, 261, 20, 3 * full + 3 * full / 16 + 3 * full / 256, 32},
    {"cntk:5(readout=pool)", {28, 28, 1}, Precision::f32, 0, 0, 5 * 614656.0, 32},
    {"cntk:5(readout=pool)", {32, 32, 3}, Precision::f64, 0, 0, 5 * full, 8},
    {"cntk:5(readout=pool,b_std=0.1)", {32, 32, 3}, Precision::f32, 0, 0, 5 * full, 8},
    {"conv residual{ relu conv } relu conv(strides=2x2) residual{ relu conv } relu global_avg_pool dense",
     {32, 32, 3},
     Precision::f32,
     0,
     0,
     0,
     8},
    {"cntk:3(readout=pool)", {48, 40, 3}, Precision::f32, 0, 0, 3 * 3686400.0, 4},
    {"cntk:20(readout=flatten)", {64, 64, 3}, Precision::f32, 0, 0, 20 * 4096.0, 64},
    {"myrtle5", {32, 32, 3}, Precision::f64, 0, 0, 0, 8},
};

/// Smooth images with noise: neighbours are alike, as in photographs.
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
        const double y = static_cast<double>(p / shape.width) / static_cast<double>(shape.height);
        const double z = static_cast<double>(p % shape.width) / static_cast<double>(shape.width);
        x(i, p * shape.channels + c) = static_cast<float>(mean + down * y + across * z + 0.5 * random.normal(next++));
      }
    }
  }
  return x;
}

class Run {
 public:
  Run(std::shared_ptr<cuda::PlaneDevice> device, const Workload& workload)
      : device_(std::move(device)),
        network_(Network::parse(workload.network)),
        recipe_(lower(network_, workload.shape, RecipeOutputs::ntk)),
        path_(device_, recipe_, workload.precision),
        workload_(workload) {}

  [[nodiscard]] std::string route() const { return path_.route(); }

  /// Largest difference from the cpu engine, relative to the entry.
  [[nodiscard]] double error(const Engine& engine) const {
    constexpr Index n = 5;
    const Matrix<float> x = images(2 * n, workload_.shape, 1);
    const SampleView first{x.view().block(0, 0, n, x.cols()), workload_.shape};
    const SampleView second{x.view().block(n, 0, n, x.cols()), workload_.shape};
    const GramOptions options{.kind = Kind::ntk, .precision = Precision::f64};
    const auto compare = [&](const Gram& expected, const Matrix<double>& ours) {
      const auto& k = std::get<Matrix<double>>(expected.ntk);
      double worst = 0;
      for (Index i = 0; i < n; ++i) {
        for (Index j = 0; j < n; ++j) {
          const double difference = std::abs(ours(i, j) / k(i, j) - 1);
          if (!(difference <= worst)) worst = difference;
        }
      }
      return worst;
    };
    const cuda::PlaneImages a = path_.load(first, 0, [](Index) {});
    const cuda::PlaneImages b = path_.load(second, 0, [](Index) {});
    Matrix<double> rectangle(n, n);
    Matrix<double> square(n, n);
    fill(a, {0, n}, b, {0, n}, false, rectangle);
    fill(a, {0, n}, a, {0, n}, true, square);
    return std::max(compare(gram(network_, first, second, options, engine), rectangle),
                    compare(gram(network_, first, options, engine), square));
  }

  /// Microseconds per entry of the matrix, median.
  [[nodiscard]] double time(Index n, bool symmetric, int repeats) const {
    const Matrix<float> x = images(n, workload_.shape, 2);
    const cuda::PlaneImages a = path_.load({x.view(), workload_.shape}, 0, [](Index) {});
    cuda::PlaneBuffer out(device_, sizeof(float) * static_cast<std::size_t>(n * n));
    const cuda::PlaneOutput output{out.data(), n, Precision::f32};
    std::vector<double> seconds;
    for (int r = 0; r <= repeats; ++r) {
      const auto begin = std::chrono::steady_clock::now();
      path_.fill(a, {0, n}, a, {0, n}, symmetric, {&output, 1}, [](Index) {});
      const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - begin;
      if (r > 0) seconds.push_back(elapsed.count());
    }
    std::sort(seconds.begin(), seconds.end());
    return 1e6 * seconds[seconds.size() / 2] / static_cast<double>(n * n);
  }

 private:
  void fill(const cuda::PlaneImages& a, Range rows, const cuda::PlaneImages& b, Range cols, bool symmetric,
            Matrix<double>& to) const {
    const std::size_t bytes = sizeof(double) * static_cast<std::size_t>(to.rows() * to.cols());
    cuda::PlaneBuffer out(device_, bytes);
    const cuda::PlaneOutput output{out.data(), to.cols(), Precision::f64};
    path_.fill(a, rows, b, cols, symmetric, {&output, 1}, [](Index) {});
    device_->download(out.data(), bytes, to.data());
  }

  std::shared_ptr<cuda::PlaneDevice> device_;
  Network network_;
  Recipe recipe_;
  cuda::PlanePath path_;
  const Workload& workload_;
};

int run(Index scale, int repeats, const std::string& only) {
  cudaDeviceProp facts{};
  int clock = 0;
  cudaGetDeviceProperties(&facts, 0);
  cudaDeviceGetAttribute(&clock, cudaDevAttrClockRate, 0);
  const double rate = 128.0 * facts.multiProcessorCount * clock * 1e3;  // operations per second
  fmt::print("{}, {} multiprocessors, {:.0f} MHz\n", facts.name, facts.multiProcessorCount, clock / 1e3);
  fmt::print("{:>9} {:>10} {:>10} {:>8} {:>8} {:>8} {:>9}  network\n", "error", "us/pair", "symmetric", "ratio",
             "wanted", "floor", "of floor");
  const std::shared_ptr<cuda::PlaneDevice> device(cuda::make_cuda_plane_device());
  const auto engine = make_engine("cpu");
  bool agree = true;
  for (const Workload& workload : workloads) {
    if (!only.empty() && only != workload.network) continue;
    std::fflush(stdout);
    const Run run(device, workload);
    const double error = run.error(*engine);
    const bool right = error <= (workload.precision == Precision::f32 ? 1e-5 : 1e-11);
    agree = agree && right;
    if (!right) {
      fmt::print("{:>9.1e} ANSWERS DIFFER; not timed: {}\n", error, workload.network);
      continue;
    }
    const Index n = workload.images * scale;
    const double rectangular = run.time(n, false, repeats);
    const double symmetric = run.time(n, true, repeats);
    const double floor = 1e6 * workload.elements * operations / rate;
    fmt::print("{:>9.1e} {:>10.4f} {:>10.4f} {:>8} {:>8} {:>8.4f} {:>9}  {} on {}, {}; {}\n", error, rectangular,
               symmetric, workload.peer > 0 ? fmt::format("{:.1f}x", workload.peer / rectangular) : "-",
               workload.wanted > 0 ? fmt::format("{:.0f}x", workload.wanted) : "-", floor,
               floor > 0 ? fmt::format("{:.0f} %", 100 * floor / rectangular) : "-", workload.network,
               to_string(workload.shape), to_string(workload.precision), run.route());
  }
  return agree ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run(argc > 1 ? std::atol(argv[1]) : 1, argc > 2 ? std::atoi(argv[2]) : 5,
                               argc > 3 ? argv[3] : "");
}
