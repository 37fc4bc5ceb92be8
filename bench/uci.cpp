// The protocol of Arora et al. (2020) on UCI sets, 15 tangent kernels and 7 values of C chosen by half of a set, then
// four tests, on two processors, beside scikit-learn's SVC, which is given the kernels. Ours computes them, too.

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "experiments/uci_protocol.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/network/network.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <ctime>
#include <fstream>
#include <sstream>

namespace widelimit::bench {
namespace {

using experiment::uci::SetResult;
using experiment::uci::UciSet;

constexpr double target = 20;
/// LIBSVM's stopping rule: its default, and one under which its objectives are about as good as ours.
constexpr double default_tol = 1e-3;
constexpr double tight_tol = 1e-6;
/// Two and more classes, few and many features; SVC ends on all of them.
constexpr const char* names[]{"glass",
                              "ionosphere",
                              "libras",
                              "low-res-spect",
                              "breast-cancer-wisc-diag",
                              "synthetic-control",
                              "oocytes_trisopterus_states_5b",
                              "semeion"};

struct Seconds {
  double wall = 0;
  double processor = 0;
};

Seconds median(std::vector<Seconds> all) {
  const auto middle = [&](double Seconds::*part) {
    std::sort(all.begin(), all.end(), [&](const Seconds& a, const Seconds& b) { return a.*part < b.*part; });
    return all[all.size() / 2].*part;
  };
  return {middle(&Seconds::wall), middle(&Seconds::processor)};
}

SetResult ours(const Benchmark& benchmark, const UciSet& set) {
  return experiment::uci::evaluate_set({.engine = benchmark.engine}, set, nullptr, 1);
}

Seconds time_ours(const Benchmark& benchmark, const UciSet& set) {
  const std::clock_t processor = std::clock();
  const double wall = seconds_of([&] { return ours(benchmark, set); });
  return {wall, static_cast<double>(std::clock() - processor) / CLOCKS_PER_SEC};
}

/// The peer's input: the matrices of the sweep in the order of the choice, labels and partitions.
void write_input(const Benchmark& benchmark, const UciSet& set) {
  const Sweep grid = sweep(Network::parse("fc:4(w_std=1, b_std=0)"), set.data.view(), {Kind::ntk}, benchmark.engine);
  const auto& stack = std::get<Matrix<double>>(grid.values);
  const Index n = grid.count;
  Matrix<double> grams(15 * n, n);
  Index place = 0;
  for (Index hidden = 0; hidden <= 4; ++hidden) {
    for (Index frozen = 0; frozen <= hidden; ++frozen, ++place) {
      const Index from = hidden * 5 + frozen;
      std::copy_n(stack.data() + from * n * n, n * n, grams.data() + place * n * n);
    }
  }
  write_raw(benchmark.scratch / "grams", grams);
  Matrix<double> labels(n, 1);
  std::copy(set.data.labels.begin(), set.data.labels.end(), labels.data());
  write_raw(benchmark.scratch / "labels", labels);
  std::ofstream folds(benchmark.scratch / "folds");
  const auto write = [&](const SplitRows& fold) {
    folds << fmt::format("{}\n{}\n", fmt::join(fold.train, " "), fmt::join(fold.test, " "));
  };
  write(set.selection);
  for (const SplitRows& fold : set.tests) write(fold);
}

/// How many of the validation rows two grids of accuracies differ by, on average over kernels and C, and at the most.
std::pair<double, double> differing_rows(const std::vector<double>& a, const Matrix<double>& b, double rows) {
  double sum = 0;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b.data()[i]) * rows;
    sum += difference;
    most = std::max(most, difference);
  }
  return {sum / static_cast<double>(a.size()), most};
}

bool beside_svc(const Benchmark& benchmark, const UciSet& set) {
  const SetResult own = ours(benchmark, set);
  const auto count = static_cast<double>(set.selection.test.size());
  std::vector<double> costs;
  for (const double c : experiment::uci::published_costs()) costs.push_back(static_cast<double>(own.features) * c);
  if (benchmark.settings.with_peer) write_input(benchmark, set);
  Peer peer({benchmark.settings.with_peer ? WIDELIMIT_NUMPY_PYTHON : "", WIDELIMIT_PEERS "/sk_uci.py", "--grams",
             (benchmark.scratch / "grams").string(), "--labels", (benchmark.scratch / "labels").string(), "--folds",
             (benchmark.scratch / "folds").string(), "--costs", fmt::format("{}", fmt::join(costs, ","))},
            benchmark.scratch / "log");
  const auto answer = [&](double tol) {
    peer.ask(fmt::format("compute {} {}", tol, (benchmark.scratch / "answer").string()));
    return read_raw<double>(benchmark.scratch / "answer", std::ssize(own.validation) + std::ssize(set.tests), 1);
  };
  if (peer.present()) {
    // Outputs near 0 may fall either way: a row or two, of single machines.
    const auto [mean, most] = differing_rows(own.validation, answer(tight_tol), count);
    if (mean > 0.25 || most > std::max(2.0, 0.02 * count)) {
      fmt::print("{}: ANSWERS DIFFER by {:.2f} of {:g} rows on average, {:g} at the most; not timed\n", set.name, mean,
                 count, most);
      return false;
    }
  }
  std::vector<std::vector<Seconds>> rounds(3);
  for (int round = 0; round < benchmark.settings.repeats; ++round) {
    rounds[0].push_back(time_ours(benchmark, set));
    for (std::size_t i = 1; peer.present() && i < rounds.size(); ++i) {
      std::istringstream text(peer.ask(fmt::format("time {}", i == 1 ? default_tol : tight_tol)));
      Seconds& one = rounds[i].emplace_back();
      text >> one.wall >> one.processor;
    }
  }
  const Seconds mine = median(rounds[0]);
  fmt::print("{:30} {:5} {:3} {:4} {:9.1f} {:9.1f}", set.name, own.samples, own.features, own.classes, 1e3 * mine.wall,
             1e3 * mine.processor);
  for (std::size_t i = 1; peer.present() && i < rounds.size(); ++i) {
    const Seconds theirs = median(rounds[i]);
    fmt::print("  | {:9.1f} {:6.1f}x {:6.1f}x {}", 1e3 * theirs.wall, theirs.wall / mine.wall,
               theirs.processor / mine.processor, verdict_at_least(theirs.wall / mine.wall, target));
  }
  fmt::print("{}\n", own.unsolved > 0 ? fmt::format("  {} machines not solved", own.unsolved) : "");
  return true;
}

bool run(const Benchmark& benchmark) {
  std::vector<UciSet> sets;
  try {
    sets = experiment::uci::load_uci_sets({.engine = benchmark.engine}, 90);
  } catch (const Error& error) {
    fmt::print("skipped: {}\n", error.what());
    return true;
  }
  fmt::print("UCI protocol, 15 tangent kernels, 7 values of C; milliseconds, medians of {} rounds\n",
             benchmark.settings.repeats);
  fmt::print("{:30} {:>5} {:>3} {:>4} {:>9} {:>9}  | SVC at tol {:g}, by clock, by processor time  | at tol {:g}\n",
             "set", "n", "d", "k", "ours", "processor", default_tol, tight_tol);
  bool agree = true;
  for (const UciSet& set : sets) {
    const bool chosen = std::find(std::begin(names), std::end(names), set.name) != std::end(names);
    if (chosen && set.data.count() <= benchmark.settings.rows) agree = beside_svc(benchmark, set) && agree;
  }
  return agree;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Protocol of the UCI benchmark beside scikit-learn's SVC",
                                         {.rows = 2000, .cols = 1, .repeats = 3}, widelimit::bench::run);
}
