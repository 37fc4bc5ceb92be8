#pragma once

#include "widelimit/certificate/convex_form.hpp"
#include "widelimit/certificate/lower_bound.hpp"

#include <memory>

namespace widelimit {

/// Makes expansions of a machine.
class Expander {
 public:
  virtual ~Expander() = default;
  [[nodiscard]] virtual Expansion expand(const Functional& functional, const Ball& ball) const = 0;
  /// What they are about.
  [[nodiscard]] virtual ConvexParts parts() const = 0;
};

/// Expansions to second order, minimised over the ball.                     [docs/theory/certificates.md#convex]
[[nodiscard]] std::unique_ptr<LowerBound> make_expansion_bound(std::unique_ptr<Expander> expander,
                                                               std::span<const Functional> functionals, int threads);

}  // namespace widelimit
