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

/// Scores of predicted numbers. [docs/theory/machines.md, Scores]
struct ValueScores {
  Index samples = 0;
  double squared_error = 0;   ///< mean of (y − g)², over samples and columns
  double absolute_error = 0;  ///< mean of |y − g|
  /// 1 − Σ(y − g)²/Σ(y − ȳ)², the mean over columns; empty where a column of y is constant.
  std::optional<double> r2;

  [[nodiscard]] double root_squared_error() const { return std::sqrt(squared_error); }
};

/// Counts of one class, and its scores; empty where a denominator is 0.
struct ClassScore {
  Index support = 0;    ///< samples of the class
  Index predicted = 0;  ///< samples taken for it
  Index correct = 0;    ///< both

  [[nodiscard]] std::optional<double> precision() const;  ///< correct/predicted
  [[nodiscard]] std::optional<double> recall() const;     ///< correct/support
  [[nodiscard]] std::optional<double> f1() const;         ///< 2·correct/(support + predicted)
};

/// Samples whose most probable class has a probability within one bin.
struct ReliabilityBin {
  Index samples = 0;
  double confidence = 0;  ///< mean of that probability
  double accuracy = 0;    ///< fraction of the samples that are of that class
};

/// Scores of probabilities.
struct ProbabilityScores {
  std::optional<double> log_loss;  ///< mean of −log p(true class); empty where one of these is 0
  /// Two classes: mean of (p(second class) − y)², y = 0 or 1. More: mean of Σ_c (p_c − [y = c])² (Brier 1950).
  double brier = 0;
  double calibration_error = 0;      ///< Σ_b n_b/n |accuracy_b − confidence_b| (Guo et al. 2017)
  std::vector<ReliabilityBin> bins;  ///< b: confidence in (b/bins, (b + 1)/bins]
};

/// Scores of predicted classes.
struct ClassScores {
  Index samples = 0;
  Index correct = 0;
  std::vector<std::vector<Index>> confusion;  ///< [true class][predicted class]
  std::vector<ClassScore> classes;
  double balanced_accuracy = 0;  ///< mean recall of the classes that have samples
  /// Macro averages, over the classes that occur among samples or predictions; empty where one of them has none.
  std::optional<double> precision;
  std::optional<double> recall;
  double f1 = 0;
  /// Two classes: area under the ROC curve. More: the mean over pairs of classes that occur (Hand and Till 2001). Empty
  /// where fewer than two classes occur, or where nothing orders the samples.
  std::optional<double> auc;
  std::optional<Roc> roc;       ///< two classes, both of which occur
  std::vector<double> margins;  ///< of each sample, where decisions are known
  std::optional<ProbabilityScores> probability;

  [[nodiscard]] double accuracy() const { return static_cast<double>(correct) / static_cast<double>(samples); }
  [[nodiscard]] Index occurring() const;  ///< classes that have samples
};

using Score = std::variant<ValueScores, ClassScores>;

/// What is known of predictions besides the classes; each may be empty.
struct PredictionDetails {
  MatrixView<const double> probabilities{};  ///< samples × classes
  /// What orders samples, for the AUC: a column for each class, or one of two classes, high for the second. Default:
  /// the probabilities.
  MatrixView<const double> decisions{};
  Index bins = 10;  ///< of the calibration
};

/// Of numbers, a row for each sample. Error{input} where shapes differ, there are none, or one is not finite;
/// Error{numerical} where the squared error exceeds the range of float64.  O(n).
[[nodiscard]] ValueScores value_scores(MatrixView<const double> targets, MatrixView<const double> predicted);

/// Of classes 0 … classes − 1. Error{input} where sizes differ, there is no sample, a class is none of these, or a
/// probability is not in [0, 1].  O(classes·n log n).
[[nodiscard]] ClassScores class_scores(std::span<const Index> labels, std::span<const Index> predicted, Index classes,
                                       const PredictionDetails& details = {});

/// The same of the decisions of a machine, with its margins. Decisions by pairs of classes order the samples of a pair.
[[nodiscard]] ClassScores class_scores(Scheme scheme, Index classes, MatrixView<const double> decisions,
                                       std::span<const Index> labels, MatrixView<const double> probabilities = {});

/// Scores of a machine on a data set; nothing where its samples have neither labels nor targets.
[[nodiscard]] std::optional<Score> score(Scheme scheme, Index classes, const Matrix<double>& decisions,
                                         const Dataset& data, const Matrix<double>& probabilities = {});

/// Which scores are missing and why, one sentence each, by the names of the classes.
[[nodiscard]] std::vector<std::string> missing_scores(const Score& score, std::span<const std::string> classes);

}  // namespace widelimit
