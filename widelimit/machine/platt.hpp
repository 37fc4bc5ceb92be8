#pragma once

#include "widelimit/machine/svm.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Probability of the class +1 by Platt (1999): P(y = 1 | g) = 1/(1 + exp(slope·g + offset)).
struct Sigmoid {
  double slope = 0;
  double offset = 0;
  [[nodiscard]] double probability(double g) const;
};

/// Maximum likelihood on decisions that the machine did not see its labels for (k-fold), with Platt's targets
/// (n₊+1)/(n₊+2) and 1/(n₋+2) in place of 1 and 0, so that the slope stays finite where decisions separate. Newton with
/// backtracking on a strictly convex function, in forms that neither overflow nor cancel (Lin, Lin and Weng 2007).
/// Labels are ±1. O(n) each of a few steps.
[[nodiscard]] Sigmoid fit_sigmoid(std::span<const double> decisions, std::span<const double> labels);

/// Decisions on each sample by the machine fitted without the samples of its fold; fold i holds the samples j with
/// j mod folds = i of each class. Error{input} where some class has fewer than two samples or fewer folds than two are
/// asked for; there are never more folds than samples of the rarer class.
[[nodiscard]] std::vector<double> held_out_decisions(const AnyView& k, std::span<const double> labels, Index folds,
                                                     const SvmOptions& options = {}, SvmLoss loss = SvmLoss::hinge);

/// Probabilities of `classes` classes from those of pairs (rows × pairs, r_cd = P(c | c or d), in the order of
/// fit_one_vs_one): the least Σ_c Σ_{d≠c} (r_dc p_c − r_cd p_d)² with Σp = 1 (Wu, Lin and Weng 2004). rows × classes.
[[nodiscard]] Matrix<double> couple(const MatrixView<const double>& pairwise, Index classes);

}  // namespace widelimit
