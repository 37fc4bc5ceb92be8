#pragma once

#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

namespace widelimit {

/// State of a machine at one time.
struct Moment {
  double time = 0;
  double offset_left = 1;  ///< remaining fraction of the initial offset
  const Matrix<double>& alpha;
  const Matrix<double>& g;  ///< outputs on the samples: Kα + offset_left·h
};

/// λ/2‖β‖² + Σ l and Σ l, with ‖β‖² = αᵀ(g + offset_left·h), i.e. without ‖h‖².
struct Objective {
  double objective = 0;
  double loss = 0;
};
[[nodiscard]] Objective objective_at(const DynamicsInput& input, const Start& start, const Moment& moment);

/// Fills a Trajectory, one time after another.
class Recorder {
 public:
  /// Allocates `moments` rows; throws Error{resource} if they do not fit into memory. All arguments must outlive the
  /// object.
  Recorder(const DynamicsInput& input, const Start& start, const Recording& recording, Index moments,
           const Engine& engine);

  /// Records a state; returns false, without recording it, if an output is not finite. O(test·samples·outputs).
  bool add(const Moment& moment);
  /// Returns the trajectory with the coefficients of the last recorded time.
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

/// Returns an empty trajectory for an indefinite K; its summary says how to proceed.
[[nodiscard]] Trajectory without_machine(Trajectory trajectory, const GramMatrix& k, Progress* progress);

}  // namespace widelimit
