#include "widelimit/machine/machine.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/machine/logistic/logistic.hpp"
#include "widelimit/machine/logistic/softmax.hpp"
#include "widelimit/machine/multiclass.hpp"
#include "widelimit/machine/probability/platt.hpp"
#include "widelimit/machine/ridge/ridge.hpp"
#include "widelimit/machine/svm/svr.hpp"

#include <algorithm>
#include <array>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 7> machines{"regression", "ridge", "hard-svm", "svm", "svm2", "svr", "logistic"};
constexpr std::array<std::string_view, 7> schemes{"values",     "sign",    "one-hot",         "one-vs-rest",
                                                  "one-vs-one", "softmax", "one-vs-one-first"};

bool is_svm(Machine machine) {
  return machine == Machine::svm || machine == Machine::svm2 || machine == Machine::hard_svm;
}

SvmLoss loss_of(Machine machine) {
  if (machine == Machine::svm2) return SvmLoss::squared_hinge;
  return machine == Machine::hard_svm ? SvmLoss::hard : SvmLoss::hinge;
}

Fit fit_linear(const GramMatrix& k, MatrixView<const double> targets, const MachineOptions& options) {
  const RidgeOptions ridge{.lambda = options.lambda,
                           .bias = options.bias,
                           .weights = options.weights,
                           .indefinite = options.indefinite,
                           .progress = options.progress};
  return options.machine == Machine::ridge ? fit_ridge(k, targets, ridge) : fit_regression(k, targets, ridge);
}

SvmOptions svm_options(const MachineOptions& options) {
  return {.lambda = options.lambda,
          .bias = options.bias,
          .weights = options.weights,
          .tolerance = options.tolerance.value_or(SvmOptions{}.tolerance),
          .check_definite = options.check_definite,
          .progress = options.progress};
}

LogisticOptions logistic_options(const MachineOptions& options) {
  return {.lambda = options.lambda,
          .bias = options.bias,
          .weights = options.weights,
          .tolerance = options.tolerance.value_or(LogisticOptions{}.tolerance),
          .check_definite = options.check_definite,
          .progress = options.progress};
}

Fit fit_signs(const GramMatrix& k, const Matrix<double>& signs, const MachineOptions& options) {
  const std::span<const double> labels(signs.data(), static_cast<std::size_t>(signs.rows()));
  switch (options.machine) {
    case Machine::svm:
      return fit_svm(k, labels, svm_options(options));
    case Machine::svm2:
      return fit_svm2(k, labels, svm_options(options));
    case Machine::hard_svm:
      return fit_hard_svm(k, labels, svm_options(options));
    case Machine::logistic:
      return fit_logistic(k, labels, logistic_options(options));
    default:
      return fit_linear(k, signs.view(), options);
  }
}

/// Returns the scheme of a machine with three or more classes.
Scheme scheme_of(const MachineOptions& options) {
  if (is_svm(options.machine)) {
    const Scheme scheme = options.scheme.value_or(Scheme::one_vs_one);
    if (is_pairwise(scheme) || scheme == Scheme::one_vs_rest) return scheme;
    fail(Code::usage, "{} has no scheme '{}'; choose one-vs-one, one-vs-one-first or one-vs-rest",
         to_string(options.machine), to_string(scheme));
  }
  const Scheme only = options.machine == Machine::logistic ? Scheme::softmax : Scheme::one_hot;
  if (options.scheme.value_or(only) == only) return only;
  fail(Code::usage, "{} has no scheme '{}'; with several classes it is {}", to_string(options.machine),
       to_string(*options.scheme), to_string(only));
}

void check_classes(std::span<const Index> labels, Index classes) {
  if (labels.empty()) fail(Code::input, "there are no labels; a classifier needs the class of every sample");
  std::vector<char> present(static_cast<std::size_t>(std::max<Index>(classes, 0)), 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0 || labels[i] >= classes) {
      fail(Code::input, "label {} of sample {} is none of {} classes", labels[i], i, classes);
    }
    present[static_cast<std::size_t>(labels[i])] = 1;
  }
  if (classes < 2) fail(Code::input, "all samples are of one class; a classifier needs two");
  if (std::find(present.begin(), present.end(), 0) != present.end()) {
    fail(Code::input, "{} of {} classes have no samples; leave them out or take more samples",
         std::count(present.begin(), present.end(), 0), classes);
  }
}

}  // namespace

std::string_view to_string(Machine machine) { return machines[static_cast<std::size_t>(machine)]; }
Machine parse_machine(std::string_view text) { return parse_choice<Machine>("machine", machines, text); }
std::string_view to_string(Scheme scheme) { return schemes[static_cast<std::size_t>(scheme)]; }
Scheme parse_scheme(std::string_view text) { return parse_choice<Scheme>("scheme", schemes, text); }

Index output_count(Scheme scheme, Index classes) {
  if (scheme == Scheme::sign) return 1;
  return is_pairwise(scheme) ? classes * (classes - 1) / 2 : classes;
}

Matrix<double> class_targets(std::span<const Index> labels, Index classes) {
  const bool binary = classes == 2;
  Matrix<double> targets(std::ssize(labels), binary ? 1 : std::max<Index>(classes, 1));
  for (Index i = 0; i < targets.rows(); ++i) {
    const Index label = labels[static_cast<std::size_t>(i)];
    if (label < 0 || label >= classes)
      fail(Code::usage, "label {} of sample {} is none of {} classes", label, i, classes);
    if (binary) {
      targets(i, 0) = label == 1 ? 1.0 : -1.0;
    } else {
      targets(i, label) = 1.0;
    }
  }
  return targets;
}

namespace {

FittedMachine train_outputs(const GramMatrix& k, std::span<const Index> labels, Index classes,
                            const MachineOptions& options) {
  if (options.machine == Machine::svr) {
    fail(Code::usage, "svr fits numbers, not classes; choose svm, svm2, hard-svm, logistic, ridge or regression");
  }
  check_classes(labels, classes);
  FittedMachine trained{.machine = options.machine, .classes = classes};
  if (classes == 2) {
    trained.scheme = Scheme::sign;
    trained.fit = fit_signs(k, class_targets(labels, classes), options);
    return trained;
  }
  trained.scheme = scheme_of(options);
  switch (trained.scheme) {
    case Scheme::one_vs_one:
    case Scheme::one_vs_one_first:
      trained.fit = fit_one_vs_one(k, labels, classes, svm_options(options), loss_of(options.machine));
      break;
    case Scheme::one_vs_rest:
      trained.fit = fit_one_vs_rest(k, labels, classes, svm_options(options), loss_of(options.machine));
      break;
    case Scheme::softmax:
      trained.fit = fit_softmax(k, labels, classes, logistic_options(options));
      break;
    default:
      trained.fit = fit_linear(k, class_targets(labels, classes).view(), options);
  }
  return trained;
}

}  // namespace

FittedMachine train_classes(const GramMatrix& k, std::span<const Index> labels, Index classes,
                            const MachineOptions& requested) {
  const Interruptible interruptible(requested.progress);
  const std::vector<double> weights = sample_weights(requested, labels, classes);
  MachineOptions options = requested;
  options.weights = weights;
  const bool own = options.machine == Machine::logistic;
  if (options.probability && !own && !is_svm(options.machine) && options.machine != Machine::svr) {
    fail(Code::usage, "{} has no probabilities; logistic has, and svm, svm2 and hard-svm may be calibrated",
         to_string(options.machine));
  }
  FittedMachine trained = train_outputs(k, labels, classes, options);
  if (options.probability && !own) {
    SvmOptions folds = svm_options(options);
    folds.check_definite = false;  // already tested for the machine itself
    const bool fitted = trained.fit.summary.ending != Ending::not_positive_definite;
    trained.calibration = fitted ? calibrate(k, labels, classes, trained.scheme, folds, loss_of(options.machine))
                                 : std::vector<Sigmoid>(static_cast<std::size_t>(trained.fit.alpha.cols()));
  }
  return trained;
}

FittedMachine train_values(const GramMatrix& k, MatrixView<const double> targets, const MachineOptions& options) {
  const Interruptible interruptible(options.progress);
  if (!options.class_weights.empty()) fail(Code::usage, "weights of classes need classes; these targets are numbers");
  FittedMachine trained{.machine = options.machine};
  if (options.machine == Machine::regression || options.machine == Machine::ridge) {
    trained.fit = fit_linear(k, targets, options);
  } else if (options.machine == Machine::svr) {
    trained.fit = fit_svr(k, targets,
                          {.lambda = options.lambda,
                           .epsilon = options.epsilon,
                           .bias = options.bias,
                           .weights = options.weights,
                           .tolerance = options.tolerance.value_or(SvrOptions{}.tolerance),
                           .check_definite = options.check_definite,
                           .progress = options.progress});
  } else {
    fail(Code::usage, "{} fits classes, not numbers; choose regression, ridge or svr", to_string(options.machine));
  }
  return trained;
}

std::vector<Index> classes_of(Scheme scheme, Index classes, MatrixView<const double> decisions) {
  if (scheme == Scheme::values) fail(Code::usage, "this machine predicts numbers; they have no classes");
  if (decisions.cols != output_count(scheme, classes)) {
    fail(Code::usage, "{} of {} classes has {} outputs, not {}", to_string(scheme), classes,
         output_count(scheme, classes), decisions.cols);
  }
  if (is_pairwise(scheme)) return vote(decisions, classes, scheme);
  if (scheme != Scheme::sign) return largest_output(decisions);
  std::vector<Index> result(static_cast<std::size_t>(decisions.rows));
  for (Index i = 0; i < decisions.rows; ++i) result[static_cast<std::size_t>(i)] = decisions(i, 0) > 0 ? 1 : 0;
  return result;
}

}  // namespace widelimit
