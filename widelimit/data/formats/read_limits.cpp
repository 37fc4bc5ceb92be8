#include "widelimit/data/formats/read_limits.hpp"

#include "widelimit/base/memory.hpp"

namespace widelimit {

void ReadLimits::require(double bytes, const std::string& source) const {
  // For smaller amounts the check costs more than the memory.
  constexpr double small = 1 << 16;
  if (!memory && bytes < small) return;
  require_memory(bytes, memory, "reading " + source, "use a smaller set, or allow more memory", {Remedy::more_memory});
}

}  // namespace widelimit
