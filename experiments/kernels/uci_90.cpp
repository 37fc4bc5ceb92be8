#include "experiments/experiments.hpp"

#include "experiments/kernels/cached_rows.hpp"
#include "experiments/kernels/uci_networks.hpp"
#include "experiments/kernels/uci_protocol.hpp"
#include "widelimit/analysis/rank_comparison.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/machine/svm/svm.hpp"
#include "widelimit/report/csv.hpp"
#include "widelimit/report/figures/rank_figure.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace widelimit::experiment::uci {

namespace {

using Json = nlohmann::ordered_json;

/// A row of Arora et al. (2020), Table 1, as printed in NT-L; ranks are among 180 classifiers.
struct PublishedLine {
  const char* classifier;
  const char* family;  ///< our corresponding classifier; empty if there is none
  const char* rank;
  const char* average;
  const char* p90;
  const char* p95;
  const char* pma;
};
constexpr PublishedLine published[]{
    {"NTK", "NTK", "28.34", "81.95 ± 14.10", "88.89", "72.22", "95.72 ± 5.17"},
    {"NN (He init)", "NN (He init)", "40.97", "80.88 ± 14.96", "81.11", "65.56", "94.34 ± 7.22"},
    {"NN (NTK init)", "NN (NTK init)", "38.06", "81.02 ± 14.47", "85.56", "60.00", "94.55 ± 5.89"},
    {"RF", "", "33.51", "81.56 ± 13.90", "85.56", "67.78", "95.25 ± 5.30"},
    {"Gaussian kernel", "RBF", "35.76", "81.03 ± 15.09", "85.56", "72.22", "94.56 ± 8.22"},
    {"Polynomial kernel", "polynomial", "38.44", "78.21 ± 20.30", "80.00", "62.22", "91.29 ± 18.05"}};

/// Results on one data set.
struct SetRow {
  SetResult kernels;
  std::vector<NetworkResult> networks;  ///< in the order of network_kinds(); empty if none were trained
  double network_seconds = 0;
};

/// Table and CSV file with one row per data set.
class SetRows {
 public:
  SetRows(const std::string& path, std::string grid) : grid_(std::move(grid)), rows_(path, columns(), 1) {}

  /// Returns the stored results of a data set; omits networks of another grid.
  [[nodiscard]] std::optional<SetRow> find(const std::string& name) const {
    const Cell key[]{name};
    const auto row = rows_.find(key);
    if (!row) return std::nullopt;
    std::size_t column = 1;
    const auto next = [&] { return rows_.number(*row, column++); };
    SetResult kernels{.name = name, .samples = rows_.count(*row, 1), .features = rows_.count(*row, 2)};
    kernels.classes = rows_.count(*row, 3);
    column = 4;
    for (std::size_t f = 0; f < kernel_families().size(); ++f) kernels.families.push_back({.accuracy = next() / 100});
    FamilyResult& tangent = kernels.families.front();
    tangent.by_sums = next() / 100;
    tangent.kernel = rows_.text(*row, column++);
    tangent.c = next();
    kernels.unsolved = static_cast<Index>(next());
    kernels.seconds = next();
    SetRow line{.kernels = std::move(kernels), .networks = {}};
    const std::size_t kinds = network_kinds().size();
    if (rows_.text(*row, column + 2 * kinds) != grid_) return line;
    for (std::size_t k = 0; k < kinds; ++k) {
      const double accuracy = next() / 100;
      line.networks.push_back({rows_.text(*row, column++), accuracy});
    }
    line.network_seconds = rows_.number(*row, column + 1);
    return line;
  }
  void add(const SetRow& line) { rows_.add({row_of(line)}); }
  [[nodiscard]] Table table(const std::vector<SetRow>& lines) const {
    Table table{.columns = columns()};
    for (const SetRow& line : lines) table.rows.push_back(row_of(line));
    return table;
  }

 private:
  [[nodiscard]] std::vector<Cell> row_of(const SetRow& line) const {
    const SetResult& one = line.kernels;
    std::vector<Cell> row{one.name, one.samples, one.features, one.classes};
    for (const FamilyResult& family : one.families) row.emplace_back(100 * family.accuracy);
    const FamilyResult& tangent = one.families.front();
    row.insert(row.end(), {Cell(100 * tangent.by_sums), Cell(tangent.kernel), Cell(tangent.c), Cell(one.unsolved),
                           Cell(one.seconds)});
    for (const NetworkResult& network : line.networks) {
      row.insert(row.end(), {Cell(100 * network.accuracy), Cell(network.network)});
    }
    if (!line.networks.empty()) row.insert(row.end(), {Cell(grid_), Cell(line.network_seconds)});
    row.resize(columns().size());
    return row;
  }
  static std::vector<std::string> columns() {
    std::vector<std::string> all{"set", "samples", "features", "classes"};
    for (const KernelFamily& family : kernel_families()) all.push_back(family.name);
    for (const char* more : {"NTK, ties by sums", "NTK kernel", "NTK C", "unsolved", "seconds"}) all.emplace_back(more);
    for (const NetworkKind& kind : network_kinds()) {
      all.push_back(kind.name);
      all.push_back(kind.name + " chosen");
    }
    all.emplace_back("NN grid");
    all.emplace_back("NN seconds");
    return all;
  }

  std::string grid_;
  CachedRows rows_;
};

/// Grid of the networks, and the number of data sets with networks, the first ones.
struct NetworkRequest {
  NetworkGrid grid;
  Index network_sets = 0;
};

std::vector<SetRow> run_sets(const Setting& setting, const std::vector<UciSet>& sets, const NetworkRequest& request,
                             SetRows& file) {
  Index total = 0;
  for (const UciSet& set : sets) total += set.data.count() * set.data.count();
  SharedProgress shared(setting.progress, total, "pairs of samples");
  std::vector<SetRow> lines;
  Index done = 0;
  for (const UciSet& set : sets) {
    std::optional<SetRow> known = file.find(set.name);
    if (!known) {
      known = SetRow{.kernels = evaluate_set(setting, set, shared.get()), .networks = {}};
      file.add(*known);
    }
    if (std::ssize(lines) >= request.network_sets) {
      known->networks.clear();
      known->network_seconds = 0;
    } else if (known->networks.empty()) {
      const auto start = Clock::now();
      known->networks = train_networks(setting, set, request.grid, shared.get());
      known->network_seconds = seconds_since(start);
      file.add(*known);
    }
    lines.push_back(std::move(*known));
    done += set.data.count() * set.data.count();
    shared.at(done);
  }
  return lines;
}

/// Returns one column per kernel family, and, with networks, one per network kind.
Matrix<double> accuracies_of(const std::vector<SetRow>& lines, bool networks) {
  const Index families = std::ssize(kernel_families());
  Matrix<double> accuracies(std::ssize(lines), families + (networks ? std::ssize(network_kinds()) : 0));
  for (Index i = 0; i < accuracies.rows(); ++i) {
    const SetRow& line = lines[usize(i)];
    for (Index f = 0; f < accuracies.cols(); ++f) {
      const double accuracy =
          f < families ? line.kernels.families[usize(f)].accuracy : line.networks[usize(f - families)].accuracy;
      // Rounds so that sums of the same accuracies in another order tie in rank.
      accuracies(i, f) = std::nearbyint(1e12 * accuracy) / 1e12;
    }
  }
  return accuracies;
}

std::string percent(double share) { return fmt::format("{:.2f}", 100 * share); }
std::string with_deviation(double mean, double deviation) {
  return fmt::format("{:.2f} ± {:.2f}", 100 * mean, 100 * deviation);
}

double mean_by_sums(const std::vector<SetRow>& lines) {
  double mean = 0;
  for (const SetRow& line : lines) mean += line.kernels.families.front().by_sums / static_cast<double>(lines.size());
  return mean;
}

/// Compares ranks and accuracies relative to the best, of kernels and, if all these sets have some, networks.
Part comparison(const Setting& setting, const std::vector<SetRow>& lines, Json& results) {
  const bool networks =
      std::all_of(lines.begin(), lines.end(), [](const SetRow& line) { return !line.networks.empty(); });
  const Matrix<double> accuracies = accuracies_of(lines, networks);
  const RankComparison ranks = compare_ranks(accuracies.view());
  const std::vector<AccuracySummary> summaries = summarise_accuracies(accuracies.view());
  Part part{.heading = fmt::format("{} UCI sets", lines.size()),
            .table = {.columns = {"classifier", "rank", "average %", "P90 %", "P95 %", "PMA %",
                                  "published: rank of 180", "average %", "P90 %", "P95 %", "PMA %"}}};
  const auto line_of = [](const std::string& family) {
    return std::find_if(std::begin(published), std::end(published),
                        [&](const PublishedLine& line) { return line.family == family; });
  };
  std::vector<std::string> names;
  for (std::size_t f = 0; f < summaries.size(); ++f) {
    const AccuracySummary& own = summaries[f];
    const bool kernel = f < kernel_families().size();
    const std::string name = kernel ? kernel_families()[f].name : network_kinds()[f - kernel_families().size()].name;
    names.push_back(name);
    std::vector<Cell> row{name,
                          fmt::format("{:.2f}", ranks.ranks[f]),
                          with_deviation(own.mean, own.deviation),
                          percent(own.p90),
                          percent(own.p95),
                          with_deviation(own.share, own.share_deviation)};
    const auto* line = line_of(name);
    for (int column = 0; column < 5; ++column) row.emplace_back("–");
    if (line != std::end(published)) {
      std::copy_n(std::vector<Cell>{line->rank, line->average, line->p90, line->p95, line->pma}.begin(), 5,
                  row.end() - 5);
    }
    part.table.rows.push_back(std::move(row));
    Json family{{"name", name},   {"rank", ranks.ranks[f]}, {"average", own.mean}, {"deviation", own.deviation},
                {"p90", own.p90}, {"p95", own.p95},         {"pma", own.share}};
    if (kernel) family["grid"] = kernel_families()[f].grid;
    results["families"].push_back(std::move(family));
  }
  for (const PublishedLine& line : published) {
    if (std::find(names.begin(), names.end(), line.family) == names.end()) {
      part.table.rows.push_back(
          {line.classifier, "–", "–", "–", "–", "–", line.rank, line.average, line.p90, line.p95, line.pma});
    }
  }
  results["friedman"] = {{"chi_squared", ranks.chi_squared},
                         {"f", ranks.f},
                         {"p", ranks.p},
                         {"critical_difference", ranks.critical_difference}};
  if (setting.figures) part.pictures.push_back(critical_difference_diagram(names, ranks));
  return part;
}

std::string kernel_words(const std::vector<SetRow>& lines) {
  Index unsolved = 0;
  std::vector<std::string> with_unsolved;
  for (const SetRow& line : lines) {
    unsolved += line.kernels.unsolved;
    if (line.kernels.unsolved > 0) with_unsolved.push_back(line.kernels.name);
  }
  return fmt::format(
      "One-vs-one support vector machines with bias; ties go to the first class, as in LIBSVM; with ties broken by the "
      "larger sum of decisions the NTK has {:.2f} %. Kernel and C = 0.01 … 10⁴ are selected on two halves of a set "
      "(conxuntos.dat), then tested on four random splits of 3/4 and 1/4 (conxuntos_kfold.dat): these overlap, and "
      "include rows used for selection, so that accuracies are slightly optimistic, as in the published table. Rank: "
      "Friedman rank among our classifiers; published ranks are among 180 classifiers. P90, P95: fraction of sets with "
      "at least 90 % or 95 % of our best accuracy; PMA: mean fraction of it. Published numbers are for all 90 sets, "
      "with other grids except for the NTK.{}",
      100 * mean_by_sums(lines),
      unsolved > 0
          ? fmt::format(" {} machines ({}) did not reach a relative duality gap of {:g}; their results are included.",
                        unsolved, fmt::join(with_unsolved, ", "), SvmOptions{}.tolerance)
          : "");
}

std::string network_words(const NetworkGrid& grid) {
  return fmt::format(
      "Networks of {} hidden ReLU layers of width {}, without bias, one output per class, full-batch cross-entropy, "
      "Nesterov momentum 0.9, rates of {} times the stable rate at initialisation, {} steps or an eighth, a quarter or "
      "half of them, float32, one seed; selected and tested on the same partitions as the kernels. He: standard "
      "parameterisation, w_std = √2; NTK: the same initial function in NTK parameterisation. The published grid of "
      "networks is unknown.",
      fmt::join(grid.hidden, ", "), fmt::join(grid.widths, ", "), fmt::join(grid.rates, ", "), grid.steps);
}

NetworkRequest requested_networks(const Setting& setting, Index sets) {
  NetworkRequest request{.grid = {.hidden = setting.counts("hidden", 1),
                                  .widths = setting.counts("widths", 1),
                                  .rates = setting.numbers("rates", 1e-6, 1e3),
                                  .steps = setting.count("steps", 1)},
                         .network_sets = std::min(setting.count("network-sets", 0), sets)};
  if (request.network_sets == 1) {
    fail(Code::usage, "--network-sets 1: ranks need at least two sets; give 0 to train no networks");
  }
  return request;
}

Outcome run(const Setting& setting) {
  const Index count = setting.count("sets", 2);
  const NetworkRequest request = requested_networks(setting, count);
  SetRows file(setting.text("csv"), request.grid.text(setting.seed));
  const std::vector<UciSet> sets = load_uci_sets(setting, count);
  const std::vector<SetRow> lines = run_sets(setting, sets, request, file);
  Outcome outcome;
  Part part = comparison(setting, lines, outcome.results);
  part.words = kernel_words(lines);
  if (request.network_sets == count) part.words += ' ' + network_words(request.grid);
  outcome.parts.push_back(std::move(part));
  if (request.network_sets > 0 && request.network_sets < count) {
    const std::vector<SetRow> some(lines.begin(), lines.begin() + request.network_sets);
    Json& results = outcome.results["with_networks"];
    Part networks = comparison(setting, some, results);
    networks.heading = fmt::format("Networks and kernels on the {} smallest sets", some.size());
    networks.words = network_words(request.grid);
    outcome.parts.push_back(std::move(networks));
  }
  outcome.parts.push_back({.heading = "Every set",
                           .table = file.table(lines),
                           .words =
                               "Accuracies in percent. Unsolved: machines of all kernels and C that do not reach the "
                               "duality gap. Seconds: all kernels of a set; NN seconds: all networks.",
                           .pictures = {},
                           .sortable = true});
  double seconds = 0;
  double network_seconds = 0;
  Index unsolved = 0;
  for (const SetRow& line : lines) {
    seconds += line.kernels.seconds;
    network_seconds += line.network_seconds;
    unsolved += line.kernels.unsolved;
  }
  const double average = summarise_accuracies(accuracies_of(lines, false).view()).front().mean;
  outcome.results["sets"] = Json::parse(to_json_rows(outcome.parts.back().table));
  outcome.results["ntk_average"] = average;
  outcome.results["ntk_average_by_sums"] = mean_by_sums(lines);
  outcome.results["unsolved"] = unsolved;
  outcome.timings.emplace_back("all sets", seconds);
  if (request.network_sets > 0) outcome.timings.emplace_back("networks", network_seconds);
  outcome.sentence = fmt::format("{} UCI sets: NTK {:.2f} % on average{}; {:.3g} s.", lines.size(), 100 * average,
                                 lines.size() == 90 ? ", published 81.95 %" : "", seconds);
  return outcome;
}

}  // namespace

}  // namespace widelimit::experiment::uci

namespace widelimit::experiment {

Experiment uci_90() {
  return {.name = "uci-90",
          .summary = "Support vector machines with NTKs and other kernels, and networks, on 90 small UCI data sets",
          .work = "Arora et al. 2020, Harnessing the Power of Infinitely Wide Deep Nets on Small-data Tasks, Table 1",
          .options = {{"sets", "N", "Number of smallest sets", "50", "90"},
                      {"network-sets", "N", "Number of smallest sets on which networks are trained too", "8", "90"},
                      {"hidden", "LIST", "Networks: hidden layers", "1,2,4", ""},
                      {"widths", "LIST", "Networks: widths", "64,256", ""},
                      {"rates", "LIST", "Networks: rates, as multiples of a stable one", "0.2,1", ""},
                      {"steps", "N", "Networks: steps; an eighth, a quarter and half of them are tried too", "400", ""},
                      {"csv", "FILE", "CSV file of the results of each set; existing rows are reused", "", ""}},
          .run = uci::run};
}

}  // namespace widelimit::experiment
