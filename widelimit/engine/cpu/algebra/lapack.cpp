#include "widelimit/engine/cpu/algebra/lapack.hpp"

#include "widelimit/base/error.hpp"

#include <limits>

namespace widelimit::cpu {

int lapack_size(Index n) {
  if (n > std::numeric_limits<int>::max() / 8) fail(Code::resource, "{} samples are more than LAPACK can count", n);
  return static_cast<int>(n);
}

}  // namespace widelimit::cpu
