// Target 1: the NTK of fully-connected ReLU networks of depth 1, 3 and 10 on 4,000 points with 784 features, symmetric,
// on two processors, beside neural-tangents and beside the products alone (OpenBLAS syrk).

#include "bench/measure.hpp"
#include "bench/peer.hpp"
#include "widelimit/backend/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>
#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <type_traits>

namespace widelimit::bench {
namespace {

struct Settings {
  Index rows = 4000;
  Index cols = 784;
  int repeats = 7;
  int threads = 2;
  bool with_peer = true;
};

struct Depth {
  int hidden;
  double ratio_f32, ratio_f64;  ///< targets: peer's time over ours, 0 where there is none
  double syrk;                  ///< target: our time over that of syrk
};
constexpr Depth depths[] = {{1, 0, 0, 0}, {3, 6, 4, 1.4}, {10, 16, 10, 0}};

/// Compares, then times; false where the answers differ.
template <typename T>
bool run(const Settings& settings, const Matrix<double>& inputs, const Scratch& scratch, const Backend& backend) {
  const bool single = std::is_same_v<T, float>;
  const std::string precision = single ? "f32" : "f64";
  const Matrix<T> x = converted<T>(inputs);
  const SampleView samples(x.view(), Shape{1, 1, settings.cols});
  const GramOptions options{.kind = Kind::ntk, .precision = single ? Precision::f32 : Precision::f64};
  Matrix<T> product(settings.rows, settings.rows);

  Peer peer({settings.with_peer ? WIDELIMIT_PEERS_PYTHON : "", WIDELIMIT_PEERS "/nt_fc.py", "--precision", precision,
             "--input", (scratch / "x").string(), "--rows", std::to_string(settings.rows), "--cols",
             std::to_string(settings.cols)},
            scratch / "log");
  if (!peer.present()) fmt::print("{}: no neural-tangents ({})\n", precision, peer.why_absent());

  bool agree = true;
  for (const Depth& depth : depths) {
    const Network network = Network::parse(fmt::format("fc:{}(w_std={})", depth.hidden, std::sqrt(2.0)));
    double off_diagonal = 0.0;
    double diagonal = 0.0;
    {
      const Gram gram_matrix = gram(network, samples, options, backend);
      const auto ours = std::get<Matrix<T>>(gram_matrix.ntk).view();
      diagonal = diagonal_error<T>(ours, inputs, depth.hidden + 1);
      if (peer.present()) {
        const auto file = scratch / "kernel";
        peer.ask(fmt::format("compute {} {}", depth.hidden, file.string()));
        off_diagonal = disagreement<T>(ours, read_raw<T>(file, settings.rows, settings.rows).view());
      }
    }
    if (!(off_diagonal <= tolerance<T>) || !(diagonal <= tolerance<T>)) {
      fmt::print(
          "{} depth {}: ANSWERS DIFFER: {:.1e} from the peer, {:.1e} from the diagonal's closed form; not timed\n",
          precision, depth.hidden, off_diagonal, diagonal);
      agree = false;
      continue;
    }
    std::vector<std::function<double()>> clocks{
        [&] { return seconds_of([&] { return gram(network, samples, options, backend); }); },
        [&] { return syrk_seconds<T>(x, product, settings.threads); }};
    if (peer.present()) clocks.push_back([&] { return std::stod(peer.ask(fmt::format("time {}", depth.hidden))); });
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

int main_of(int argc, char** argv) {
  Settings settings;
  CLI::App app("NTK of fully-connected ReLU networks beside neural-tangents and syrk");
  app.add_option("--rows", settings.rows, "points")->check(CLI::Range(2, 20000))->capture_default_str();
  app.add_option("--cols", settings.cols, "features")->check(CLI::Range(1, 20000))->capture_default_str();
  app.add_option("--repeats", settings.repeats, "rounds of timing")->check(CLI::Range(1, 100))->capture_default_str();
  app.add_flag("!--no-peer", settings.with_peer, "only the multiple of syrk");
  CLI11_PARSE(app, argc, argv);

  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a row is there as soon as it is known, also in a file
  use_processors(settings.threads);
  const Scratch scratch;
  const Matrix<double> inputs = normal_inputs(settings.rows, settings.cols);
  write_raw(scratch / "x", inputs);
  const auto backend = make_backend("cpu", {.threads = settings.threads});
  fmt::print("FC ReLU NTK, n = {}, d = {}, symmetric; {}; medians of {} rounds, milliseconds\n", settings.rows,
             settings.cols, backend->description(), settings.repeats);
  fmt::print("{:>5} {:>6} {:>10} {:>10} {:>10} {:>8} {:>16} {:>11} {:>14} {:>9} {:>9}\n", "", "depth", "widelimit",
             "syrk", "nt", "nt/ours", "target", "ours/syrk", "target", "error", "diagonal");
  const bool single = run<float>(settings, inputs, scratch, *backend);
  const bool twice = run<double>(settings, inputs, scratch, *backend);
  return single && twice ? 0 : 1;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  try {
    return widelimit::bench::main_of(argc, argv);
  } catch (const std::exception& error) {
    fmt::print(stderr, "fc_ntk: {}\n", error.what());
    return 1;
  }
}
