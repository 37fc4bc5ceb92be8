#pragma once

#include <cstddef>
#include <functional>

namespace widelimit {

/// Tries `read` in a forked child and says whether the child lived. HDF5 1.10 writes past its buffers on some damaged
/// files; what dies there is a copy, and the caller reports the file instead. `read` may throw: that is an answer.
/// True also where no child can be made. `bytes` of the file set how long the child may compute.
[[nodiscard]] bool survives(const std::function<void()>& read, std::size_t bytes);

}  // namespace widelimit
