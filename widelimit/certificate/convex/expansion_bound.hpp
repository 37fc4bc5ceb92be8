#pragma once

#include "widelimit/certificate/convex/convex_form.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <memory>

namespace widelimit {

/// Makes the expansions of functionals on one ball.
class BallExpander {
 public:
  virtual ~BallExpander() = default;
  [[nodiscard]] virtual Expansion expand(const Functional& functional) const = 0;
};

/// Makes expansions of a machine.
class Expander {
 public:
  virtual ~Expander() = default;
  /// Borrows this; what functionals share is found here.
  [[nodiscard]] virtual std::unique_ptr<BallExpander> around(const Ball& ball) const = 0;
  /// What expansions are about.
  [[nodiscard]] virtual ConvexParts parts() const = 0;
};

/// Expansions to second order, minimised over the ball.               [docs/theory/certificates-proof.md#convex]
[[nodiscard]] std::unique_ptr<LowerBound> make_expansion_bound(std::unique_ptr<Expander> expander,
                                                               std::span<const Functional> functionals, int threads);

}  // namespace widelimit
