#pragma once

#include "widelimit/engine/algebra.hpp"

namespace widelimit::cpu {

/// A = LDLᵀ with pivots of one or two rows (Bunch and Kaufman 1977), from the upper triangle of a. n³/3 multiply-adds
/// on the calling thread, with an interruption point before each panel.
[[nodiscard]] std::unique_ptr<IndefiniteFactor> bunch_kaufman(Matrix<double> a);

}  // namespace widelimit::cpu
