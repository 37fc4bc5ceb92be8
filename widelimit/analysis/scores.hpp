#pragma once

#include "widelimit/analysis/roc.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/machine/machine.hpp"

#include <cmath>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace widelimit {

/// Regression scores. [docs/theory/machines.md, Scores]
struct ValueScores {
  Index samples = 0;
  double squared_error = 0;   ///< mean of (y − g)² over samples and columns
  double absolute_error = 0;  ///< mean of |y − g|
  /// Mean over columns of 1 − Σ(y − g)²/Σ(y − ȳ)²; empty if a column of y is constant.
  std::optional<double> r2;

  [[nodiscard]] double root_squared_error() const { return std::sqrt(squared_error); }
};

/// Counts and scores of one class; a score is empty if its denominator is 0.
struct ClassScore {
  Index support = 0;    ///< samples with this true class
  Index predicted = 0;  ///< samples predicted as this class
  Index correct = 0;    ///< true positives

  [[nodiscard]] std::optional<double> precision() const;  ///< correct/predicted
  [[nodiscard]] std::optional<double> recall() const;     ///< correct/support
  [[nodiscard]] std::optional<double> f1() const;         ///< 2·correct/(support + predicted)
};

/// Samples whose highest class probability lies in one bin.
struct ReliabilityBin {
  Index samples = 0;
  double confidence = 0;  ///< mean of the highest probability
  double accuracy = 0;    ///< fraction of the samples whose prediction is correct
};

/// Scores of predicted probabilities.
struct ProbabilityScores {
  std::optional<double> log_loss;  ///< mean of −log p(true class); empty if infinite
  /// Two classes: mean of (p(second class) − y)², y = 0 or 1. Otherwise: mean of Σ_c (p_c − [y = c])² (Brier 1950).
  double brier = 0;
  double calibration_error = 0;      ///< Σ_b n_b/n |accuracy_b − confidence_b| (Guo et al. 2017)
  std::vector<ReliabilityBin> bins;  ///< b: confidence in (b/bins, (b + 1)/bins]
};

/// Classification scores.
struct ClassScores {
  Index samples = 0;
  Index correct = 0;
  std::vector<std::vector<Index>> confusion;  ///< [true class][predicted class]
  std::vector<ClassScore> classes;
  double balanced_accuracy = 0;  ///< mean recall over the classes with samples
  /// Macro averages over the classes among labels or predictions; empty if the score of one of them is undefined.
  std::optional<double> precision;
  std::optional<double> recall;
  double f1 = 0;
  /// Two classes: area under the ROC curve. Otherwise: mean over the pairs of classes with samples (Hand and Till
  /// 2001). Empty if fewer than two classes have samples, or without scores that rank the samples.
  std::optional<double> auc;
  std::optional<Roc> roc;       ///< two classes, both with samples
  std::vector<double> margins;  ///< per sample, if decision values are given
  std::optional<ProbabilityScores> probability;

  [[nodiscard]] double accuracy() const { return static_cast<double>(correct) / static_cast<double>(samples); }
  [[nodiscard]] Index occurring() const;  ///< number of classes with samples
};

using Score = std::variant<ValueScores, ClassScores>;

/// Optional predictions besides the classes; each can be empty.
struct PredictionDetails {
  MatrixView<const double> probabilities{};  ///< samples × classes
  /// Scores that rank the samples for the AUC: one column per class, or a single column for two classes, high for the
  /// second class. Default: the probabilities.
  MatrixView<const double> decisions{};
  Index bins = 10;  ///< of the calibration error
};

/// Scores predicted values, one row per sample. Throws Error{input} if shapes differ, there are no samples, or a value
/// is not finite; Error{numerical} if the squared error overflows. O(n).
[[nodiscard]] ValueScores value_scores(MatrixView<const double> targets, MatrixView<const double> predicted);

/// Scores predicted classes 0 … classes − 1. Throws Error{input} if sizes differ, there are no samples, a class is out
/// of range, or a probability is not in [0, 1]. O(classes·n log n).
[[nodiscard]] ClassScores class_scores(std::span<const Index> labels, std::span<const Index> predicted, Index classes,
                                       const PredictionDetails& details = {});

/// Scores the decision values of a machine, including margins. One-vs-one decisions rank the samples of each pair.
[[nodiscard]] ClassScores class_scores(Scheme scheme, Index classes, MatrixView<const double> decisions,
                                       std::span<const Index> labels, MatrixView<const double> probabilities = {});

/// Scores a machine on a data set; std::nullopt if the samples have neither labels nor targets.
[[nodiscard]] std::optional<Score> score(Scheme scheme, Index classes, const Matrix<double>& decisions,
                                         const Dataset& data, const Matrix<double>& probabilities = {});

/// Returns one sentence per missing score with the reason; `classes` are the class names.
[[nodiscard]] std::vector<std::string> missing_scores(const Score& score, std::span<const std::string> classes);

}  // namespace widelimit
