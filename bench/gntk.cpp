// Target 12: the graph NTK of Du et al. on IMDB-B and NCI1 in float64 on two CPU cores, compared with the pairwise
// program in NumPy and SciPy that uses Kronecker products; then whole Gram matrices.

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/file/location.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cstdio>

namespace widelimit::bench {
namespace {

constexpr double target = 50;
/// The peer computes the arc cosine of a rounded ρ, and many nodes have nearly equal neighbourhoods.
constexpr double close_enough = 1e-9;

struct Task {
  const char* set;
  int blocks;
  int layers;
};
constexpr Task tasks[] = {{"IMDBBINARY", 3, 2}, {"NCI1", 13, 2}};

bool run(const Benchmark& benchmark, const Task& task) {
  const std::string file = fmt::format("graphs/{}/{}.txt.gz", task.set, task.set);
  const auto path = find_data_file({file});
  if (!path) {
    fmt::print("{:>12} not found: {}\n", task.set, file);
    return true;
  }
  const Dataset data = load_data(fmt::format("graphs:{}", task.set));
  const auto& all = std::get<Graphs>(data.values);
  const Network network = Network::parse(fmt::format("gntk:{}(mlp={})", task.blocks + 1, task.layers));
  const Index few = std::min(benchmark.settings.rows, all.count());
  const auto kernel = [&](Index count) {
    return std::get<Matrix<double>>(
        gram(network, SampleView(all).part(0, count), {.precision = Precision::f64}, benchmark.engine).ntk);
  };
  Peer peer({benchmark.settings.with_peer ? numpy_python() : "", peer_script("np_gntk.py"), "--graphs", path->string()},
            benchmark.scratch / "log");
  const std::string request = fmt::format("{} {} {}", task.blocks, task.layers, few);
  double error = 0;
  if (peer.present()) {
    const auto kernel_file = benchmark.scratch / "k";
    peer.request(fmt::format("compute {} {}", request, kernel_file.string()));
    error = relative_difference(kernel(few), read_raw<double>(kernel_file, few, few));
    if (!(error <= close_enough)) {
      fmt::print("{:>12} RESULTS DIFFER by {:.1e}; not timed\n", task.set, error);
      return false;
    }
  }
  std::vector<std::function<double()>> clocks{[&] { return seconds_of([&] { return kernel(few); }); }};
  if (peer.present()) clocks.push_back([&] { return std::stod(peer.request("time " + request)); });
  const auto seconds = medians_in_turn(clocks, benchmark.settings.repeats);
  const auto pairs = [](Index n) { return static_cast<double>(n * (n + 1)) / 2; };
  const bool whole = benchmark.settings.rows > 10;  // in tests, a few graphs are enough
  const double full = whole ? seconds_of([&] { return kernel(all.count()); }) : 0;
  fmt::print("{:>12} {:>7} {:>12.4g} {:>12} {:>9} {:>14} {:>9.1e} {:>10} {:>12} {:>12}\n", task.set, few,
             1e6 * seconds[0] / pairs(few), peer.present() ? fmt::format("{:.4g}", 1e6 * seconds[1] / pairs(few)) : "-",
             peer.present() ? fmt::format("{:.0f}x", seconds[1] / seconds[0]) : "-",
             peer.present() ? verdict_at_least(seconds[1] / seconds[0], target) : "-", error, all.count(),
             whole ? fmt::format("{:.2f}", full) : "-",
             whole ? fmt::format("{:.4g}", 1e6 * full / pairs(all.count())) : "-");
  return true;
}

bool run_all(const Benchmark& benchmark) {
  fmt::print(
      "Graph NTK, degree scaling, jumping knowledge; {}; medians of {} rounds, microseconds for a pair of graphs\n",
      benchmark.engine.description(), benchmark.settings.repeats);
  fmt::print("{:>12} {:>7} {:>12} {:>12} {:>9} {:>14} {:>9} {:>10} {:>12} {:>12}\n", "", "graphs", "widelimit",
             "numpy/scipy", "/ours", "target", "error", "whole set", "seconds", "us a pair");
  bool same = true;
  for (const Task& task : tasks) same &= run(benchmark, task);
  return same;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Graph NTK, compared with NumPy and SciPy",
                                         {.rows = 200, .cols = 1, .repeats = 3}, widelimit::bench::run_all);
}
