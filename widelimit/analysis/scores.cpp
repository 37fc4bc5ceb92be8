#include "widelimit/analysis/scores.hpp"

#include "widelimit/analysis/margins.hpp"
#include "widelimit/base/error.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <utility>

namespace widelimit {

namespace {

double quotient(Index part, Index whole) { return static_cast<double>(part) / static_cast<double>(whole); }

std::optional<double> share_of(Index part, Index whole) {
  return whole == 0 ? std::nullopt : std::optional(quotient(part, whole));
}

void check_same_shape(MatrixView<const double> targets, MatrixView<const double> predicted) {
  if (targets.rows != predicted.rows || targets.cols != predicted.cols) {
    fail(Code::input, "targets are {} by {}, predictions {} by {}; they must agree", targets.rows, targets.cols,
         predicted.rows, predicted.cols);
  }
  if (targets.rows == 0 || targets.cols == 0) fail(Code::input, "there are no samples to score");
  for (Index i = 0; i < targets.rows; ++i) {
    for (Index j = 0; j < targets.cols; ++j) {
      if (!std::isfinite(targets(i, j))) fail(Code::input, "target ({}, {}) is {}", i, j, targets(i, j));
      if (!std::isfinite(predicted(i, j))) fail(Code::input, "prediction ({}, {}) is {}", i, j, predicted(i, j));
    }
  }
}

/// Returns R² of one column; scales by the largest term, so that squares do not overflow.
std::optional<double> column_r2(MatrixView<const double> y, MatrixView<const double> g, Index j) {
  const auto n = static_cast<double>(y.rows);
  double mean = 0;
  bool constant = true;
  for (Index i = 0; i < y.rows; ++i) {
    mean += y(i, j) / n;
    constant = constant && y(i, j) == y(0, j);
  }
  if (constant) return std::nullopt;
  double largest = 0;
  for (Index i = 0; i < y.rows; ++i) {
    largest = std::max({largest, std::fabs(y(i, j) - mean), std::fabs(y(i, j) - g(i, j))});
  }
  double residual = 0;
  double total = 0;
  for (Index i = 0; i < y.rows; ++i) {
    const double missing = (y(i, j) - g(i, j)) / largest;
    const double spread = (y(i, j) - mean) / largest;
    residual += missing * missing;
    total += spread * spread;
  }
  const double r2 = 1 - residual / total;
  return std::isfinite(r2) ? std::optional(r2) : std::nullopt;
}

void check_classes_of(std::span<const Index> numbers, Index classes, const char* what) {
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    if (numbers[i] < 0 || numbers[i] >= classes) {
      fail(Code::input, "{} {} is {}; with {} classes it is out of range", what, i, numbers[i], classes);
    }
  }
}

void check_probabilities(MatrixView<const double> p, Index samples, Index classes) {
  if (p.rows != samples || p.cols != classes) {
    fail(Code::input,
         "probabilities are {} by {}; {} samples of {} classes need a row for each sample, a column for "
         "each class",
         p.rows, p.cols, samples, classes);
  }
  for (Index i = 0; i < p.rows; ++i) {
    for (Index c = 0; c < p.cols; ++c) {
      if (!(p(i, c) >= 0 && p(i, c) <= 1)) {
        fail(Code::input, "probability ({}, {}) is {}; it must be between 0 and 1", i, c, p(i, c));
      }
    }
  }
}

/// Returns the samples of each class, in ascending order.
std::vector<std::vector<Index>> samples_by_class(std::span<const Index> labels, Index classes) {
  std::vector<std::vector<Index>> members(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    members[static_cast<std::size_t>(labels[i])].push_back(static_cast<Index>(i));
  }
  return members;
}

/// AUC of a pair of classes, given the samples of both.
using PairArea = std::function<double(std::size_t first, std::size_t second, std::span<const Index> of_first,
                                      std::span<const Index> of_second)>;

/// Returns the AUC of `value` with positives `high` and negatives `low`.
template <typename Value>
double area_between(std::span<const Index> high, std::span<const Index> low, const Value& value) {
  std::vector<double> scores;
  for (const Index i : high) scores.push_back(value(i));
  for (const Index i : low) scores.push_back(value(i));
  std::vector<bool> positive(scores.size(), false);
  std::fill_n(positive.begin(), high.size(), true);
  return roc(scores, positive)->area;
}

/// Returns Hand and Till's M: the mean AUC over the pairs of classes with samples.
std::optional<double> mean_pair_area(const std::vector<std::vector<Index>>& members, const PairArea& area) {
  double sum = 0;
  Index pairs = 0;
  for (std::size_t c = 0; c < members.size(); ++c) {
    for (std::size_t d = c + 1; d < members.size(); ++d) {
      if (members[c].empty() || members[d].empty()) continue;
      sum += area(c, d, members[c], members[d]);
      ++pairs;
    }
  }
  return pairs == 0 ? std::nullopt : std::optional(sum / static_cast<double>(pairs));
}

/// One column per class: the mean of the AUC by the column of either class.
PairArea area_by_columns(MatrixView<const double> values) {
  return [values](std::size_t c, std::size_t d, std::span<const Index> first, std::span<const Index> second) {
    const auto column = [&](std::size_t k) {
      return [values, k](Index i) { return values(i, static_cast<Index>(k)); };
    };
    return (area_between(first, second, column(c)) + area_between(second, first, column(d))) / 2;
  };
}

/// One column per pair (0,1), (0,2), …, (1,2), …, high for the first class.
PairArea area_by_pairs(MatrixView<const double> values, Index classes) {
  return [values, classes](std::size_t c, std::size_t d, std::span<const Index> first, std::span<const Index> second) {
    const auto row = static_cast<Index>(c);
    const Index column = row * (2 * classes - row - 1) / 2 + static_cast<Index>(d) - row - 1;
    return area_between(first, second, [&](Index i) { return values(i, column); });
  };
}

/// Decisions that differ by this fraction are equal: their sums cancel, which enlarges rounding to some 1e-11 (graph
/// kernels of MUTAG), and coefficients are known to a relative duality gap of 1e-6.
constexpr double decision_rounding = 0x1p-30;

/// Returns decisions of a machine with those that differ by rounding made equal: samples with equal kernel rows
/// (isomorphic graphs, repeated rows) would otherwise be ranked by the order of a summation.
Matrix<double> with_ties(MatrixView<const double> decisions) {
  Matrix<double> tied(decisions.rows, decisions.cols);
  std::vector<Index> order(static_cast<std::size_t>(decisions.rows));
  for (Index j = 0; j < decisions.cols; ++j) {
    for (Index i = 0; i < decisions.rows; ++i) {
      if (!std::isfinite(decisions(i, j))) fail(Code::input, "the decision of sample {} is {}", i, decisions(i, j));
    }
    std::iota(order.begin(), order.end(), Index{0});
    std::sort(order.begin(), order.end(), [&](Index a, Index b) { return decisions(a, j) > decisions(b, j); });
    double highest = std::numeric_limits<double>::infinity();
    for (const Index i : order) {
      const double value = decisions(i, j);
      if (!(value >= highest - decision_rounding * std::abs(highest))) highest = value;
      tied(i, j) = highest;
    }
  }
  return tied;
}

void add_roc(ClassScores& scores, std::span<const Index> labels, MatrixView<const double> values, Index column) {
  std::vector<double> order;
  std::vector<bool> second;
  for (Index i = 0; i < values.rows; ++i) {
    order.push_back(values(i, column));
    second.push_back(labels[static_cast<std::size_t>(i)] == 1);
  }
  scores.roc = roc(order, second);
  if (scores.roc) scores.auc = scores.roc->area;
}

/// Returns b with b/bins < p ≤ (b + 1)/bins, corrected for rounding of the product.
Index bin_of(double p, Index bins) {
  const auto count = static_cast<double>(bins);
  auto b = static_cast<Index>(std::ceil(p * count)) - 1;
  if (p > static_cast<double>(b + 1) / count) ++b;
  if (p <= static_cast<double>(b) / count) --b;
  return std::clamp<Index>(b, 0, bins - 1);
}

ProbabilityScores probability_scores(std::span<const Index> labels, MatrixView<const double> p, Index bins) {
  ProbabilityScores scores;
  scores.bins.resize(static_cast<std::size_t>(bins));
  const auto n = static_cast<double>(p.rows);
  double log_loss = 0;
  double brier = 0;
  for (Index i = 0; i < p.rows; ++i) {
    const double* row = p.row(i);
    const Index label = labels[static_cast<std::size_t>(i)];
    log_loss -= std::log(row[label]);
    for (Index c = 0; c < p.cols; ++c) {
      const double off = row[c] - (c == label ? 1.0 : 0.0);
      if (p.cols > 2 || c == 1) brier += off * off;
    }
    const double* likely = std::max_element(row, row + p.cols);
    ReliabilityBin& bin = scores.bins[static_cast<std::size_t>(bin_of(*likely, bins))];
    ++bin.samples;
    bin.confidence += *likely;
    bin.accuracy += likely - row == label ? 1 : 0;
  }
  if (std::isfinite(log_loss)) scores.log_loss = log_loss / n;
  scores.brier = brier / n;
  for (ReliabilityBin& bin : scores.bins) {
    if (bin.samples == 0) continue;
    scores.calibration_error += std::fabs(bin.accuracy - bin.confidence) / n;
    bin.confidence /= static_cast<double>(bin.samples);
    bin.accuracy /= static_cast<double>(bin.samples);
  }
  return scores;
}

/// Returns the mean over the classes among labels or predictions; std::nullopt if a value is undefined.
template <typename Value>
std::optional<double> macro_mean(const std::vector<ClassScore>& classes, const Value& value) {
  double sum = 0;
  Index count = 0;
  for (const ClassScore& one : classes) {
    if (one.support == 0 && one.predicted == 0) continue;
    const std::optional<double> found = value(one);
    if (!found) return std::nullopt;
    sum += *found;
    ++count;
  }
  return sum / static_cast<double>(count);
}

/// Computes all scores that depend only on labels and predictions.
ClassScores counted_scores(std::span<const Index> labels, std::span<const Index> predicted, Index classes) {
  if (labels.empty()) fail(Code::input, "there are no samples to score");
  if (labels.size() != predicted.size()) {
    fail(Code::input, "{} labels and {} predictions; each sample needs one of each", labels.size(), predicted.size());
  }
  check_classes_of(labels, classes, "label");
  check_classes_of(predicted, classes, "prediction");
  const auto size = static_cast<std::size_t>(classes);
  ClassScores scores;
  scores.samples = std::ssize(labels);
  scores.confusion.assign(size, std::vector<Index>(size, 0));
  scores.classes.resize(size);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto label = static_cast<std::size_t>(labels[i]);
    const auto prediction = static_cast<std::size_t>(predicted[i]);
    ++scores.confusion[label][prediction];
    ++scores.classes[label].support;
    ++scores.classes[prediction].predicted;
    if (label == prediction) {
      ++scores.classes[label].correct;
      ++scores.correct;
    }
  }
  double recalls = 0;
  for (const ClassScore& one : scores.classes) recalls += one.recall().value_or(0);
  scores.balanced_accuracy = recalls / static_cast<double>(scores.occurring());
  scores.precision = macro_mean(scores.classes, [](const ClassScore& one) { return one.precision(); });
  scores.recall = macro_mean(scores.classes, [](const ClassScore& one) { return one.recall(); });
  scores.f1 = macro_mean(scores.classes, [](const ClassScore& one) { return one.f1(); }).value_or(0);
  return scores;
}

/// Returns the quoted names, at most five, followed by the number of others.
std::string quoted(const std::vector<std::string>& names) {
  constexpr std::size_t most = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(most, names.size()); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  }
  return names.size() > most ? fmt::format("{} and {} more", text, names.size() - most) : text;
}

std::vector<std::string> missing_of_classes(const ClassScores& scores, std::span<const std::string> classes) {
  std::vector<std::string> notes;
  std::vector<std::string> absent;
  std::vector<std::string> never_predicted;
  for (std::size_t c = 0; c < scores.classes.size(); ++c) {
    const std::string name = c < classes.size() ? classes[c] : std::to_string(c);
    const ClassScore& one = scores.classes[c];
    if (one.support == 0) absent.push_back(name);
    if (one.predicted == 0 && one.support > 0) never_predicted.push_back(name);
    if (scores.occurring() == 1 && one.support > 0) {
      notes.push_back(fmt::format("all samples are of class '{}': there is no AUC", name));
    }
  }
  if (!absent.empty()) notes.push_back(fmt::format("no samples of class {}: no recall", quoted(absent)));
  if (!never_predicted.empty())
    notes.push_back(fmt::format("no sample is predicted as class {}: no precision", quoted(never_predicted)));
  if (scores.probability && !scores.probability->log_loss) {
    notes.emplace_back("the true class of a sample has probability 0: the log loss is infinite");
  }
  return notes;
}

}  // namespace

std::optional<double> ClassScore::precision() const { return share_of(correct, predicted); }
std::optional<double> ClassScore::recall() const { return share_of(correct, support); }
std::optional<double> ClassScore::f1() const { return share_of(2 * correct, support + predicted); }

Index ClassScores::occurring() const {
  return std::count_if(classes.begin(), classes.end(), [](const ClassScore& one) { return one.support > 0; });
}

ValueScores value_scores(MatrixView<const double> targets, MatrixView<const double> predicted) {
  check_same_shape(targets, predicted);
  ValueScores scores{.samples = targets.rows, .r2 = 0.0};
  const double count = static_cast<double>(targets.rows) * static_cast<double>(targets.cols);
  for (Index i = 0; i < targets.rows; ++i) {
    for (Index j = 0; j < targets.cols; ++j) {
      const double error = targets(i, j) - predicted(i, j);
      scores.squared_error += error * error / count;
      scores.absolute_error += std::fabs(error) / count;
    }
  }
  if (!std::isfinite(scores.squared_error)) {
    fail(Code::numerical, "the squared error exceeds the range of float64; scale the targets");
  }
  for (Index j = 0; j < targets.cols && scores.r2; ++j) {
    const std::optional<double> one = column_r2(targets, predicted, j);
    scores.r2 = one ? std::optional(*scores.r2 + *one / static_cast<double>(targets.cols)) : std::nullopt;
  }
  return scores;
}

ClassScores class_scores(std::span<const Index> labels, std::span<const Index> predicted, Index classes,
                         const PredictionDetails& details) {
  ClassScores scores = counted_scores(labels, predicted, classes);
  if (details.bins < 1) fail(Code::usage, "the calibration error needs at least one bin, not {}", details.bins);
  const MatrixView<const double> p = details.probabilities;
  if (p.rows > 0) {
    check_probabilities(p, scores.samples, classes);
    scores.probability = probability_scores(labels, p, details.bins);
  }
  const MatrixView<const double> order = details.decisions.rows > 0 ? details.decisions : p;
  if (order.rows == 0) return scores;
  const bool single = order.cols == 1 && classes == 2;
  if (order.rows != scores.samples || (order.cols != classes && !single)) {
    fail(Code::input, "decisions are {} by {}; {} samples of {} classes need a column for each class, or one of two",
         order.rows, order.cols, scores.samples, classes);
  }
  if (classes == 2) {
    add_roc(scores, labels, order, single ? 0 : 1);
  } else {
    scores.auc = mean_pair_area(samples_by_class(labels, classes), area_by_columns(order));
  }
  return scores;
}

ClassScores class_scores(Scheme scheme, Index classes, MatrixView<const double> decisions,
                         std::span<const Index> labels, MatrixView<const double> probabilities) {
  const std::vector<Index> predicted = classes_of(scheme, classes, decisions);
  const bool pairs = is_pairwise(scheme);
  const Matrix<double> tied = with_ties(decisions);
  PredictionDetails details{.probabilities = probabilities};
  // For more than two classes, probabilities are comparable across samples; decision values are only determined up to a
  // common offset per sample.
  if (!pairs && (classes == 2 || probabilities.rows == 0)) details.decisions = tied.view();
  ClassScores scores = class_scores(labels, predicted, classes, details);
  if (pairs && probabilities.rows == 0) {
    scores.auc = mean_pair_area(samples_by_class(labels, classes), area_by_pairs(tied.view(), classes));
  }
  scores.margins = margins(scheme, classes, decisions, labels);
  return scores;
}

std::optional<Score> score(Scheme scheme, Index classes, const Matrix<double>& decisions, const Dataset& data,
                           const Matrix<double>& probabilities) {
  if (scheme != Scheme::values) {
    if (data.labels.empty()) return std::nullopt;
    return class_scores(scheme, classes, decisions.view(), data.labels, probabilities.view());
  }
  if (data.outputs.rows() > 0) return value_scores(data.outputs.view(), decisions.view());
  if (data.targets.empty()) return std::nullopt;
  const MatrixView<const double> targets{data.targets.data(), data.count(), 1, 1};
  return value_scores(targets, decisions.view().block(0, 0, decisions.rows(), 1));
}

std::vector<std::string> missing_scores(const Score& score, std::span<const std::string> classes) {
  if (const auto* found = std::get_if<ClassScores>(&score)) return missing_of_classes(*found, classes);
  if (std::get<ValueScores>(score).r2) return {};
  return {"the targets are constant: there is no R²"};
}

}  // namespace widelimit
