// Empirical tangent kernel of a fully-connected ReLU network from the factors of its gradients, compared with the
// product of Jacobians by torch.func for the same weights.

#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "bench/weight_files.hpp"
#include "widelimit/base/parallel.hpp"

#include <fmt/core.h>

#include <cmath>
#include <type_traits>

namespace widelimit::bench {
namespace {

constexpr Index hidden_layers = 3;

/// Compares, then times; returns false if the results differ.
template <typename T>
bool run(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const std::string precision = std::is_same_v<T, float> ? "f32" : "f64";
  const Shape shape{1, 1, settings.cols};
  const auto architecture = Architecture::make(
      Network::parse(fmt::format("fc:{}(w_std={})", hidden_layers, std::sqrt(2.0))), shape, {.hidden = settings.width});
  const auto parameters = draw_parameters<T>(architecture, 1, benchmark.engine);
  const Matrix<T> inputs = converted<T>(benchmark.inputs);
  const Tensor<T> x = read_samples<T>(SampleView(inputs.view(), shape), shape);
  const auto ours = [&] { return empirical_ntk(architecture, parameters, x, x, {}, benchmark.engine); };

  std::vector<std::string> command{settings.with_peer ? peers_python() : "",
                                   peer_script("torch_empirical_ntk.py"),
                                   "--precision",
                                   precision,
                                   "--input",
                                   (benchmark.scratch / "x").string(),
                                   "--rows",
                                   std::to_string(settings.rows),
                                   "--cols",
                                   std::to_string(settings.cols),
                                   "--width",
                                   std::to_string(settings.width),
                                   "--weights"};
  for (const std::string& file : write_weights(benchmark.scratch, parameters)) command.push_back(file);
  Peer peer(command, benchmark.scratch / "log");
  if (!peer.present()) fmt::print("{}: no PyTorch ({})\n", precision, peer.why_absent());

  double error = 0;
  if (peer.present()) {
    const auto file = benchmark.scratch / "kernel";
    peer.request(fmt::format("compute kernel {}", file.string()));
    const Matrix<T> kernel = ours();
    error = disagreement<T>(kernel.view(), read_raw<T>(file, settings.rows, settings.rows).view());
  }
  if (!(error <= 10 * tolerance<T>)) {  // sums over a whole network, not a single product
    fmt::print("{}: RESULTS DIFFER by {:.1e}; not timed\n", precision, error);
    return false;
  }
  std::vector<std::function<double()>> clocks{[&] { return seconds_of(ours); }};
  if (peer.present()) clocks.push_back([&] { return std::stod(peer.request("time kernel")); });
  const auto seconds = medians_in_turn(clocks, settings.repeats);
  const double ratio = peer.present() ? seconds[1] / seconds[0] : 0.0;
  fmt::print("{:>5} {:>12.1f} {:>14} {:>10} {:>14} {:>9.1e}\n", precision, 1e3 * seconds[0],
             peer.present() ? fmt::format("{:.1f}", 1e3 * seconds[1]) : "-",
             peer.present() ? fmt::format("{:.1f}x", ratio) : "-", peer.present() ? verdict_at_least(ratio, 20) : "-",
             error);
  return true;
}

bool run_all(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  fmt::print("Empirical NTK, {} hidden layers of {}, n = {}, d = {}, {} threads; medians of {} rounds, milliseconds\n",
             hidden_layers, settings.width, settings.rows, settings.cols, settings.threads, settings.repeats);
  fmt::print("{:>5} {:>12} {:>14} {:>10} {:>14} {:>9}\n", "", "widelimit", "Jacobians", "/ours", "target", "error");
  const bool single = run<float>(benchmark);
  const bool twice = run<double>(benchmark);
  return single && twice;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Empirical NTK, compared with the product of Jacobians in PyTorch",
                                         {.rows = 512, .width = 2048, .repeats = 3}, widelimit::bench::run_all);
}
