#pragma once

#include "widelimit/engine/select.hpp"

namespace widelimit {

/// The back end of NVIDIA device `device`, or Error{usage} that says why there is none.
[[nodiscard]] std::unique_ptr<Backend> make_cuda_backend(int device);
[[nodiscard]] BackendPresence cuda_presence();

}  // namespace widelimit
