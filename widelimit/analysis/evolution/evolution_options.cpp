#include "widelimit/analysis/evolution/evolution.hpp"
#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index most_checkpoints = 10'000;

}  // namespace

void EvolutionOptions::validate() const {
  train.validate();
  if (train.linearised) fail(Code::usage, "the kernel of a linearised network does not change in training");
  if (train.flow_time > 0) fail(Code::usage, "checkpoints require training in steps, not gradient flow");
  if (train.from != nullptr || train.initial != nullptr) {
    fail(Code::usage, "an evolution starts with a new training; omit the earlier training");
  }
  if (!train.look)
    fail(Code::usage,
         "an evolution evaluates all samples at its checkpoints; it requires the evaluation of losses on all samples");
  if (checkpoints < 2 || checkpoints > most_checkpoints) {
    fail(Code::usage, "the number of checkpoints is {}; choose 2 to {}", checkpoints, most_checkpoints);
  }
  if (!at.empty() && !at_epochs.empty()) fail(Code::usage, "checkpoints are given in steps or in epochs, not in both");
  if (kernel.projections < 0 || kernel.projections == 1) {
    fail(Code::usage, "the number of random directions is {}; choose 0 for exact kernels, or at least 2",
         kernel.projections);
  }
  if (tangent) tangent->validate();
  if (barrier) barrier->validate();
  if (!branch_at.empty() && !tangent && !barrier) {
    fail(Code::usage, "branch checkpoints need tangent training or error barriers; request one of them");
  }
}

Index EvolutionOptions::steps_in_epoch(Index samples) const {
  return train.batch == 0 || train.batch >= samples ? 1 : samples / train.batch;
}

std::vector<Index> EvolutionOptions::steps(Index samples) const {
  const Index total = train.steps_on(samples);
  std::vector<Index> result = at;
  const auto in_epoch = static_cast<double>(steps_in_epoch(samples));
  for (const double epoch : at_epochs) {
    if (!std::isfinite(epoch)) fail(Code::usage, "epoch {} is not finite", epoch);
    result.push_back(static_cast<Index>(std::llround(epoch * in_epoch)));
  }
  if (result.empty()) {
    for (Index k = 0; k < checkpoints; ++k) {
      const double share = static_cast<double>(k) / static_cast<double>(checkpoints - 1);
      result.push_back(static_cast<Index>(std::llround(share * share * static_cast<double>(total))));
    }
  }
  for (std::size_t k = 0; k < result.size(); ++k) {
    if (result[k] < 0 || result[k] > total || (k > 0 && result[k] < result[k - 1])) {
      fail(Code::usage, "checkpoint step {} is invalid; give ascending steps from 0 to {}", result[k], total);
    }
  }
  result.insert(result.begin(), 0);
  result.push_back(total);
  result.erase(std::unique(result.begin(), result.end()), result.end());
  for (const Index step : branch_at) {
    if (!std::binary_search(result.begin(), result.end(), step)) {
      fail(Code::usage, "branch step {} is not a checkpoint; add it to the checkpoints", step);
    }
  }
  return result;
}

}  // namespace widelimit
