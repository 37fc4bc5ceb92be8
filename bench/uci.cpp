// The protocol of Arora et al. (2020) on UCI sets: 15 tangent kernels and 7 values of C selected on half of a set, then
// four tests, on two CPU cores, compared with scikit-learn's SVC, which receives the kernels; our time includes
// computing them. Sums over all sets of at most --rows samples; if SVC does not finish within --limit CPU seconds, its
// time counts as that limit, so that the ratio is a lower bound.

#include "bench/measure.hpp"
#include "bench/program.hpp"
#include "experiments/kernels/uci_protocol.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/network/network.hpp"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <ctime>
#include <fstream>
#include <optional>
#include <span>
#include <sstream>

namespace widelimit::bench {
namespace {

using experiment::uci::SetResult;
using experiment::uci::UciSet;

constexpr double target = 20;
/// LIBSVM tolerances: its default, and one for which its objectives are about as good as ours.
constexpr std::array<double, 2> tolerances{1e-3, 1e-6};
struct Seconds {
  double wall = 0;
  double processor = 0;

  void add(const Seconds& more) {
    wall += more.wall;
    processor += more.processor;
  }
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

/// Writes the peer's input: the matrices of the sweep in selection order, labels and splits.
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

/// Returns by how many validation rows two accuracy grids differ, the mean over kernels and C, and the maximum.
std::pair<double, double> differing_rows(const std::vector<double>& a, std::span<const double> b, double rows) {
  double sum = 0;
  double most = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = std::abs(a[i] - b[i]) * rows;
    sum += difference;
    most = std::max(most, difference);
  }
  return {sum / static_cast<double>(a.size()), most};
}

/// Result of SVC for one tolerance on one set.
struct SvcResult {
  Seconds seconds;    ///< the limit, if it did not finish
  bool ended = true;  ///< within the limit
};

/// Totals over sets.
struct Sum {
  Seconds ours;
  Seconds theirs;
  Index sets = 0;
  std::vector<std::string> terminated;
  std::vector<double> ratios;  ///< of processor time, set by set
};

/// Runs both in alternation, so that other load affects both equally. Returns std::nullopt if results differ.
std::optional<SvcResult> compare_with_svc(const Benchmark& benchmark, const UciSet& set, const SetResult& own,
                                          Peer& peer, double tol) {
  std::vector<double> costs;
  for (const double c : experiment::uci::published_costs()) costs.push_back(static_cast<double>(own.features) * c);
  peer.request(fmt::format("compute {} {} {}", tol, fmt::join(costs, ","), (benchmark.scratch / "result").string()));
  const Index accuracies = std::ssize(own.validation) + std::ssize(set.tests);
  const Matrix<double> values = read_raw<double>(benchmark.scratch / "result", 2 + accuracies, 1);
  SvcResult result{.seconds = {values.data()[0], values.data()[1]}, .ended = values.data()[2] >= 0};
  if (!result.ended) return result;
  // Outputs near 0 may have either sign: single machines differ in a row or two, more with LIBSVM's default tolerance.
  const auto count = static_cast<double>(set.selection.test.size());
  const auto [mean, most] = differing_rows(own.validation, {values.data() + 2, usize(accuracies)}, count);
  const double slack = tol > tolerances.back() ? 4 : 1;
  if (mean > slack * 0.25 || most > slack * std::max(2.0, 0.02 * count)) {
    fmt::print("{}: RESULTS DIFFER by {:.2f} of {:g} rows on average, {:g} at the most, at tol {:g}; not counted\n",
               set.name, mean, count, most, tol);
    return std::nullopt;
  }
  return result;
}

bool add_set(const Benchmark& benchmark, const UciSet& set, Peer& peer, std::array<Sum, tolerances.size()>& sums) {
  const SetResult own = ours(benchmark, set);
  if (peer.present()) write_input(benchmark, set);
  std::vector<Seconds> rounds;
  for (int round = 0; round < benchmark.settings.repeats; ++round) rounds.push_back(time_ours(benchmark, set));
  const Seconds mine = median(rounds);
  std::string line = fmt::format("{:30} {:5} {:3} {:4} {:9.1f} {:9.1f}", set.name, own.samples, own.features,
                                 own.classes, 1e3 * mine.wall, 1e3 * mine.processor);
  for (std::size_t i = 0; peer.present() && i < tolerances.size(); ++i) {
    const auto theirs = compare_with_svc(benchmark, set, own, peer, tolerances[i]);
    if (!theirs) return false;
    Sum& sum = sums[i];
    ++sum.sets;
    if (!theirs->ended) sum.terminated.push_back(set.name);
    sum.ours.add(mine);
    sum.theirs.add(theirs->seconds);
    sum.ratios.push_back(theirs->seconds.processor / mine.processor);
    line += fmt::format("  | {:1}{:9.1f} {:6.1f}x {:6.1f}x", theirs->ended ? "" : ">", 1e3 * theirs->seconds.processor,
                        theirs->seconds.wall / mine.wall, sum.ratios.back());
  }
  fmt::print("{}{}\n", line, own.unsolved > 0 ? fmt::format("  {} machines not solved", own.unsolved) : "");
  return true;
}

void print_sum(const Sum& sum, double tol, int limit) {
  if (sum.sets == 0) return;
  const double processor = sum.theirs.processor / sum.ours.processor;
  std::vector<double> ratios = sum.ratios;
  std::sort(ratios.begin(), ratios.end());
  const auto reached = std::count_if(ratios.begin(), ratios.end(), [](double ratio) { return ratio >= target; });
  fmt::print(
      "SVC at tol {:g}, sums over {} sets: CPU time {:.1f} s and {:.1f} s, {:.1f}x {}; wall clock "
      "{:.1f} s and {:.1f} s, {:.1f}x\n",
      tol, sum.sets, sum.ours.processor, sum.theirs.processor, processor, verdict_at_least(processor, target),
      sum.ours.wall, sum.theirs.wall, sum.theirs.wall / sum.ours.wall);
  fmt::print("  per set, CPU time: median {:.1f}x, from {:.1f}x to {:.1f}x, {} of {} sets at least {:g}x\n",
             ratios[ratios.size() / 2], ratios.front(), ratios.back(), reached, ratios.size(), target);
  if (!sum.terminated.empty()) {
    fmt::print("  {} sets exceeded the limit of {} s of the peer and count with that limit: {}\n",
               sum.terminated.size(), limit, fmt::join(sum.terminated, ", "));
  }
}

/// Returns the sets named by settings.only, else those with at most settings.rows rows.
std::vector<UciSet> chosen_sets(const Settings& settings, std::vector<UciSet> all) {
  std::vector<std::string> names;
  std::istringstream only(settings.only);
  for (std::string name; std::getline(only, name, ',');) names.push_back(name);
  for (const std::string& name : names) {
    if (std::none_of(all.begin(), all.end(), [&](const UciSet& set) { return set.name == name; })) {
      fail(Code::usage, "--only: '{}' is not a set of the benchmark", name);
    }
  }
  std::erase_if(all, [&](const UciSet& set) {
    return names.empty() ? set.data.count() > settings.rows
                         : std::find(names.begin(), names.end(), set.name) == names.end();
  });
  return all;
}

bool run(const Benchmark& benchmark) {
  std::vector<UciSet> sets;
  try {
    sets = experiment::uci::load_uci_sets({.engine = benchmark.engine}, 90);
  } catch (const Error& error) {
    fmt::print("skipped: {}\n", error.what());
    return true;
  }
  fmt::print("UCI protocol, 15 tangent kernels, 7 values of C; milliseconds, ours medians of {} rounds\n",
             benchmark.settings.repeats);
  fmt::print("{:30} {:>5} {:>3} {:>4} {:>9} {:>9}  | SVC at tol {}: CPU time, ratios by wall clock and by CPU time\n",
             "set", "n", "d", "k", "ours", "processor", fmt::join(tolerances, " | "));
  Peer peer({benchmark.settings.with_peer ? numpy_python() : "", peer_script("sk_uci.py"), "--folder",
             (benchmark.scratch / ".").string(), "--limit", fmt::format("{}", benchmark.settings.limit)},
            benchmark.scratch / "log");
  bool agree = true;
  std::array<Sum, tolerances.size()> sums;
  for (const UciSet& set : chosen_sets(benchmark.settings, std::move(sets))) {
    agree = add_set(benchmark, set, peer, sums) && agree;
  }
  for (std::size_t i = 0; i < sums.size(); ++i) print_sum(sums[i], tolerances[i], benchmark.settings.limit);
  return agree;
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  return widelimit::bench::run_benchmark(argc, argv, "Protocol of the UCI benchmark, compared with SVC of scikit-learn",
                                         {.rows = 2000, .cols = 1, .limit = 60, .repeats = 3}, widelimit::bench::run);
}
