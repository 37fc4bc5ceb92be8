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
/// Error{usage} lists the choices.
[[nodiscard]] Machine parse_machine(std::string_view text);

/// How the outputs of a machine determine classes or values.
enum class Scheme : std::uint8_t {
  values,            ///< numbers, an output for each target
  sign,              ///< two classes, one output: the second class where positive
  one_hot,           ///< regression on 0 and 1, an output for each class: the largest
  one_vs_rest,       ///< an output for each class: the largest
  one_vs_one,        ///< an output for each pair of classes: most votes, then the larger sum of decisions
  softmax,           ///< an output for each class: the largest, with probabilities
  one_vs_one_first,  ///< an output for each pair of classes: most votes, then the first class, as LIBSVM does
};
/// "values", "sign", "one-hot", "one-vs-rest", "one-vs-one", "softmax", "one-vs-one-first".
[[nodiscard]] std::string_view to_string(Scheme scheme);
[[nodiscard]] Scheme parse_scheme(std::string_view text);
/// Whether there is an output for each pair of classes.
[[nodiscard]] constexpr bool is_pairwise(Scheme scheme) {
  return scheme == Scheme::one_vs_one || scheme == Scheme::one_vs_one_first;
}

/// Weights of classes in the sum of losses, for classes of unequal size: that of its class multiplies the weight of a
/// sample. Not given: 1.
struct ClassWeights {
  /// n/(k·n_c) for each of the n_c samples of class c, of n samples of k classes: all classes count the same. With
  /// weights of samples their sums take the place of counts.
  bool balanced = false;
  std::vector<double> each = {};  ///< instead: a positive weight for each class

  [[nodiscard]] bool empty() const { return !balanced && each.empty(); }
};

struct MachineOptions {
  Machine machine = Machine::svm;
  double lambda = 1;             ///< not used by regression and hard-svm, whose λ is 0
  double epsilon = 0.1;          ///< svr
  bool bias = false;             ///< not regularised
  std::optional<Scheme> scheme;  ///< of an SVM with three or more classes; default one-vs-one
  std::span<const double> weights;
  std::optional<double> tolerance;  ///< of the duality gap; default: that of the solver
  bool probability = false;         ///< of an SVM: also calibrate it by Platt's method
  /// As in SvmOptions; ridge and regression test K + λ/2·I by factoring it.
  bool check_definite = true;
  /// As in RidgeOptions: ridge and regression solve with an indefinite kernel, too.
  bool indefinite = false;
  Progress* progress = nullptr;
  /// Not of hard-svm and regression, whose solutions no weight changes, nor of numbers.
  ClassWeights class_weights = {};
};

/// Weights of the samples in the sum of losses, those of their classes included; empty where all are 1. Error{usage}
/// for a machine that cannot weigh its classes, Error{input} for weights out of range.
[[nodiscard]] std::vector<double> sample_weights(const MachineOptions& options, std::span<const Index> labels,
                                                 Index classes);

/// Probability of the class +1 by Platt (1999): P(y = 1 | g) = 1/(1 + exp(slope·g + offset)).
struct Sigmoid {
  double slope = -1;
  double offset = 0;
  [[nodiscard]] double probability(double g) const;
  bool operator==(const Sigmoid&) const = default;
};

/// A fitted machine, and the meaning of its outputs.
struct FittedMachine {
  Machine machine = Machine::svm;
  Scheme scheme = Scheme::values;
  Index classes = 0;  ///< 0 for regression
  Fit fit;
  std::vector<Sigmoid> calibration = {};  ///< of each output, where requested
};

/// Fits labels 0 … classes − 1, each of which must occur: two classes by one output, more by the machine's scheme.
/// Error{usage} for svr, which is a regression machine, for a scheme that the machine does not support, and for
/// probabilities of ridge and regression; Error{input} for invalid data. Numerical failures are reported in the
/// Summary.
[[nodiscard]] FittedMachine train_classes(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                          const MachineOptions& options);

/// Fits numeric targets, a column for each, by regression, ridge or svr; Error{usage} for the other machines.
[[nodiscard]] FittedMachine train_values(const GramMatrix& k, MatrixView<const double> targets,
                                         const MachineOptions& options);

/// Number of outputs of a machine with `scheme`.
[[nodiscard]] Index output_count(Scheme scheme, Index classes);

/// The class of every row of decisions. Error{usage} for Scheme::values.
[[nodiscard]] std::vector<Index> classes_of(Scheme scheme, Index classes, MatrixView<const double> decisions);

/// Targets for labels 0 … classes − 1: one column ±1 for two classes, else one-hot columns.
[[nodiscard]] Matrix<double> class_targets(std::span<const Index> labels, Index classes);

}  // namespace widelimit
