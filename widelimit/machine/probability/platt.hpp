#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Maximum likelihood on decisions that the machine did not see its labels for (k-fold), with Platt's targets
/// (n₊+1)/(n₊+2) and 1/(n₋+2) in place of 1 and 0, so that the slope stays finite where decisions separate. Newton with
/// backtracking on a strictly convex function, in forms that neither overflow nor cancel (Lin, Lin and Weng 2007).
/// Labels are ±1. O(n) each of a few steps.
[[nodiscard]] Sigmoid fit_sigmoid(std::span<const double> decisions, std::span<const double> labels);

/// Decisions on each sample by the machine fitted without the samples of its fold; fold i holds the samples j with
/// j mod folds = i of each class. Error{input} where some class has fewer than two samples or fewer folds than two are
/// asked for; there are never more folds than samples of the rarer class.
[[nodiscard]] std::vector<double> held_out_decisions(const GramMatrix& k, std::span<const double> labels, Index folds,
                                                     const SvmOptions& options = {}, SvmLoss loss = SvmLoss::hinge);

/// A sigmoid for each output of a support vector machine of that scheme (sign, one-vs-one, one-vs-rest), from
/// decisions on samples left out of their fold; all folds of all outputs run in parallel. Error{input} as
/// held_out_decisions says.  Costs `folds` times the fit.
inline constexpr Index platt_folds = 5;
[[nodiscard]] std::vector<Sigmoid> calibrate(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                             Scheme scheme, const SvmOptions& options = {},
                                             SvmLoss loss = SvmLoss::hinge, Index folds = platt_folds);

/// Probabilities of `classes` classes from those of pairs (rows × pairs, r_cd = P(c | c or d), in the order of
/// fit_one_vs_one): the least Σ_c Σ_{d≠c} (r_dc p_c − r_cd p_d)² with Σp = 1 (Wu, Lin and Weng 2004). rows × classes.
[[nodiscard]] Matrix<double> pairwise_coupling(const MatrixView<const double>& pairwise, Index classes);

}  // namespace widelimit
