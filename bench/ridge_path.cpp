// Kernel ridge regression for 20 λ with exact leave-one-out predictions, 4,000 samples, 10 targets, on two CPU cores,
// compared with SciPy: a Cholesky factor and an inverse for each λ, by SciPy's functions and by LAPACK's potri, and one
// eigendecomposition for all. Ours computes the duality gap of every machine; the others certify nothing.

#include "widelimit/machine/ridge/ridge_path.hpp"

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/ridge/ridge.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace widelimit::bench {
namespace {

constexpr Index lambda_count = 20;
constexpr Index outputs = 10;
constexpr double target = 6;
/// Methods, as named by the peer.
constexpr std::array<const char*, 3> methods{"inverse", "cholesky", "eigen"};

/// 1e-3 … 1e3, logarithmically spaced, as one column.
Matrix<double> lambda_column() {
  Matrix<double> lambdas(lambda_count, 1);
  for (Index i = 0; i < lambda_count; ++i) {
    lambdas(i, 0) = std::pow(10.0, -3 + 6.0 * static_cast<double>(i) / static_cast<double>(lambda_count - 1));
  }
  return lambdas;
}

/// Smooth functions of a few features, so that samples predict each other.
Matrix<double> smooth_targets(const Matrix<double>& x) {
  Matrix<double> y(x.rows(), outputs);
  for (Index i = 0; i < x.rows(); ++i) {
    for (Index j = 0; j < outputs; ++j) {
      y(i, j) = std::tanh(x(i, j % x.cols()) + 0.5 * x(i, (j + 1) % x.cols()));
    }
  }
  return y;
}

/// Largest difference of the leave-one-out predictions; `expected` stacks those of all λ vertically.
double difference(const RidgePath& path, const Matrix<double>& expected) {
  double largest = 0;
  for (std::size_t l = 0; l < path.points.size(); ++l) {
    const Matrix<double>& ours = path.points[l].left_out;
    for (Index i = 0; i < ours.rows(); ++i) {
      for (Index j = 0; j < outputs; ++j) {
        const double theirs = expected(static_cast<Index>(l) * ours.rows() + i, j);
        largest = std::max(largest, std::abs(ours(i, j) - theirs));
      }
    }
  }
  return largest;
}

/// Check without a peer: compares the coefficients of one λ with our own Cholesky solution.
double self_difference(const RidgePath& path, const Matrix<double>& k, const Matrix<double>& y) {
  const RidgePoint& middle = path.points[path.points.size() / 2];
  const Fit fit = fit_ridge(k.view(), y.view(), {.lambda = middle.lambda});
  double largest = 0;
  double scale = 0;
  for (Index i = 0; i < y.rows(); ++i) {
    for (Index j = 0; j < outputs; ++j) {
      largest = std::max(largest, std::abs(fit.alpha(i, j) - middle.fit.alpha(i, j)));
      scale = std::max(scale, std::abs(fit.alpha(i, j)));
    }
  }
  return largest / scale;
}

bool run(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const Scratch& scratch = benchmark.scratch;
  const SampleView samples(benchmark.inputs.view(), Shape{1, 1, settings.cols});
  const Gram computed = gram(Network::parse("fc:1"), samples, {}, benchmark.engine);
  const auto& k = std::get<Matrix<double>>(computed.ntk);
  const Matrix<double> y = smooth_targets(benchmark.inputs);
  const Matrix<double> lambdas = lambda_column();
  write_raw(scratch / "gram", k);
  write_raw(scratch / "targets", y);
  write_raw(scratch / "lambdas", lambdas);
  const auto ours = [&] {
    return ridge_path({k.view(), benchmark.engine}, y.view(), {lambdas.data(), static_cast<std::size_t>(lambda_count)});
  };

  fmt::print("Ridge path with leave-one-out, n = {}, {} lambdas, {} targets; {}; medians of {} rounds, seconds\n",
             settings.rows, lambda_count, outputs, benchmark.engine.description(), settings.repeats);
  Peer peer({settings.with_peer ? numpy_python() : "", peer_script("scipy_ridge_path.py"), "--gram",
             (scratch / "gram").string(), "--targets", (scratch / "targets").string(), "--lambdas",
             (scratch / "lambdas").string(), "--rows", std::to_string(settings.rows)},
            scratch / "log");
  if (!peer.present()) fmt::print("no SciPy ({})\n", peer.why_absent());
  double error = 0;
  {
    const RidgePath path = ours();
    error = self_difference(path, k, y);
    for (const char* method : methods) {
      if (!peer.present()) continue;
      const auto file = scratch / method;
      peer.request(fmt::format("compute {} {}", method, file.string()));
      error = std::max(error, difference(path, read_raw<double>(file, lambda_count * settings.rows, outputs)));
    }
  }
  if (!(error <= tolerance<double>)) {
    fmt::print("RESULTS DIFFER: {:.1e}; not timed\n", error);
    return false;
  }
  std::vector<std::function<double()>> clocks{[&] { return seconds_of(ours); }};
  for (const char* method : methods) {
    if (peer.present())
      clocks.push_back([&peer, method] { return std::stod(peer.request(fmt::format("time {}", method))); });
  }
  const auto seconds = medians_in_turn(clocks, settings.repeats);
  fmt::print("{:>16} {:>9} {:>8} {:>16}\n", "", "seconds", "/ours", "target");
  fmt::print("{:>16} {:>9.2f}   largest difference {:.1e}\n", "widelimit", seconds[0], error);
  for (std::size_t i = 1; i < seconds.size(); ++i) {
    const double ratio = seconds[i] / seconds[0];
    // The target applies to methods with one inverse per λ.
    const std::string verdict = i <= 2 ? verdict_at_least(ratio, target) : "-";
    fmt::print("{:>16} {:>9.2f} {:>7.1f}x {:>16}\n", fmt::format("SciPy {}", methods[i - 1]), seconds[i], ratio,
               verdict);
  }
  return true;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Path of kernel ridge regressions, compared with SciPy",
                                         {.rows = 4000, .repeats = 3}, widelimit::bench::run);
}
