#include "widelimit/machine/merge.hpp"

#include <algorithm>

namespace widelimit {

namespace {

void add(std::optional<double>& sum, const std::optional<double>& part) {
  if (sum && part) {
    *sum += *part;
  } else {
    sum.reset();
  }
}

}  // namespace

Summary merged(std::span<const Summary> parts) {
  if (parts.empty()) return {};
  Summary whole = parts.front();
  for (const Summary& part : parts.subspan(1)) {
    // Endings are listed from the best to the worst.
    if (part.ending > whole.ending) {
      whole.ending = part.ending;
      whole.message = part.message;
    }
    add(whole.primal, part.primal);
    add(whole.dual, part.dual);
    whole.gap = whole.gap && part.gap ? std::optional(std::max(*whole.gap, *part.gap)) : std::nullopt;
    whole.iterations += part.iterations;
    whole.memory += part.memory;
  }
  return whole;
}

}  // namespace widelimit
