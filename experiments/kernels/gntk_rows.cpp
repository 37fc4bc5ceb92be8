#include "experiments/kernels/gntk_rows.hpp"

#include "experiments/kernels/cached_rows.hpp"
#include "experiments/kernels/graph_folds.hpp"
#include "experiments/tasks/task_kernel.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/tune.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace widelimit::experiment {

namespace {

FoldMoments moments(std::span<const double> values) {
  FoldMoments m;
  const auto n = static_cast<double>(values.size());
  for (const double v : values) m.mean += v / n;
  for (const double v : values) m.deviation += (v - m.mean) * (v - m.mean) / n;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

/// Returns K divided by its smallest entry, or K_ij/√(K_ii K_jj).
Matrix<double> scaled(const AnyMatrix& any, bool normalised, const std::string& name) {
  return std::visit(
      [&](const auto& k) {
        const Index n = k.rows();
        Matrix<double> result(n, n);
        const double least = *std::min_element(k.data(), k.data() + n * n);
        if (!normalised && !(least > 0)) {
          fail(Code::numerical,
               "the smallest entry of the Gram matrix of {} is {:g}; it must be positive to scale the matrix", name,
               least);
        }
        const auto root = [&](Index i) { return std::sqrt(static_cast<double>(k(i, i))); };
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) result(i, j) = k(i, j) / (normalised ? root(i) * root(j) : least);
        }
        return result;
      },
      any);
}

/// Selects incrementally, so that only the accuracies of one configuration are stored.
class Selection {
 public:
  Selection(const std::vector<double>& cs, Index folds)
      : cs_(cs), folds_(folds), inner_(usize(folds), -1.0), outer_(usize(folds)) {}

  /// Adds a configuration. Ties go to the first configuration and the smallest C.
  void add(const GntkConfiguration& configuration, const FoldAccuracies& accuracies) {
    GntkScore best{.configuration = configuration};
    const bool nested = accuracies.inner.rows() > 0;
    if (nested) result_.chosen.resize(usize(folds_));
    for (std::size_t c = 0; c < cs_.size(); ++c) {
      const auto row = static_cast<Index>(c);
      const GntkScore one{configuration, cs_[c], moments({accuracies.tests.view().row(row), usize(folds_)})};
      if (c == 0 || one.tests.mean > best.tests.mean) best = one;
      for (Index f = 0; nested && f < folds_; ++f) {
        const double inner = accuracies.inner(row, f);
        if (inner <= inner_[usize(f)]) continue;
        inner_[usize(f)] = inner;
        outer_[usize(f)] = accuracies.tests(row, f);
        result_.chosen[usize(f)] = one;
      }
    }
    if (result_.best_c.empty() || best.tests.mean > result_.best.tests.mean) result_.best = best;
    result_.best_c.push_back(best);
    result_.unsolved += accuracies.unsolved;
  }
  [[nodiscard]] GntkRow result() {
    if (!result_.chosen.empty()) result_.nested = moments(outer_);
    return std::move(result_);
  }

 private:
  const std::vector<double>& cs_;
  Index folds_;
  std::vector<double> inner_;  ///< by fold: the best mean accuracy on the other folds
  std::vector<double> outer_;  ///< by fold: the accuracy of that choice
  GntkRow result_;
};

/// Results of one configuration.
struct ConfigurationResult {
  FoldAccuracies accuracies;
  double kernel_seconds = 0;
  double machine_seconds = 0;
};

constexpr Index published_folds = 10;

/// CSV file with one row per configuration and C.
class AccuracyFile {
 public:
  AccuracyFile(const std::string& path, const GntkChoice& choice) : choice_(choice), rows_(path, columns(), keys) {}

  /// Returns std::nullopt if a C of the grid, or its nested accuracies, are missing.
  [[nodiscard]] std::optional<ConfigurationResult> find(const char* set, const GntkConfiguration& configuration) const {
    const Index cs = std::ssize(choice_.cs);
    ConfigurationResult known{.accuracies = {.tests = Matrix<double>(cs, folds), .inner = {}}};
    if (choice_.nested) known.accuracies.inner = Matrix<double>(cs, folds);
    for (Index c = 0; c < cs; ++c) {
      const auto row = rows_.find(key(set, configuration, choice_.cs[usize(c)]));
      if (!row) return std::nullopt;
      const auto folds_from = [&](std::size_t column, Matrix<double>& into) {
        for (Index f = 0; f < folds; ++f) into(c, f) = rows_.number(*row, column + usize(f));
      };
      folds_from(first_test, known.accuracies.tests);
      if (choice_.nested) {
        if (std::holds_alternative<std::monostate>(rows_.row(*row)[first_inner])) return std::nullopt;
        folds_from(first_inner, known.accuracies.inner);
      }
      if (c > 0) continue;
      known.accuracies.unsolved = rows_.count(*row, of_kernel);
      known.kernel_seconds = rows_.number(*row, of_kernel + 1);
      known.machine_seconds = rows_.number(*row, of_kernel + 2);
    }
    return known;
  }
  void add(const char* set, const GntkConfiguration& configuration, const ConfigurationResult& one) {
    std::vector<std::vector<Cell>> rows;
    for (std::size_t c = 0; c < choice_.cs.size(); ++c) {
      const std::span<const double> tests(one.accuracies.tests.view().row(static_cast<Index>(c)), usize(folds));
      const FoldMoments m = moments(tests);
      std::vector<Cell> row = key(set, configuration, choice_.cs[c]);
      row.insert(row.end(), {Cell(100 * m.mean), Cell(100 * m.deviation)});
      row.resize(first_test);
      if (c == 0) {
        row[of_kernel] = one.accuracies.unsolved;
        row[of_kernel + 1] = one.kernel_seconds;
        row[of_kernel + 2] = one.machine_seconds;
      }
      row.insert(row.end(), tests.begin(), tests.end());
      if (choice_.nested) {
        const double* inner = one.accuracies.inner.view().row(static_cast<Index>(c));
        row.insert(row.end(), inner, inner + folds);
      }
      row.resize(first_inner + usize(folds));
      rows.push_back(std::move(row));
    }
    rows_.add(rows);
  }

 private:
  static constexpr Index folds = published_folds;
  static constexpr std::size_t keys = 6, of_kernel = 8, first_test = 11, first_inner = first_test + usize(folds);

  static std::vector<std::string> columns() {
    std::vector<std::string> all{"set",        "layers",    "mlp",      "scale",    "Gram matrix", "C",
                                 "accuracy %", "deviation", "unsolved", "kernel s", "machines s"};
    for (const char* name : {"fold", "without fold"}) {
      for (Index f = 1; f <= folds; ++f) all.push_back(fmt::format("{} {}", name, f));
    }
    return all;
  }
  static std::vector<Cell> key(const char* set, const GntkConfiguration& at, double c) {
    return {set, at.layers, at.mlp, at.scale, at.normalised ? "normalised" : "raw", c};
  }

  const GntkChoice& choice_;
  CachedRows rows_;
};

/// Computes the kernels and machines that are not in the files.
class GntkEvaluator {
 public:
  GntkEvaluator(const Setting& setting, const GntkChoice& choice)
      : setting_(setting), choice_(choice), grams_(gram_folder(setting)), file_(setting.text("csv"), choice) {}

  [[nodiscard]] GntkRow row_of(const PublishedGraphs& published) {
    const GraphFolds set(published.name, setting_);
    if (set.count() != published_folds) {
      fail(Code::input, "graphs:{} has {} folds; the published protocol has {}", published.name, set.count(),
           published_folds);
    }
    Selection selection(choice_.cs, set.count());
    double kernel_seconds = 0;
    double machine_seconds = 0;
    const auto add = [&](const GntkConfiguration& configuration, const ConfigurationResult& one) {
      selection.add(configuration, one.accuracies);
      kernel_seconds += one.kernel_seconds;
      machine_seconds += one.machine_seconds;
    };
    for (const Index layers : choice_.layers.empty() ? published.layers : choice_.layers) {
      for (const Index mlp : choice_.mlp) {
        for (const char* scale : {"degree", "uniform"}) {
          std::optional<AnyMatrix> k;
          double seconds = 0;
          for (const bool normalised : {false, true}) {
            const GntkConfiguration configuration{layers, mlp, scale, normalised};
            if (const auto known = file_.find(published.name, configuration)) {
              add(configuration, *known);
              continue;
            }
            if (!k) k = kernel(published, set, configuration, seconds);
            const ConfigurationResult one = evaluate(set, *k, configuration, std::exchange(seconds, 0));
            file_.add(published.name, configuration, one);
            add(configuration, one);
          }
        }
      }
    }
    GntkRow result = selection.result();
    result.name = published.name;
    result.published = published.accuracy;
    result.graphs = set.data.count();
    result.kernel_seconds = kernel_seconds;
    result.machine_seconds = machine_seconds;
    return result;
  }

 private:
  [[nodiscard]] AnyMatrix kernel(const PublishedGraphs& published, const GraphFolds& set, const GntkConfiguration& at,
                                 double& seconds) const {
    const auto start = Clock::now();
    std::optional<std::filesystem::path> file;
    if (grams_) {
      file = *grams_ / fmt::format("{}-{}-{}-{}-{}.h5", published.name, at.layers, at.mlp, at.scale,
                                   to_string(setting_.precision));
    }
    AnyMatrix k = square_kernel(setting_, Network::parse(at.network()), set.data.view(), file);
    seconds = seconds_since(start);
    return k;
  }
  [[nodiscard]] ConfigurationResult evaluate(const GraphFolds& set, const AnyMatrix& k, const GntkConfiguration& at,
                                             double kernel_seconds) const {
    const auto start = Clock::now();
    FoldAccuracies accuracies =
        fold_accuracies(setting_, set, scaled(k, at.normalised, at.network()), choice_.cs, choice_.nested);
    return {std::move(accuracies), kernel_seconds, seconds_since(start)};
  }

  const Setting& setting_;
  const GntkChoice& choice_;
  std::optional<std::filesystem::path> grams_;
  AccuracyFile file_;
};

std::vector<const PublishedGraphs*> chosen_sets(const std::string& list) {
  std::vector<const PublishedGraphs*> sets;
  std::vector<std::string> names;
  for (const PublishedGraphs& set : published_graphs()) names.emplace_back(set.name);
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const std::string name = list.substr(begin, end - begin);
    const auto known = std::find(names.begin(), names.end(), name);
    if (known == names.end()) {
      fail(Code::usage, "'{}' is not a set of this table; choose among {}", name, fmt::join(names, ", "));
    }
    sets.push_back(&published_graphs()[static_cast<std::size_t>(known - names.begin())]);
    begin = end + 1;
  }
  return sets;
}

bool yes_or_no(const Setting& setting, const char* option) {
  const std::string& text = setting.text(option);
  if (text != "yes" && text != "no") fail(Code::usage, "--{} {}: expected yes or no", option, text);
  return text == "yes";
}

}  // namespace

const std::vector<PublishedGraphs>& published_graphs() {
  static const std::vector<PublishedGraphs> sets{
      {"MUTAG", "90.0 ± 8.5", {2, 4}},     {"PTC", "67.9 ± 6.9", {10, 12, 14}}, {"IMDBBINARY", "76.9 ± 3.6", {2, 4}},
      {"IMDBMULTI", "52.8 ± 4.6", {2, 4}}, {"PROTEINS", "75.6 ± 4.2", {2, 4}},  {"NCI1", "84.2 ± 1.5", {10, 12, 14}}};
  return sets;
}

std::string GntkConfiguration::network() const {
  return fmt::format("gntk:{}(mlp={}, scale={}, jk=true)", layers, mlp, scale);
}

std::string GntkConfiguration::text() const {
  return fmt::format("gntk:{}(mlp={}, scale={}), {}", layers, mlp, scale, normalised ? "normalised" : "raw");
}

GntkChoice::GntkChoice(const Setting& setting)
    : sets(chosen_sets(setting.text("sets"))),
      mlp(setting.counts("mlp", 1)),
      cs(logarithmic_grid(1e-2, 1e4, setting.count("cs", 2))),
      nested(yes_or_no(setting, "nested")) {
  if (!setting.text("layers").empty()) layers = setting.counts("layers", 2);
}

std::vector<GntkRow> gntk_rows(const Setting& setting, const GntkChoice& choice) {
  GntkEvaluator evaluator(setting, choice);
  std::vector<GntkRow> rows;
  for (const PublishedGraphs* set : choice.sets) rows.push_back(evaluator.row_of(*set));
  return rows;
}

}  // namespace widelimit::experiment
