#include "widelimit/report/comparison_report.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace widelimit {

namespace {

using Json = nlohmann::ordered_json;

std::string verdict(const Comparison& comparison, std::size_t place) {
  const ComparedKernel& row = comparison.kernels[place];
  if (row.failure) return "failed";
  if (place == comparison.best) return "best";
  if (!row.p) return "no test";
  return row.tied() ? "tied" : "worse";
}

Cell cell(std::optional<double> value) { return value ? Cell(*value) : Cell(); }

/// Returns the kernel chosen from a family of kernels, empty for a single kernel.
std::string choice_text(const ComparedKernel& row) { return row.tuned.size() > 1 ? kernel_text(row.kernel()) : ""; }

const char* error_name(const Comparison& comparison) { return comparison.classes ? "error rate" : "squared error"; }

bool any(const Comparison& comparison, bool (*has)(const ComparedKernel&)) {
  return std::any_of(comparison.kernels.begin(), comparison.kernels.end(), has);
}

bool has_test(const ComparedKernel& row) { return row.test_error.has_value(); }

Json interval_json(const std::optional<Interval>& interval) {
  return interval ? Json{interval->low, interval->high} : Json();
}

Json kernel_json(const Comparison& comparison, std::size_t place) {
  const ComparedKernel& row = comparison.kernels[place];
  Json json{{"kernel", row.candidate.name}, {"verdict", verdict(comparison, place)}};
  if (row.failure) {
    json["failure"] = row.failure->what();
    return json;
  }
  json["chosen"] = kernel_text(row.kernel());
  if (std::holds_alternative<Network>(row.kernel())) json["kind"] = row.candidate.kind == Kind::nngp ? "nngp" : "ntk";
  json["lambda"] = row.lambda;
  json["error"] = row.error;
  json["interval"] = interval_json(row.interval);
  json["tuned_error"] = row.tuned_error;
  if (row.test_error) {
    json["test_error"] = *row.test_error;
    json["test_interval"] = interval_json(row.test_interval);
  }
  json["p"] = row.p ? Json(*row.p) : Json();
  json["kernel_seconds"] = row.kernel_seconds;
  json["fit_seconds"] = row.fit_seconds;
  for (const FoldChoice& fold : row.folds) {
    json["folds"].push_back(
        {{"chosen", kernel_text(row.tuned[fold.kernel].kernel)}, {"lambda", fold.lambda}, {"error", fold.error}});
  }
  return json;
}

/// Returns the names of the kernels with verdict `requested`, best first.
std::vector<std::string> names_of(const Comparison& comparison, std::string_view requested) {
  std::vector<std::string> names;
  for (const std::size_t place : comparison.order()) {
    if (verdict(comparison, place) == requested) names.push_back(comparison.kernels[place].candidate.name);
  }
  return names;
}

}  // namespace

Table comparison_table(const Comparison& comparison) {
  const bool family = any(comparison, [](const ComparedKernel& row) { return row.tuned.size() > 1; });
  const bool test = any(comparison, has_test);
  const bool intervals = any(comparison, [](const ComparedKernel& row) { return row.interval.has_value(); });
  Table table;
  table.columns = {"kernel"};
  if (family) table.columns.emplace_back("chosen");
  table.columns.insert(table.columns.end(), {"lambda", fmt::format("held-out {}", error_name(comparison))});
  if (intervals) table.columns.emplace_back("95 % interval");
  if (test) table.columns.emplace_back(fmt::format("test {}", error_name(comparison)));
  table.columns.insert(table.columns.end(), {"p", "verdict", "kernel s", "fit s"});
  for (const std::size_t place : comparison.order()) {
    const ComparedKernel& row = comparison.kernels[place];
    const bool failed = row.failure.has_value();
    std::vector<Cell> cells{row.candidate.name};
    if (family) cells.emplace_back(failed ? "" : choice_text(row));
    cells.emplace_back(failed ? "" : fmt::format("{:.3g}", row.lambda));
    cells.push_back(failed ? Cell() : Cell(row.error));
    if (intervals) {
      cells.emplace_back(row.interval ? fmt::format("{:.3g} … {:.3g}", row.interval->low, row.interval->high) : "");
    }
    if (test) cells.push_back(cell(row.test_error));
    cells.emplace_back(row.p ? fmt::format("{:.2g}", *row.p) : "");
    cells.emplace_back(verdict(comparison, place));
    cells.emplace_back(failed ? "" : fmt::format("{:.3f}", row.kernel_seconds));
    cells.emplace_back(failed ? "" : fmt::format("{:.3f}", row.fit_seconds));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table comparison_ranking(const Comparison& comparison) {
  Table table{.columns = {"place", "kernel", "chosen", "held-out error", "test error", "p", "verdict", "lambda",
                          "kernel s", "fit s"}};
  const std::vector<std::size_t> order = comparison.order();
  const int digits = order.size() < 10 ? 1 : order.size() < 100 ? 2 : 4;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const ComparedKernel& row = comparison.kernels[order[i]];
    std::vector<Cell> cells(table.columns.size());
    cells[0] = fmt::format("{:0{}}", i + 1, digits);
    cells[1] = row.candidate.name;
    cells[6] = verdict(comparison, order[i]);
    if (!row.failure) {
      cells[2] = choice_text(row);
      cells[3] = row.error;
      cells[4] = cell(row.test_error);
      cells[5] = cell(row.p);
      cells[7] = row.lambda;
      cells[8] = row.kernel_seconds;
      cells[9] = row.fit_seconds;
    }
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Table comparison_rows(const Comparison& comparison) {
  Table table{.columns = {"kernel", "verdict", "chosen", "lambda", "error", "low", "high", "tuned_error", "test_error",
                          "p", "kernel_seconds", "fit_seconds", "failure"}};
  for (const std::size_t place : comparison.order()) {
    const ComparedKernel& row = comparison.kernels[place];
    if (row.failure) {
      std::vector<Cell> cells(table.columns.size());
      cells[0] = row.candidate.name;
      cells[1] = verdict(comparison, place);
      cells.back() = std::string(row.failure->what());
      table.rows.push_back(std::move(cells));
      continue;
    }
    table.rows.push_back({row.candidate.name, verdict(comparison, place), kernel_text(row.kernel()), row.lambda,
                          row.error, row.interval ? Cell(row.interval->low) : Cell(),
                          row.interval ? Cell(row.interval->high) : Cell(), row.tuned_error, cell(row.test_error),
                          cell(row.p), row.kernel_seconds, row.fit_seconds, Cell()});
  }
  return table;
}

Json comparison_json(const Comparison& comparison) {
  Json json{{"best", comparison.kernels[comparison.best].candidate.name},
            {"tied", names_of(comparison, "tied")},
            {"test", to_string(comparison.test)},
            {"criterion", comparison.classes ? "misclassified" : "squared_error"},
            {"folds", comparison.folds.size()}};
  for (const std::size_t place : comparison.order()) json["kernels"].push_back(kernel_json(comparison, place));
  return json;
}

std::vector<std::string> comparison_sentences(const Comparison& comparison) {
  const ComparedKernel& best = comparison.kernels[comparison.best];
  const std::string choice = choice_text(best);
  std::vector<std::string> sentences{fmt::format("Best: {}{}, held-out {} {:.4g}", best.candidate.name,
                                                 choice.empty() ? "" : fmt::format(", {}", choice),
                                                 error_name(comparison), best.error)};
  if (comparison.test == PairedTest::none) {
    sentences.emplace_back("A single held-out sample does not allow a test of the differences");
    return sentences;
  }
  const std::vector<std::string> tied = names_of(comparison, "tied");
  if (comparison.kernels.size() > 1) {
    sentences.push_back(fmt::format(
        "{} ({}, 5 %, Holm's correction for all pairs)",
        tied.empty() ? "No other kernel ties with it" : fmt::format("Tied with it: {}", fmt::join(tied, ", ")),
        to_string(comparison.test)));
  }
  return sentences;
}

Illustration comparison_bars(const Comparison& comparison) {
  std::vector<std::string> names;
  BarSeries held_out{.name = "held out"};
  BarSeries test{.name = "test"};
  for (const std::size_t place : comparison.order()) {
    const ComparedKernel& row = comparison.kernels[place];
    if (row.failure) continue;
    names.push_back(fmt::format("{} ({})", row.candidate.name, verdict(comparison, place)));
    held_out.values.push_back(row.error);
    if (row.interval) held_out.intervals.emplace_back(row.interval->low, row.interval->high);
    if (!row.test_error) continue;
    test.values.push_back(*row.test_error);
    if (row.test_interval) test.intervals.emplace_back(row.test_interval->low, row.test_interval->high);
  }
  std::vector<BarSeries> series{held_out};
  if (!test.values.empty()) series.push_back(test);
  return {
      .figure = bars(names, series, {.title = "Held-out error of each kernel", .value_label = error_name(comparison)}),
      .caption = held_out.intervals.empty()
                     ? "Lower is better."
                     : "Lower is better. Whiskers are 95 % intervals of each kernel alone; whether two "
                       "kernels differ is decided by the paired test."};
}

}  // namespace widelimit
