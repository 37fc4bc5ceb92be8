#pragma once

#include "widelimit/analysis/dynamics/dynamics_input.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <functional>
#include <memory>

namespace widelimit {

/// A machine to be trained, with what a solver needs of it. All of it outlives the solver.
struct FlowProblem {
  const GramMatrix& k;
  DynamicsInput input;
  const Start& start;
  double tolerance = 0;   ///< of the Runge–Kutta method
  Index most_events = 0;  ///< for each output
  Index most_steps = 0;   ///< of the Runge–Kutta method
  Progress* progress = nullptr;
  std::function<void()> beat;  ///< called often; stops the work by throwing
};

/// Least objective, and how far it may be off.
struct Optimum {
  double objective = 0;
  double uncertainty = 0;
};

/// One way to solve EQ (8) in coefficients, α̇ = −λα − l'(g, y), g = Kα + e^{−λt}h. [docs/theory/dynamics.md]
class FlowSolver {
 public:
  virtual ~FlowSolver() = default;
  /// To `time`, which may be infinite and is never before the one asked last. False where that is out of reach;
  /// `tell` then says why.
  virtual bool advance(double time) = 0;
  [[nodiscard]] virtual const Matrix<double>& alpha() const = 0;
  [[nodiscard]] virtual const Matrix<double>& g() const = 0;
  /// L(β*); nothing where it is not known. Asked after the last time.
  [[nodiscard]] virtual std::optional<Optimum> optimum() = 0;
  /// Method, ending, iterations, memory, events.
  virtual void tell(Trajectory& trajectory) const = 0;
};

/// (y − z)²: in closed form through the eigenvectors of K (flow_squared.cpp).
[[nodiscard]] std::unique_ptr<FlowSolver> squared_flow(const FlowProblem& problem);
/// Hinge and ε-insensitive: exactly, from event to event (flow_kinks.cpp).
[[nodiscard]] std::unique_ptr<FlowSolver> kinked_flow(const FlowProblem& problem);
/// Any loss with a continuous slope: adaptive Runge–Kutta with dense output (flow_smooth.cpp).
[[nodiscard]] std::unique_ptr<FlowSolver> smooth_flow(const FlowProblem& problem);

/// e^{−λt}, 1 at λ = 0 whatever t.
[[nodiscard]] double decay(double lambda, double time);
/// ∫₀ᵗ e^{−λs}ds = (1 − e^{−λt})/λ, t at λ = 0; digits are kept where λt is small.
[[nodiscard]] double decayed_time(double lambda, double time);

}  // namespace widelimit
