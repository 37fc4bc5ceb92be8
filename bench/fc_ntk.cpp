// The NTK of fully-connected ReLU networks of depth 1, 3 and 10 on 4,000 points with 784 features, symmetric,
// on two CPU cores, compared with neural-tangents and with the products alone (OpenBLAS syrk).

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <cmath>
#include <cstdio>
#include <type_traits>

namespace widelimit::bench {
namespace {

struct Depth {
  int hidden;
  double ratio_f32, ratio_f64;  ///< targets: peer's time over ours, 0 if there is none
  double syrk;                  ///< target: our time over that of syrk
};
constexpr Depth depths[] = {{1, 0, 0, 0}, {3, 6, 4, 1.4}, {10, 16, 10, 0}};

/// Compares, then times; returns false if the results differ.
template <typename T>
bool run(const Benchmark& benchmark) {
  const Settings& settings = benchmark.settings;
  const Matrix<double>& inputs = benchmark.inputs;
  const Scratch& scratch = benchmark.scratch;
  const Engine& engine = benchmark.engine;
  const bool single = std::is_same_v<T, float>;
  const std::string precision = single ? "f32" : "f64";
  const Matrix<T> x = converted<T>(inputs);
  const SampleView samples(x.view(), Shape{1, 1, settings.cols});
  const GramOptions options{.kind = Kind::ntk, .precision = single ? Precision::f32 : Precision::f64};
  Matrix<T> product(settings.rows, settings.rows);

  Peer peer(
      {settings.with_peer ? peers_python() : "", peer_script("nt_fc.py"), "--precision", precision, "--input",
       (scratch / "x").string(), "--rows", std::to_string(settings.rows), "--cols", std::to_string(settings.cols)},
      scratch / "log");
  if (!peer.present()) fmt::print("{}: no neural-tangents ({})\n", precision, peer.why_absent());

  bool agree = true;
  for (const Depth& depth : depths) {
    const Network network = Network::parse(fmt::format("fc:{}(w_std={})", depth.hidden, std::sqrt(2.0)));
    double off_diagonal = 0.0;
    double diagonal = 0.0;
    {
      const Gram gram_matrix = gram(network, samples, options, engine);
      const auto ours = std::get<Matrix<T>>(gram_matrix.ntk).view();
      diagonal = diagonal_error<T>(ours, inputs, depth.hidden + 1);
      if (peer.present()) {
        const auto file = scratch / "kernel";
        peer.request(fmt::format("compute {} {}", depth.hidden, file.string()));
        off_diagonal = disagreement<T>(ours, read_raw<T>(file, settings.rows, settings.rows).view());
      }
    }
    if (!(off_diagonal <= tolerance<T>) || !(diagonal <= tolerance<T>)) {
      fmt::print(
          "{} depth {}: RESULTS DIFFER: {:.1e} from the peer, {:.1e} from the diagonal's closed form; not timed\n",
          precision, depth.hidden, off_diagonal, diagonal);
      agree = false;
      continue;
    }
    std::vector<std::function<double()>> clocks{
        [&] { return seconds_of([&] { return gram(network, samples, options, engine); }); },
        [&] { return syrk_seconds<T>(x, product, settings.threads); }};
    if (peer.present()) clocks.push_back([&] { return std::stod(peer.request(fmt::format("time {}", depth.hidden))); });
    const auto seconds = medians_in_turn(clocks, settings.repeats);
    const double multiple = seconds[0] / seconds[1];
    const double ratio = peer.present() ? seconds[2] / seconds[0] : 0.0;
    fmt::print("{:>5} {:>6} {:>10.1f} {:>10.1f} {:>10} {:>8} {:>16} {:>10.2f}x {:>14} {:>9.1e} {:>9.1e}\n", precision,
               depth.hidden, 1e3 * seconds[0], 1e3 * seconds[1],
               peer.present() ? fmt::format("{:.1f}", 1e3 * seconds[2]) : "-",
               peer.present() ? fmt::format("{:.1f}x", ratio) : "-",
               peer.present() ? verdict_at_least(ratio, single ? depth.ratio_f32 : depth.ratio_f64) : "-", multiple,
               verdict_at_most(multiple, depth.syrk), off_diagonal, diagonal);
  }
  return agree;
}

bool run_all(const Benchmark& benchmark) {
  fmt::print("FC ReLU NTK, n = {}, d = {}, symmetric; {}; medians of {} rounds, milliseconds\n",
             benchmark.settings.rows, benchmark.settings.cols, benchmark.engine.description(),
             benchmark.settings.repeats);
  fmt::print("{:>5} {:>6} {:>10} {:>10} {:>10} {:>8} {:>16} {:>11} {:>14} {:>9} {:>9}\n", "", "depth", "widelimit",
             "syrk", "nt", "nt/ours", "target", "ours/syrk", "target", "error", "diagonal");
  const bool single = run<float>(benchmark);
  const bool twice = run<double>(benchmark);
  return single && twice;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv,
                                         "NTK of fully-connected ReLU networks, compared with neural-tangents and syrk",
                                         {.rows = 4000}, widelimit::bench::run_all);
}
