#pragma once

#include "widelimit/analysis/bounds/rademacher_terms.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/finite/tangent/path_kernel.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"

#include <optional>
#include <span>
#include <string>

namespace widelimit {

/// min(l(z, y), c)/u: a loss of EQ Table 1, clipped because the bounds require a bounded loss. Its range is c/u; its
/// Lipschitz constant in z is the largest slope of l below c, divided by u:
///
///     hinge, ε-insensitive 1      squared, squared hinge 2√c      logistic 1 − e^{−c}
///
/// since |l'| = 2√l for the squared losses and 1 − e^{−l} for the logistic loss. [docs/theory/bounds.md]
struct ClippedLoss {
  Loss loss;
  double clip = 1;  ///< c, positive and finite
  double unit = 1;  ///< u

  [[nodiscard]] double range() const { return clip / unit; }
  [[nodiscard]] double lipschitz() const;
  /// Returns the clipped loss of output z with target y.
  [[nodiscard]] double value(double z, double y) const;
};

/// Throws Error{usage} for softmax, which has several outputs, and Error{input} unless 0 < clip < ∞.
[[nodiscard]] ClippedLoss clipped_loss(const Loss& loss, double clip);

/// Returns the loss clipped at l(0, ±1) and divided by it: its range is 1 and it is at least 1 if yz ≤ 0, so that its
/// mean bounds the error rate. The hinge becomes the ramp min(1, max(0, 1 − yz)). Throws Error{usage} for softmax and
/// Error{input} for ε ≥ 1, for which a wrong sign can have zero loss.
[[nodiscard]] ClippedLoss error_loss(const Loss& loss);

struct RademacherOptions {
  double delta = BoundSetting{}.delta;
  std::optional<Loss> loss;    ///< default: hinge for classification, squared loss for regression
  std::optional<double> clip;  ///< regression: clip of the loss, fixed independently of the sample; default 1
  /// Rejects a kernel that is not positive semi-definite (machine/gram/semidefinite.hpp), which defines no norm. Set to
  /// false if it is known to be.
  bool check_definite = true;
  Progress* progress = nullptr;

  void validate() const;
};

/// Bound on the expected loss of a fitted function from its training sample.
struct RademacherBound {
  ClippedLoss loss;      ///< the bound is on its mean, which for classification bounds the error rate
  FunctionSize size;     ///< B, tr K, |b|, n
  BoundSetting setting;  ///< ρ, c, δ
  BoundTerms textbook;   ///< EQ bound with B treated as fixed in advance
  /// Valid for the fitted B; empty if the kernel was learned from the sample, for which no such bound holds.
  std::optional<UniformBound> uniform;
  std::string note;  ///< a remark, or empty

  /// The clipped loss never exceeds c.
  [[nodiscard]] bool vacuous(const BoundTerms& terms) const { return terms.value() >= setting.range; }
};

/// Bounds the error rate of a classifier on K with probability 1 − δ. Two classes with any loss of EQ Table 1
/// (error_loss); more classes with the ramp of analysis/margins and `outputs` = 2√C for one output per class or
/// √(2(C − 1)) for one per pair. K must not depend on the sample. Throws Error{input} for δ outside (0, 1), no samples,
/// mismatched sizes, or K not positive semi-definite; Error{usage} for other losses with more than two classes.
/// [docs/theory/bounds.md] O(n²·outputs).
[[nodiscard]] RademacherBound rademacher_bound(const GramMatrix& k, const FittedMachine& trained,
                                               std::span<const Index> labels, const RademacherOptions& options = {});

/// Bounds the mean of min(l(g(x), y), c) of a regression machine on K. Throws Error{usage} for several targets.
[[nodiscard]] RademacherBound rademacher_bound(const GramMatrix& k, const Fit& fit, std::span<const double> targets,
                                               const RademacherOptions& options = {});

/// Evaluates the EQ bound for a trained network through the kernel of EQ Theorem 4.1, f_T = Σ aᵢK(x,xᵢ) + b(x): B² =
/// aᵀKa and tr K; b(x) is fixed before the sample and adds nothing. `outputs` is 1 for one output, else 2, with tr K
/// over all outputs. This is not a proved bound: K depends on the training path, hence on the sample. Throws
/// Error{input} if aᵀKa or tr K is negative, and Error{usage} if labels and outputs do not match.
[[nodiscard]] RademacherBound path_bound(const NetAsMachine& net, std::span<const Index> labels, Index classes,
                                         const RademacherOptions& options = {});

}  // namespace widelimit
