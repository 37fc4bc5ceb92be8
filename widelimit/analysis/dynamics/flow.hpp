#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <cstdint>
#include <string_view>

namespace widelimit {

/// How a flow is solved.
enum class FlowMethod : std::uint8_t {
  automatic,    ///< exact where there is a formula: squared, hinge, insensitive
  runge_kutta,  ///< any loss but those with kinks
};

struct FlowOptions {
  Loss loss;
  double lambda = 1;          ///< finite, ≥ 0
  std::vector<double> times;  ///< not decreasing, ≥ 0; infinity is the limit
  Start start;
  Recording record;
  FlowMethod method = FlowMethod::automatic;
  double tolerance = 1e-9;  ///< of a Runge–Kutta step, absolute and relative, on coefficients
  Index most_events = 0;    ///< of each output with kinks; 0 for 1,000 and 200 for each sample
  Index most_steps = 0;     ///< of Runge–Kutta; 0 for a million
  bool check_rate = true;   ///< EQ Theorem 3.1, which needs the optimum
  /// Test first whether K is positive semi-definite (machine/gram/semidefinite.hpp); O(n³/3) once for each matrix.
  /// False where K is known to be, as the kernel of a network is.
  bool check_definite = true;
  Progress* progress = nullptr;

  /// Error{input} where a number is out of range.
  void validate() const;
};

/// Gradient flow of the machine with Gram matrix K, EQ (8):
///
///     ġ(x) = −λ g(x) − Σᵢ l'(g(xᵢ), yᵢ) K(x, xᵢ),   in coefficients α̇ = −λα − l'(Kα + e^{−λt}h, y).
///
/// Squared loss in closed form, hinge and ε-insensitive loss event by event with sliding on their kinks, both exactly;
/// others by Runge–Kutta. Targets are samples × outputs: numbers, ±1, or a column for each class.
/// [docs/theory/dynamics.md]
/// A flow that cannot reach all times stops early, and the Summary gives the reason. For an indefinite Gram matrix no
/// time is reached, except by the formula of the squared loss.
[[nodiscard]] Trajectory flow(const GramMatrix& k, MatrixView<const double> targets, const FlowOptions& options);

}  // namespace widelimit
