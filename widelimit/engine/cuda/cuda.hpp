#pragma once

#include "widelimit/engine/select.hpp"

namespace widelimit {

/// The back end of NVIDIA device `device`, or Error{usage} that says why there is none.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(int device);
[[nodiscard]] EnginePresence cuda_presence();

}  // namespace widelimit
