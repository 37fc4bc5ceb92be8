#pragma once

#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/machine/svm/svm.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Fits a sigmoid by maximum likelihood to held-out decisions (k-fold), with Platt's targets (n₊+1)/(n₊+2) and 1/(n₋+2)
/// instead of 1 and 0, which keeps the slope finite if the decisions separate the classes. Newton's method with
/// backtracking on a strictly convex function, in formulas without overflow and cancellation (Lin, Lin and Weng 2007).
/// Labels are ±1. O(n) per step, a few steps.
[[nodiscard]] Sigmoid fit_sigmoid(std::span<const double> decisions, std::span<const double> labels);

/// Returns the decision for each sample by the machine fitted without its fold; fold i holds the samples j with j mod
/// folds = i of each class. Uses at most as many folds as the rarer class has samples. Throws Error{input} if a class
/// has fewer than two samples or folds < 2.
[[nodiscard]] std::vector<double> held_out_decisions(const GramMatrix& k, std::span<const double> labels, Index folds,
                                                     const SvmOptions& options = {}, SvmLoss loss = SvmLoss::hinge);

inline constexpr Index platt_folds = 5;
/// Fits a sigmoid for each output of an SVM with that scheme (sign, one-vs-one, one-vs-rest) to held-out decisions; all
/// folds of all outputs run in parallel. Throws Error{input} as held_out_decisions. Costs `folds` times the fit.
[[nodiscard]] std::vector<Sigmoid> calibrate(const GramMatrix& k, std::span<const Index> labels, Index classes,
                                             Scheme scheme, const SvmOptions& options = {},
                                             SvmLoss loss = SvmLoss::hinge, Index folds = platt_folds);

/// Returns class probabilities, rows × classes, from pairwise ones (rows × pairs, r_cd = P(c | c or d), in the order of
/// fit_one_vs_one): the minimiser of Σ_c Σ_{d≠c} (r_dc p_c − r_cd p_d)² with Σp = 1 (Wu, Lin and Weng 2004).
[[nodiscard]] Matrix<double> pairwise_coupling(const MatrixView<const double>& pairwise, Index classes);

}  // namespace widelimit
