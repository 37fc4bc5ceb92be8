#pragma once

#include "widelimit/engine/engine.hpp"

namespace widelimit {

/// body(sample) for all samples, by the engine's threads where they hold enough values to be worth it. Samples are
/// independent of each other, so numbers do not depend on the threads.
template <typename Body>
void for_each_sample(Index count, Index values, const Engine& engine, const Body& body) {
  constexpr Index worth_a_team = Index{1} << 18;
  if (values > worth_a_team) {
    engine.for_each(count, body);
  } else {
    for (Index n = 0; n < count; ++n) body(n);
  }
}

}  // namespace widelimit
