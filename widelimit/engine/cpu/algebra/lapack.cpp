#include "widelimit/engine/cpu/algebra/lapack.hpp"

#include "widelimit/base/error.hpp"

#include <limits>

namespace widelimit::cpu {

int lapack_size(Index n) {
  if (n > std::numeric_limits<int>::max() / 8)
    fail(Code::resource, "a matrix of {} rows exceeds the 32-bit sizes of LAPACK; use fewer samples", n);
  return static_cast<int>(n);
}

}  // namespace widelimit::cpu
