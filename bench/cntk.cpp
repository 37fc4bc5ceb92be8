// Targets 3 and 4: the NTK of 20 convolutions with ReLU on 32×32×3 images, with global pooling and flatten, in float32
// on two CPU cores, compared with neural-tangents; then Myrtle networks, scaling from one thread to two, and the
// fraction of the lower bound given by the vector instructions of a layer.

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <ctime>

namespace widelimit::bench {
namespace {

constexpr int depth = 20;
/// Vector additions, multiplications and square root per plane element and layer, including window sums: the minimum
/// for the fused loop of plane_rectifier.cpp.
constexpr double operations = 31;

struct Readout {
  const char* name;
  Index ours, peer;  ///< images on each side
  double rectangular, symmetric;
};
constexpr Readout readouts[] = {{"pool", 32, 4, 300, 600}, {"flatten", 256, 256, 60, 120}};

struct Images {
  Matrix<float> values;
  Shape shape;
  [[nodiscard]] SampleView range(Index begin, Index count) const {
    return {values.view().block(begin, 0, count, values.cols()), shape};
  }
};

double cpu_seconds() { return static_cast<double>(std::clock()) / CLOCKS_PER_SEC; }

Peer start_peer(const Benchmark& benchmark, const Images& images, const std::string& precision) {
  return Peer({benchmark.settings.with_peer ? peers_python() : "", peer_script("nt_cntk.py"), "--precision", precision,
               "--input", (benchmark.scratch / "x").string(), "--rows", std::to_string(benchmark.settings.rows),
               "--side", std::to_string(images.shape.height)},
              benchmark.scratch / ("log_" + precision));
}

/// Compares ours in float32 with the peer in float64, for two images against two: in float32, the peer's own mean over
/// a million position pairs has an error of 5e-4.
template <typename Rectangle>
double error_of(const Benchmark& benchmark, const Images& images, const Readout& readout, const Rectangle& rectangle) {
  Peer exact = start_peer(benchmark, images, "f64");
  if (!exact.present()) return 0;
  const auto file = benchmark.scratch / "exact";
  exact.request(fmt::format("compute {} {} 2 {}", readout.name, depth, file.string()));
  const Gram ours = rectangle(2, Precision::f32);
  return relative_difference(std::get<Matrix<float>>(ours.ntk), converted<float>(read_raw<double>(file, 2, 2)));
}

bool compare_and_time(const Benchmark& benchmark, const Images& images, const Readout& readout) {
  const Network network = Network::parse(fmt::format("cntk:{}(readout={})", depth, readout.name));
  const GramOptions options{.kind = Kind::ntk, .precision = Precision::f32};
  const Index half = benchmark.settings.rows / 2;
  const Index n = std::min(readout.ours, half);
  const Index peer_rows = std::min(readout.peer, half);
  const auto rectangle = [&](Index count, Precision precision) {
    return gram(network, images.range(0, count), images.range(count, count),
                {.kind = Kind::ntk, .precision = precision}, benchmark.engine);
  };
  const Gram single = rectangle(4, Precision::f32);
  const Gram twice = rectangle(4, Precision::f64);
  const double rounding =
      relative_difference(std::get<Matrix<float>>(single.ntk), converted<float>(std::get<Matrix<double>>(twice.ntk)));
  const double error = error_of(benchmark, images, readout, rectangle);
  if (!(error <= tolerance<float>) || !(rounding <= tolerance<float>)) {
    fmt::print("{}: RESULTS DIFFER: {:.1e} from the peer, {:.1e} from float64; not timed\n", readout.name, error,
               rounding);
    return false;
  }
  Peer peer = start_peer(benchmark, images, "f32");
  if (peer.present()) {
    peer.request(
        fmt::format("compute {} {} {} {}", readout.name, depth, peer_rows, (benchmark.scratch / "k").string()));
  }
  double cpu = 0;
  std::vector<std::function<double()>> clocks{
      [&] {
        const double before = cpu_seconds();
        const double seconds = seconds_of([&] { return rectangle(n, Precision::f32); });
        cpu = cpu_seconds() - before;
        return seconds;
      },
      [&] { return seconds_of([&] { return gram(network, images.range(0, n), options, benchmark.engine); }); }};
  if (peer.present()) {
    clocks.push_back(
        [&] { return std::stod(peer.request(fmt::format("time {} {} {}", readout.name, depth, peer_rows))); });
  }
  const auto seconds = medians_in_turn(clocks, benchmark.settings.repeats);
  const auto pairs = static_cast<double>(n * n);
  const double ours = seconds[0] / pairs;
  const double symmetric = seconds[1] / pairs;
  const double theirs = peer.present() ? seconds[2] / static_cast<double>(peer_rows * peer_rows) : 0.0;
  fmt::print("{:>8} {:>12.4g} {:>12.4g} {:>12.4g} {:>12} {:>9} {:>16} {:>9} {:>16} {:>9.1e} {:>9.1e}\n", readout.name,
             1e3 * ours, 1e3 * symmetric, 1e3 * cpu / pairs, peer.present() ? fmt::format("{:.4g}", 1e3 * theirs) : "-",
             peer.present() ? fmt::format("{:.0f}x", theirs / ours) : "-",
             peer.present() ? verdict_at_least(theirs / ours, readout.rectangular) : "-",
             peer.present() ? fmt::format("{:.0f}x", theirs / symmetric) : "-",
             peer.present() ? verdict_at_least(theirs / symmetric, readout.symmetric) : "-", error, rounding);
  return true;
}

/// Pairs per second of a network for `count` images against `count` others.
double pairs_per_second(const Benchmark& benchmark, const Images& images, const std::string& network, Index count,
                        Precision precision, const Engine& engine) {
  const GramOptions options{.kind = Kind::ntk, .precision = precision};
  const Index n = std::min(count, benchmark.settings.rows / 2);
  const double seconds =
      medians_in_turn({[&] {
                        return seconds_of([&] {
                          return gram(Network::parse(network), images.range(0, n), images.range(n, n), options, engine);
                        });
                      }},
                      benchmark.settings.repeats)[0];
  return static_cast<double>(n * n) / seconds;
}

void report_rates(const Benchmark& benchmark, const Images& images) {
  const auto one = make_engine("cpu", {.threads = 1});
  fmt::print("{:>28} {:>6} {:>12} {:>12} {:>8}\n", "pairs a second", "", "1 thread", "2 threads", "scaling");
  const auto line = [&](const std::string& network, Index count, Precision precision) {
    const double slow = pairs_per_second(benchmark, images, network, count, precision, *one);
    const double fast = pairs_per_second(benchmark, images, network, count, precision, benchmark.engine);
    fmt::print("{:>28} {:>6} {:>12.1f} {:>12.1f} {:>7.2f}x\n", network, to_string(precision), slow, fast, fast / slow);
    return slow;
  };
  const bool full = images.shape.height == 32;
  for (const Precision precision : {Precision::f32, Precision::f64}) {
    const double pool = line(fmt::format("cntk:{}(readout=pool)", depth), 32, precision);
    line(fmt::format("cntk:{}(readout=flatten)", depth), 128, precision);
    if (full) {
      for (const char* name : {"myrtle5", "myrtle7", "myrtle10", "lantk_cnn8"}) line(name, 32, precision);
    }
    if (precision == Precision::f64) continue;
    const auto positions = static_cast<double>(images.shape.positions());
    const double layers = positions * positions * depth / 16;  // vectors of 16 pairs
    const double peak = multiply_adds_per_second();
    fmt::print(
        "{:>28} {:.2f} ns per element and layer of 16 pairs on one thread; at the {:.2f} vector operations per ns of "
        "sgemm, the {:.0f} required operations take {:.2f} ns: {:.0f} % of this lower bound\n",
        "", 1e9 / (pool * layers), 1e-9 * peak, operations, 1e9 * operations / peak,
        100 * operations / peak * pool * layers);
  }
}

bool run_all(const Benchmark& benchmark) {
  const auto side = static_cast<Index>(std::lround(std::sqrt(static_cast<double>(benchmark.settings.cols) / 3)));
  const Images images{converted<float>(benchmark.inputs), {side, side, benchmark.settings.cols / (side * side)}};
  fmt::print("CNTK of {} convolutions, {}, float32; {}; medians of {} rounds, milliseconds an entry\n", depth,
             to_string(images.shape), benchmark.engine.description(), benchmark.settings.repeats);
  if (const Peer peer = start_peer(benchmark, images, "f32"); !peer.present()) {
    fmt::print("no neural-tangents ({})\n", peer.why_absent());
  }
  fmt::print("{:>8} {:>12} {:>12} {:>12} {:>12} {:>9} {:>16} {:>9} {:>16} {:>9} {:>9}\n", "readout", "rectangle",
             "symmetric", "CPU time", "nt", "nt/ours", "target", "symmetric", "target", "error", "to f64");
  bool agree = true;
  for (const Readout& readout : readouts) agree &= compare_and_time(benchmark, images, readout);
  report_rates(benchmark, images);
  return agree;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "NTK of convolutional networks, compared with neural-tangents",
                                         {.rows = 512, .cols = 3072, .repeats = 3}, widelimit::bench::run_all);
}
