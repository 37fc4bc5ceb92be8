#pragma once

#include "widelimit/engine/engine.hpp"

namespace widelimit {

/// Calls body(sample) for all samples, on the engine's threads if there are enough values to outweigh the overhead.
/// Samples are independent, so results do not depend on the number of threads.
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
