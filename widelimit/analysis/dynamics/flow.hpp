#pragma once

#include "widelimit/analysis/dynamics/trajectory.hpp"
#include "widelimit/base/progress.hpp"
#include "widelimit/finite/training/loss.hpp"
#include "widelimit/kernel/gram_matrix.hpp"

#include <cstdint>
#include <string_view>

namespace widelimit {

/// Method to solve a flow.
enum class FlowMethod : std::uint8_t {
  automatic,    ///< closed form or exact for squared, hinge and insensitive loss, else Runge–Kutta
  runge_kutta,  ///< any loss without kinks
};

struct FlowOptions {
  Loss loss;
  double lambda = 1;          ///< finite, ≥ 0
  std::vector<double> times;  ///< non-decreasing, ≥ 0; infinity means the limit
  Start start;
  Recording record;
  FlowMethod method = FlowMethod::automatic;
  double tolerance = 1e-9;  ///< of a Runge–Kutta step, absolute and relative, for the coefficients
  Index most_events = 0;    ///< limit per output with kinks; 0 means 1,000 plus 200 per sample
  Index most_steps = 0;     ///< limit of Runge–Kutta steps; 0 means one million
  bool check_rate = true;   ///< check EQ Theorem 3.1; requires the optimum
  /// Checks that K is positive semi-definite (machine/gram/semidefinite.hpp); O(n³/3) once per matrix. Set to false if
  /// K is known to be, e.g. the kernel of a network.
  bool check_definite = true;
  Progress* progress = nullptr;

  /// Throws Error{input} if a value is out of range.
  void validate() const;
};

/// Gradient flow of the machine with Gram matrix K, EQ (8):
///
///     ġ(x) = −λ g(x) − Σᵢ l'(g(xᵢ), yᵢ) K(x, xᵢ),   in coefficients α̇ = −λα − l'(Kα + e^{−λt}h, y).
///
/// Squared loss: closed form. Hinge and ε-insensitive loss: exact, event by event, with sliding on kinks. Other losses:
/// Runge–Kutta. Targets are samples × outputs: numbers, ±1, or one column per class. A flow that cannot reach all times
/// stops early with the reason in the Summary. With an indefinite Gram matrix no time is reached, except by the closed
/// form. [docs/theory/dynamics.md]
[[nodiscard]] Trajectory flow(const GramMatrix& k, MatrixView<const double> targets, const FlowOptions& options);

}  // namespace widelimit
