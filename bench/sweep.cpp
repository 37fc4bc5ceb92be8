// All depths and frozen prefixes of a fully-connected ReLU network with 0 … 4 hidden layers, 15 Gram matrices of 2,000
// points, on two CPU cores, compared with NumPy in the order of Arora et al.'s program, which repeats the recursion for
// each number of frozen layers, and in an order that shares it.

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <type_traits>

namespace widelimit::bench {
namespace {

constexpr Index hidden = 4;
constexpr Index kernels = (hidden + 1) * (hidden + 2) / 2;

struct Errors {
  double off_diagonal = 0.0;
  double diagonal = 0.0;
  bool zero_above = true;  ///< matrices with j > i are zero
};

/// `theirs` stacks the matrices with j ≤ i vertically; empty if there is no peer.
template <typename T>
Errors compare(const Sweep& ours, const Matrix<T>& theirs, const Matrix<double>& inputs) {
  const auto stack = std::get<Matrix<T>>(ours.values).view();
  const Index n = inputs.rows();
  Errors errors;
  Index next = 0;
  for (Index i = 0; i <= hidden; ++i) {
    for (Index j = 0; j <= hidden; ++j) {
      const MatrixView<const T> kernel = stack.block((i * (hidden + 1) + j) * n, 0, n, n);
      if (j > i) {
        errors.zero_above &= std::all_of(kernel.data, kernel.data + n * n, [](T value) { return value == 0; });
        continue;
      }
      errors.diagonal = std::max(errors.diagonal, diagonal_error<T>(kernel, inputs, i - j + 1));
      if (theirs.rows() == 0) continue;
      errors.off_diagonal =
          std::max(errors.off_diagonal, disagreement<T>(kernel, theirs.view().block(next++ * n, 0, n, n)));
    }
  }
  return errors;
}

/// Compares, then times; returns false if the results differ.
template <typename T>
bool run(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const Matrix<double>& inputs = benchmark.inputs;
  const Scratch& scratch = benchmark.scratch;
  const Engine& engine = benchmark.engine;
  const bool single = std::is_same_v<T, float>;
  const std::string precision = single ? "f32" : "f64";
  const double target = single ? 20 : 12;
  const Matrix<T> x = converted<T>(inputs);
  const SampleView samples(x.view(), Shape{1, 1, settings.cols});
  const GramOptions options{.kind = Kind::ntk, .precision = single ? Precision::f32 : Precision::f64};
  const Network network = Network::parse(fmt::format("fc:{}(w_std={})", hidden, std::sqrt(2.0)));
  Matrix<T> product(settings.rows, settings.rows);

  Peer peer({settings.with_peer ? numpy_python() : "", peer_script("numpy_sweep.py"), "--precision", precision,
             "--input", (scratch / "x").string(), "--rows", std::to_string(settings.rows), "--cols",
             std::to_string(settings.cols), "--hidden", std::to_string(hidden)},
            scratch / "log");
  if (!peer.present()) fmt::print("{}: no NumPy ({})\n", precision, peer.why_absent());
  Matrix<T> theirs;
  if (peer.present()) {
    const auto file = scratch / "kernels";
    peer.request(fmt::format("compute shared {}", file.string()));
    theirs = read_raw<T>(file, kernels * settings.rows, settings.rows);
  }
  const Errors errors = compare<T>(sweep(network, samples, options, engine), theirs, inputs);
  theirs = {};
  if (!(errors.off_diagonal <= tolerance<T>) || !(errors.diagonal <= tolerance<T>) || !errors.zero_above) {
    fmt::print("{}: RESULTS DIFFER: {:.1e} from the peer, {:.1e} from the diagonal's closed form{}; not timed\n",
               precision, errors.off_diagonal, errors.diagonal, errors.zero_above ? "" : ", not zero for j > i");
    return false;
  }

  std::vector<std::function<double()>> clocks{
      [&] { return seconds_of([&] { return sweep(network, samples, options, engine); }); },
      [&] { return syrk_seconds<T>(x, product, settings.threads); }};
  if (peer.present()) {
    clocks.push_back([&] { return std::stod(peer.request("time prefix")); });
    clocks.push_back([&] { return std::stod(peer.request("time shared")); });
  }
  const auto seconds = medians_in_turn(clocks, settings.repeats);
  fmt::print("{:>5} {:>10.1f} {:>10.1f} {:>10.2f}x", precision, 1e3 * seconds[0], 1e3 * seconds[1],
             seconds[0] / seconds[1]);
  if (peer.present()) {
    fmt::print(" {:>13.1f} {:>8.1f}x {:>16} {:>13.1f} {:>8.1f}x", 1e3 * seconds[2], seconds[2] / seconds[0],
               verdict_at_least(seconds[2] / seconds[0], target), 1e3 * seconds[3], seconds[3] / seconds[0]);
  } else {
    fmt::print(" {:>13} {:>9} {:>16} {:>13} {:>9}", "-", "-", "-", "-", "-");
  }
  fmt::print(" {:>9.1e} {:>9.1e}\n", errors.off_diagonal, errors.diagonal);
  return true;
}

bool run_all(const Benchmark& benchmark) {
  fmt::print("Sweep of {} Gram matrices, n = {}, d = {}; {}; medians of {} rounds, milliseconds\n", kernels,
             benchmark.settings.rows, benchmark.settings.cols, benchmark.engine.description(),
             benchmark.settings.repeats);
  fmt::print("{:>5} {:>10} {:>10} {:>11} {:>13} {:>9} {:>16} {:>13} {:>9} {:>9} {:>9}\n", "", "widelimit", "syrk",
             "ours/syrk", "Arora et al.", "/ours", "target", "numpy shared", "/ours", "error", "diagonal");
  const bool single = run<float>(benchmark);
  const bool twice = run<double>(benchmark);
  return single && twice;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(
      argc, argv, "Sweep over depths and frozen layers of a fully-connected ReLU network, compared with NumPy",
      {.rows = 2000}, widelimit::bench::run_all);
}
