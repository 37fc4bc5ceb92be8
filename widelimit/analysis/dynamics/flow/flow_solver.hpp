#pragma once

#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <functional>
#include <memory>

namespace widelimit {

/// Training problem with the parameters of its solver. All references must outlive the solver.
struct FlowProblem {
  const GramMatrix& k;
  DynamicsInput input;
  const Start& start;
  double tolerance = 0;   ///< of the Runge–Kutta method
  Index most_events = 0;  ///< per output
  Index most_steps = 0;   ///< of the Runge–Kutta method
  Progress* progress = nullptr;
  std::function<void()> on_progress;  ///< called frequently; can stop by throwing
};

/// Minimum of the objective and its uncertainty.
struct Optimum {
  double objective = 0;
  double uncertainty = 0;
};

/// Solver of EQ (8) in coefficients, α̇ = −λα − l'(g, y), g = Kα + e^{−λt}h. [docs/theory/dynamics.md]
class FlowSolver {
 public:
  virtual ~FlowSolver() = default;
  /// Advances to `time`, which can be infinite and must not decrease between calls. Returns false if it cannot be
  /// reached; `report` then gives the reason.
  virtual bool advance(double time) = 0;
  [[nodiscard]] virtual const Matrix<double>& alpha() const = 0;
  [[nodiscard]] virtual const Matrix<double>& g() const = 0;
  /// Returns L(β*), or std::nullopt if it is unknown. Must be called after the last advance().
  [[nodiscard]] virtual std::optional<Optimum> optimum() = 0;
  /// Sets method, ending, iterations, memory and events.
  virtual void report(Trajectory& trajectory) const = 0;
};

[[nodiscard]] inline bool is_piecewise_linear(LossKind kind) {
  return kind == LossKind::hinge || kind == LossKind::insensitive;
}

/// Returns the solver for (y − z)²: closed form by the eigenvectors of K (flow_squared.cpp).
[[nodiscard]] std::unique_ptr<FlowSolver> squared_flow(const FlowProblem& problem);
/// Returns the solver for hinge and ε-insensitive loss: exact, event by event (flow_kinks.cpp).
[[nodiscard]] std::unique_ptr<FlowSolver> kinked_flow(const FlowProblem& problem);
/// Returns the solver for losses with a continuous derivative: adaptive Runge–Kutta with dense output
/// (flow_smooth.cpp).
[[nodiscard]] std::unique_ptr<FlowSolver> smooth_flow(const FlowProblem& problem);

/// Returns e^{−λt}; 1 at λ = 0, also for infinite t.
[[nodiscard]] double decay(double lambda, double time);
/// Returns ∫₀ᵗ e^{−λs}ds = (1 − e^{−λt})/λ, t at λ = 0; accurate for small λt.
[[nodiscard]] double decayed_time(double lambda, double time);

}  // namespace widelimit
