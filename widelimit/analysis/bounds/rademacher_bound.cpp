#include "widelimit/analysis/bounds/rademacher_bound.hpp"

#include "widelimit/analysis/margins.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/machine/gram/indefinite.hpp"
#include "widelimit/machine/gram/rounding.hpp"
#include "widelimit/machine/gram/semidefinite.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

double ClippedLoss::lipschitz() const {
  switch (loss.kind) {
    case LossKind::squared:
    case LossKind::squared_hinge:
      return 2 * std::sqrt(clip) / unit;
    case LossKind::logistic:
      return -std::expm1(-clip) / unit;
    default:
      return 1 / unit;
  }
}

double ClippedLoss::value(double z, double y) const { return std::min(loss_value(loss, z, y), clip) / unit; }

ClippedLoss clipped_loss(const Loss& loss, double clip) {
  loss.validate();
  if (loss.kind == LossKind::softmax) {
    fail(Code::usage, "a bound needs a loss of one output; softmax has several: choose hinge, the ramp of the margin");
  }
  if (!(clip > 0) || !std::isfinite(clip)) {
    fail(Code::input, "losses cannot be clipped at {}; choose a positive number", clip);
  }
  return {.loss = loss, .clip = clip, .unit = 1};
}

ClippedLoss error_loss(const Loss& loss) {
  loss.validate();
  if (loss.kind == LossKind::insensitive && loss.epsilon >= 1) {
    fail(Code::input, "epsilon {} gives wrong signs of ±1 zero loss; a bound on the error rate needs epsilon < 1",
         loss.epsilon);
  }
  const double none = loss.kind == LossKind::softmax ? 1.0 : loss_value(loss, 0, 1);
  ClippedLoss result = clipped_loss(loss, none);
  result.unit = none;
  return result;
}

namespace {

/// Relative amount by which rounding of the kernel entries can reduce a square.
constexpr double square_rounding = 1e-8;

/// Returns an upper bound on the root of a square that is a sum of `terms` products of moduli `parts`. Throws
/// Error{input} if the square is more negative than rounding explains.
double root_of_square(double square, double parts, Index terms, const char* what) {
  const double rounding = rounding_of(2 * terms + 16) * parts;
  if (square < -std::max(rounding, square_rounding * parts)) {
    fail(Code::input, "{} is {:.3g}; it must not be negative: give a positive semi-definite matrix", what, square);
  }
  return std::sqrt(std::max(square, 0.0) + rounding) * (1 + 4 * unit_rounding);
}

double trace_of(const GramMatrix& k) {
  double sum = 0;
  for (Index i = 0; i < k.samples(); ++i) {
    const double entry = k.diagonal()[usize(i)];
    if (entry < 0) fail(Code::input, "entry {} of the diagonal of the kernel is {:.3g}, below 0", i, entry);
    sum += entry;
  }
  return sum;
}

/// Returns B, |b| and tr K of a machine with decision values `g` on its training samples; B is rounded upwards.
FunctionSize machine_size(const GramMatrix& k, double asymmetry, const Fit& fit, const Matrix<double>& g) {
  FunctionSize size{.samples = fit.alpha.rows()};
  size.trace = trace_of(k);
  const ProductRounding rounding(k, asymmetry);
  double square = 0;
  double parts = 0;
  double offset = 0;
  for (Index j = 0; j < fit.alpha.cols(); ++j) {
    const double b = fit.bias[static_cast<std::size_t>(j)];
    const double reach = rounding.size_of(fit.alpha.view(), j);  // αᵀKα ≤ reach²
    offset += b * b;
    parts += reach * reach * (1 + asymmetry / unit_rounding);
    for (Index i = 0; i < fit.alpha.rows(); ++i) {
      square += fit.alpha(i, j) * (g(i, j) - b);
      parts += std::fabs(fit.alpha(i, j) * b);
    }
  }
  size.norm = root_of_square(square, parts, fit.alpha.rows(), "the squared norm αᵀKα");
  size.offset = std::sqrt(offset);
  return size;
}

/// Factor of Maurer's vector contraction inequality; see docs/theory/bounds.md.
double outputs_factor(Scheme scheme, Index classes) {
  const auto c = static_cast<double>(classes);
  if (scheme == Scheme::sign) return 1;
  return is_pairwise(scheme) ? std::sqrt(2 * (c - 1)) : 2 * std::sqrt(c);
}

/// Checks kernel and sizes; returns the asymmetry of the kernel.
double check_machine(const GramMatrix& k, const Fit& fit, std::size_t known, const RademacherOptions& options) {
  const double asymmetry = k.check();
  const Index n = k.samples();
  if (fit.alpha.rows() != n || static_cast<Index>(known) != n) {
    fail(Code::input, "the kernel has {} samples, the fit {}, and there are {} labels; the numbers must be equal", n,
         fit.alpha.rows(), known);
  }
  if (options.check_definite && !is_semidefinite(k, options.progress)) {
    fail(Code::input, "{}: this kernel defines no norm", diagonal_shift_advice(k, options.progress));
  }
  return asymmetry;
}

/// Returns the mean loss of s·margin with target 1: for y = ±1, (y, z) and (1, yz) have the same loss.
double mean_at(const ClippedLoss& loss, std::span<const double> margins, double scale) {
  double sum = 0;
  for (const double margin : margins) sum += loss.value(scale * margin, 1);
  return sum / static_cast<double>(margins.size());
}

/// Returns all but the uniform bound.
RademacherBound textbook_bound(const ClippedLoss& loss, const FunctionSize& size, double empirical, double delta) {
  RademacherBound bound{.loss = loss, .size = size, .setting = {loss.lipschitz(), loss.range(), delta}};
  bound.textbook = fixed_norm_bound(size, empirical, bound.setting);
  return bound;
}

ClippedLoss class_loss(const RademacherOptions& options, Index classes) {
  if (options.clip) fail(Code::usage, "a bound on the error rate clips the loss at its value for g = 0; omit the clip");
  const Loss loss = options.loss.value_or(Loss{.kind = LossKind::hinge});
  if (classes > 2 && loss.kind != LossKind::hinge) {
    fail(Code::usage, "a bound for {} classes requires the hinge loss, as a ramp of the margin, not {}", classes,
         to_string(loss.kind));
  }
  return error_loss(loss);
}

}  // namespace

void RademacherOptions::validate() const { BoundSetting{.delta = delta}.validate(); }

RademacherBound rademacher_bound(const GramMatrix& k, const FittedMachine& trained, std::span<const Index> labels,
                                 const RademacherOptions& options) {
  options.validate();
  const ClippedLoss loss = class_loss(options, trained.classes);
  const double asymmetry = check_machine(k, trained.fit, labels.size(), options);
  const Matrix<double> g = decision(trained.fit, k.matrix(), k.engine());
  const std::vector<double> found = margins(trained.scheme, trained.classes, g.view(), labels);
  FunctionSize size = machine_size(k, asymmetry, trained.fit, g);
  size.outputs = outputs_factor(trained.scheme, trained.classes);
  RademacherBound bound = textbook_bound(loss, size, mean_at(loss, found, 1), options.delta);
  bound.uniform = uniform_bound(
      size, [&](double scale) { return mean_at(loss, found, scale); }, true, bound.setting);
  return bound;
}

RademacherBound rademacher_bound(const GramMatrix& k, const Fit& fit, std::span<const double> targets,
                                 const RademacherOptions& options) {
  options.validate();
  const ClippedLoss loss = clipped_loss(options.loss.value_or(Loss{}), options.clip.value_or(1.0));
  if (fit.alpha.cols() != 1) {
    fail(Code::usage, "a bound requires one target, not {}; fit and bound each target separately", fit.alpha.cols());
  }
  const double asymmetry = check_machine(k, fit, targets.size(), options);
  const Matrix<double> g = decision(fit, k.matrix(), k.engine());
  double sum = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    if (!std::isfinite(targets[i])) fail(Code::input, "target {} is {}; it must be finite", i, targets[i]);
    sum += loss.value(g(static_cast<Index>(i), 0), targets[i]);
  }
  const double empirical = sum / static_cast<double>(targets.size());
  RademacherBound bound = textbook_bound(loss, machine_size(k, asymmetry, fit, g), empirical, options.delta);
  bound.uniform = uniform_bound(
      bound.size, [&](double) { return empirical; }, false, bound.setting);
  return bound;
}

RademacherBound path_bound(const NetAsMachine& net, std::span<const Index> labels, Index classes,
                           const RademacherOptions& options) {
  options.validate();
  const ClippedLoss loss = class_loss(options, classes);
  const PathMachine& machine = net.machine;
  const Index columns = machine.k.cols();
  const Index outputs = classes == 2 ? 1 : classes;
  const Index n = std::ssize(labels);
  if (classes < 2 || columns != n * outputs || std::ssize(net.outputs) < columns) {
    fail(Code::usage, "a network with {} kernel columns does not match {} samples of {} classes with {} outputs",
         columns, n, classes, outputs);
  }
  FunctionSize size{.samples = n, .outputs = outputs == 1 ? 1.0 : 2.0};
  double square = 0;
  double parts = 0;
  for (Index i = 0; i < columns; ++i) {
    size.trace += machine.k(i, i);
    for (Index j = 0; j < columns; ++j) {
      const double part =
          machine.a[static_cast<std::size_t>(i)] * machine.k(i, j) * machine.a[static_cast<std::size_t>(j)];
      square += part;
      parts += std::fabs(part);
    }
  }
  size.norm = root_of_square(square, parts, columns * columns, "aᵀKa of the network's kernel");
  size.trace = std::pow(root_of_square(size.trace, std::fabs(size.trace), columns, "tr K of the network's kernel"), 2);
  const MatrixView<const double> f{net.outputs.data(), n, outputs, outputs};
  const std::vector<double> found = margins(outputs == 1 ? Scheme::sign : Scheme::one_hot, classes, f, labels);
  RademacherBound bound = textbook_bound(loss, size, mean_at(loss, found, 1), options.delta);
  bound.note =
      "the kernel of a trained network depends on the sample: the value of the paper's formula, not a guarantee";
  return bound;
}

}  // namespace widelimit
