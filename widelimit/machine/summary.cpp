#include "widelimit/machine/summary.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

const char* text(Ending ending) {
  switch (ending) {
    case Ending::converged:
      return "converged";
    case Ending::iteration_limit:
      return "iteration limit";
    case Ending::not_positive_definite:
      return "not positive definite";
    case Ending::not_separable:
      return "not separable";
    case Ending::diverged:
      return "diverged";
  }
  return "";
}

double relative_gap(double primal, double dual) {
  const double size = std::max(std::fabs(primal), std::fabs(dual));
  return size > 0 ? (primal - dual) / size : 0;
}

namespace {

void add_objective(std::optional<double>& sum, const std::optional<double>& part) {
  if (sum && part) {
    *sum += *part;
  } else {
    sum.reset();
  }
}

}  // namespace

Summary combined(std::span<const Summary> parts) {
  if (parts.empty()) return {};
  Summary whole = parts.front();
  for (const Summary& part : parts.subspan(1)) {
    // Endings are ordered from best to worst.
    if (part.ending > whole.ending) {
      whole.ending = part.ending;
      whole.message = part.message;
    }
    add_objective(whole.primal, part.primal);
    add_objective(whole.dual, part.dual);
    whole.gap = whole.gap && part.gap ? std::optional(std::max(*whole.gap, *part.gap)) : std::nullopt;
    if (whole.method.find(part.method) == std::string::npos) whole.method += "; " + part.method;
    whole.iterations += part.iterations;
    whole.memory += part.memory;
  }
  return whole;
}

}  // namespace widelimit
