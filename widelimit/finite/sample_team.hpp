#pragma once

#include "widelimit/base/parallel.hpp"

namespace widelimit {

/// body(sample) for all samples, by a team where they hold enough values to be worth one. Samples are independent of
/// each other, so numbers do not depend on the threads.
template <typename Body>
void for_each_sample(Index count, Index values, int threads, const Body& body) {
  constexpr Index worth_a_team = Index{1} << 18;
  if (threads > 1 && count > 1 && values > worth_a_team) {
    parallel_for(count, threads, body);
  } else {
    for (Index n = 0; n < count; ++n) body(n);
  }
}

}  // namespace widelimit
