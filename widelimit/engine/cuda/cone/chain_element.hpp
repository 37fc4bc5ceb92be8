#pragma once

#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/enclosure/chain_change.hpp"
#include "widelimit/engine/enclosure/chain_slopes.hpp"

/// One pair of a ball and a sample whose kernel is enclosed layer by layer; compiled for the device and, in tests, for
/// the host. The arithmetic is that of the CPU (widelimit/engine/enclosure).
/// [docs/theory/certificates-proof.md#other-processors]
namespace widelimit::cuda {

WIDELIMIT_BOTH inline SampleCosine cosine_at(const ChainPairs& pairs, Index place) {
  return cosine_of(pairs.ranges[place / pairs.support], pairs.samples[place % pairs.support], pairs.inner[place],
                   pairs.reach[place]);
}

WIDELIMIT_BOTH inline void write_entry(const ChainEntryCall& call, Index place) {
  const ChainPairs& pairs = call.pairs;
  const Interval entry = enclose_on_ball(pairs.chain, pairs.ranges[place / pairs.support],
                                         pairs.samples[place % pairs.support], cosine_at(pairs, place));
  call.low[place] = entry.low;
  call.high[place] = entry.high;
}

/// Adds the term of sample i to a sum.
WIDELIMIT_BOTH inline Interval add_enclosed(const ChainSumCall& call, const ConeSumView& request, Index i,
                                            const Interval& sum) {
  const double weight = call.weights[request.weights * call.support + i];
  if (weight == 0) return sum;
  const Index place = request.ball * call.support + i;
  return sum + enclosed_weight(weight) * Interval{call.low[place], call.high[place]};
}

WIDELIMIT_BOTH inline void write_change(const ChainChangeCall& call, Index place) {
  const ChainPairs& pairs = call.pairs;
  const SampleCosine cosine = cosine_at(pairs, place);
  call.to[place] =
      ChangeEnclosure(pairs.chain, pairs.ranges[place / pairs.support], pairs.samples[place % pairs.support], cosine)
          .change(call.biased);
}

/// Adds the terms of pair (k, i) of a descent to ΣwΘ and Σw·2∂Θ/∂q/d, and overwrites the pair's entry with its slope.
struct ChainSlopeSums {
  double value = 0, along = 0;
};
WIDELIMIT_BOTH inline void add_chain_slope(const ChainSlopeCall& call, Index k, Index i, ChainSlopeSums& sums) {
  double& entry = call.inner[k * call.support + i];
  const double weight = call.weights[call.which[k] * call.support + i], length = call.lengths[i];
  const Sloped<double> sloped = sloped_entry<double>(call.chain, call.norms[k], length, entry * length);
  const double part = weight / call.chain.features;
  sums.value += weight * sloped.value;
  sums.along += 2 * part * sloped.by_q;
  entry = part * length * sloped.by_c;
}

}  // namespace widelimit::cuda
