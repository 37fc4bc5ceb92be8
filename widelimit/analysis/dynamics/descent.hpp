#pragma once

#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/finite/training/batches.hpp"
#include "widelimit/kernel/gram_columns.hpp"

namespace widelimit {

/// Coefficients and outputs of a machine, step by step. Outputs are carried by EQ (5), not computed from coefficients:
/// g ← (1 − ηλ)g − η·(n/|B|)·K l'.
class Descent {
 public:
  Descent(const GramMatrix& k, const DynamicsInput& input, const Start& start, Batches batches);

  /// False where an output is beyond 1e30: the machine has diverged.
  bool step(double eta);
  [[nodiscard]] Index steps() const { return steps_; }
  [[nodiscard]] const Matrix<double>& alpha() const { return alpha_; }
  [[nodiscard]] const Matrix<double>& g() const { return g_; }
  [[nodiscard]] double offset_left() const { return offset_left_; }
  /// max |g − (Kα + h)|/max |g|: how far the carried outputs are from the solution of EQ (5). Then takes the latter.
  /// O(n²·outputs).
  [[nodiscard]] double recursion_error();

 private:
  void full_step(double eta);
  void batch_step(double eta, const std::vector<Index>& batch);
  void slopes_of(Index sample, double* slopes) const;
  /// product += K(:, sample)·changeᵀ.
  void add_row(Index sample, const double* change, double scale, Matrix<double>& product);

  const GramMatrix& k_;
  GramColumns<double> columns_;
  DynamicsInput input_;
  Batches batches_;
  Matrix<double> offset_, alpha_, g_;
  Matrix<double> slopes_, product_;  ///< l' of all samples at the last full step, and K l'
  Index updates_ = 0;                ///< of `product_` since its last full computation
  Index steps_ = 0;
  double offset_left_ = 1;
};

}  // namespace widelimit
