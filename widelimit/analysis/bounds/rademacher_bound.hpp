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

/// min(l(z, y), c)/u: a loss of EQ Table 1 made bounded, which bounds on its mean need. Its range is c/u, and its
/// Lipschitz constant in z is the largest slope that l has where it is below c, over u:
///
///     hinge, ε-insensitive 1      squared, squared hinge 2√c      logistic 1 − e^{−c}
///
/// since |l'| = 2√l for the two squares and 1 − e^{−l} for the logistic loss.               [docs/theory/bounds.md]
struct ClippedLoss {
  Loss loss;
  double clip = 1;  ///< c, positive and finite
  double unit = 1;  ///< u

  [[nodiscard]] double range() const { return clip / unit; }
  [[nodiscard]] double lipschitz() const;
  /// Of one output z with its target y.
  [[nodiscard]] double value(double z, double y) const;
};

/// Error{usage} for softmax, which is not of one output, Error{input} unless 0 < clip is finite.
[[nodiscard]] ClippedLoss clipped_loss(const Loss& loss, double clip);

/// Clipped at l(0, ±1) and divided by it: range 1, and no less than 1 wherever yz ≤ 0, so that its mean bounds the
/// share of wrong signs. The hinge becomes the ramp min(1, max(0, 1 − yz)). Error{usage} for softmax, Error{input} for
/// ε ≥ 1, where the loss does not detect a wrong sign.
[[nodiscard]] ClippedLoss error_loss(const Loss& loss);

struct RademacherOptions {
  double delta = BoundSetting{}.delta;
  std::optional<Loss> loss;    ///< default: hinge for classification, squared loss for regression
  std::optional<double> clip;  ///< regression: clip of the loss, chosen independently of the sample; default 1
  /// Refuse a kernel that is not positive semi-definite (machine/gram/semidefinite.hpp), which defines no norm. False
  /// where it is known to be.
  bool check_definite = true;
  Progress* progress = nullptr;

  void validate() const;
};

/// Bound on the expected loss of a fitted function from its training sample.
struct RademacherBound {
  ClippedLoss loss;      ///< whose mean is bounded; for classification it bounds the error rate
  FunctionSize size;     ///< B, tr K, |b|, n
  BoundSetting setting;  ///< ρ, c, δ
  BoundTerms textbook;   ///< EQ's, with B treated as fixed in advance
  /// Valid for the B of the fit; empty where the kernel itself was learned from the sample, for which no bound of this
  /// kind holds.
  std::optional<UniformBound> uniform;
  std::string note;  ///< a remark, or empty

  /// The clipped loss never exceeds c.
  [[nodiscard]] bool vacuous(const BoundTerms& terms) const { return terms.value() >= setting.range; }
};

/// For a classifier on K: with probability 1 − δ its error rate is at most the bound. Two classes
/// by any loss of EQ Table 1 (error_loss); more by the ramp of analysis/margins, with `outputs` 2√C for machines with
/// an output for each class and √(2(C − 1)) for one of each pair. K must not depend on the sample.
/// Error{input} for δ outside (0, 1), no samples, sizes that do not agree or a K that is not positive semi-definite;
/// Error{usage} for other losses of several classes.  [docs/theory/bounds.md]  O(n²·outputs).
[[nodiscard]] RademacherBound rademacher_bound(const GramMatrix& k, const FittedMachine& trained,
                                               std::span<const Index> labels, const RademacherOptions& options = {});

/// For a regression machine on K: the mean of min(l(g(x), y), c) is at most the bound. One target; Error{usage}
/// for several.
[[nodiscard]] RademacherBound rademacher_bound(const GramMatrix& k, const Fit& fit, std::span<const double> targets,
                                               const RademacherOptions& options = {});

/// For a trained network, through the kernel of EQ Theorem 4.1, f_T = Σ aᵢK(x,xᵢ) + b(x): B² = aᵀKa and tr K; b(x) is a
/// function fixed before the sample, which adds nothing. `outputs` is 1 for one output, else 2, tr K being that of all
/// outputs. EQ's number, not a proved bound: K depends on the training path, hence on the sample. Error{input}
/// for K with aᵀKa or tr K below 0, which is then no kernel; Error{usage} where labels and outputs do not agree.
[[nodiscard]] RademacherBound path_bound(const NetAsMachine& net, std::span<const Index> labels, Index classes,
                                         const RademacherOptions& options = {});

}  // namespace widelimit
