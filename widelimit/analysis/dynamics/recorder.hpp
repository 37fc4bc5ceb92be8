#pragma once

#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// A machine at one moment.
struct Moment {
  double time = 0;
  double offset_left = 1;  ///< share of the start's offset that is left
  const Matrix<double>& alpha;
  const Matrix<double>& g;  ///< on the samples: Kα + offset_left·h
};

/// λ/2‖β‖² + Σ l and Σ l, with ‖β‖² = αᵀ(g + offset_left·h) but for the norm of h itself.
struct Objective {
  double objective = 0;
  double loss = 0;
};
[[nodiscard]] Objective objective_at(const DynamicsInput& input, const Start& start, const Moment& moment);

/// Fills a Trajectory moment by moment.
class Recorder {
 public:
  /// Room for `moments`; Error{resource} where memory does not hold them. All that is handed over must outlive it.
  Recorder(const DynamicsInput& input, const Start& start, const Recording& recording, Index moments,
           const Engine& engine);

  /// False where an output is not finite, which is then not recorded.  O(test·samples·outputs).
  bool add(const Moment& moment);
  /// What was recorded, with the coefficients of the last moment at the end.
  [[nodiscard]] Trajectory finish() &&;

 private:
  DynamicsInput input_;
  const Start& start_;
  const Recording& recording_;
  Index tests_ = 0;
  const Engine& engine_;
  EngineMatrix test_;  ///< K(test, train)
  Matrix<double> test_now_;
  Trajectory result_;
};

/// A trajectory that was not begun because K, with an eigenvalue below 0, is no machine's: its summary says what to do.
[[nodiscard]] Trajectory without_machine(Trajectory trajectory, const GramMatrix& k, Progress* progress);

}  // namespace widelimit
