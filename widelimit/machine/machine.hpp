#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/fit.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace widelimit {

/// The machines of EQ Table 1. [docs/theory/machines.md]
enum class Machine : std::uint8_t { regression, ridge, hard_svm, svm, svm2, svr, logistic };
/// "regression", "ridge", "hard-svm", "svm", "svm2", "svr", "logistic".
[[nodiscard]] std::string_view to_string(Machine machine);
/// Throws Error{usage} that lists the choices.
[[nodiscard]] Machine parse_machine(std::string_view text);

/// Mapping from the outputs of a machine to classes or values.
enum class Scheme : std::uint8_t {
  values,            ///< numbers, one output per target
  sign,              ///< two classes, one output: positive means the second class
  one_hot,           ///< regression on 0 and 1, one output per class; the largest wins
  one_vs_rest,       ///< one output per class; the largest wins
  one_vs_one,        ///< one output per pair of classes: most votes, ties by the sum of decisions
  softmax,           ///< one output per class; the largest wins; gives probabilities
  one_vs_one_first,  ///< one output per pair of classes: most votes, ties by the lowest class, as LIBSVM
};
/// "values", "sign", "one-hot", "one-vs-rest", "one-vs-one", "softmax", "one-vs-one-first".
[[nodiscard]] std::string_view to_string(Scheme scheme);
[[nodiscard]] Scheme parse_scheme(std::string_view text);
/// Whether there is one output per pair of classes.
[[nodiscard]] constexpr bool is_pairwise(Scheme scheme) {
  return scheme == Scheme::one_vs_one || scheme == Scheme::one_vs_one_first;
}

/// Class weights in the sum of losses, for unbalanced classes: they multiply the weights of the samples. Default: 1.
struct ClassWeights {
  /// Weight n/(k·n_c) for each of the n_c samples of class c, with n samples of k classes: all classes count equally.
  /// If samples have weights, their sums replace the counts.
  bool balanced = false;
  std::vector<double> each = {};  ///< alternatively, a positive weight per class

  [[nodiscard]] bool empty() const { return !balanced && each.empty(); }
};

struct MachineOptions {
  Machine machine = Machine::svm;
  double lambda = 1;             ///< ignored by regression and hard-svm, whose λ is 0
  double epsilon = 0.1;          ///< svr
  bool bias = false;             ///< not regularised
  std::optional<Scheme> scheme;  ///< for an SVM with three or more classes; default one-vs-one
  std::span<const double> weights;
  std::optional<double> tolerance;  ///< on the duality gap; default: that of the solver
  bool probability = false;         ///< SVM only: calibrate by Platt's method
  /// As in SvmOptions; ridge and regression test K + λ/2·I by factorising it.
  bool check_definite = true;
  /// As in RidgeOptions: ridge and regression also solve with an indefinite kernel.
  bool indefinite = false;
  Progress* progress = nullptr;
  /// Not supported by hard-svm and regression, whose solutions do not depend on weights, nor for numeric targets.
  ClassWeights class_weights = {};
};

/// Returns the sample weights in the sum of losses, including class weights; empty if all are 1. Throws Error{usage}
/// for a machine without class weights, Error{input} for invalid weights.
[[nodiscard]] std::vector<double> sample_weights(const MachineOptions& options, std::span<const Index> labels,
                                                 Index classes);

/// Probability of class +1 by Platt (1999): P(y = 1 | g) = 1/(1 + exp(slope·g + offset)).
struct Sigmoid {
  double slope = -1;
  double offset = 0;
  [[nodiscard]] double probability(double g) const;
  bool operator==(const Sigmoid&) const = default;
};

/// A fitted machine and the meaning of its outputs.
struct FittedMachine {
  Machine machine = Machine::svm;
  Scheme scheme = Scheme::values;
  Index classes = 0;  ///< 0 for regression
  Fit fit;
  std::vector<Sigmoid> calibration = {};  ///< one per output, if requested
};

/// Fits labels 0 … classes − 1, each of which must occur: two classes with one output, more with the scheme of the
/// machine. Throws Error{usage} for svr, which is a regression machine, for an unsupported scheme, and for
/// probabilities of ridge and regression; Error{input} for invalid data. Numerical failures are reported in the
/// Summary.
[[nodiscard]] FittedMachine train_classes(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                          const MachineOptions& options);

/// Fits numeric targets, one per column, by regression, ridge or svr. Throws Error{usage} for other machines.
[[nodiscard]] FittedMachine train_values(const GramMatrix& k, MatrixView<const double> targets,
                                         const MachineOptions& options);

/// Returns the number of outputs of a machine with `scheme`.
[[nodiscard]] Index output_count(Scheme scheme, Index classes);

/// Returns the class of every row of decisions. Throws Error{usage} for Scheme::values.
[[nodiscard]] std::vector<Index> classes_of(Scheme scheme, Index classes, MatrixView<const double> decisions);

/// Returns targets for labels 0 … classes − 1: one column of ±1 for two classes, else one-hot columns.
[[nodiscard]] Matrix<double> class_targets(std::span<const Index> labels, Index classes);

}  // namespace widelimit
