#pragma once

#include "widelimit/engine/select.hpp"

namespace widelimit {

namespace cuda {
class Device;
}

/// The back end of NVIDIA device `device`, or Error{usage} that says why there is none. `threads` as in EngineOptions.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(int device, int threads);
/// The same on a device that is open already; `name` as users write it.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<cuda::Device> device, std::string name,
                                                       int threads);
/// All devices with their memory, or why there are none. Starts the driver: some tenths of a second.
[[nodiscard]] EnginePresence cuda_presence();
/// Whether the plug-in and a driver are there, without starting it: for help.
[[nodiscard]] bool cuda_is_likely();

}  // namespace widelimit
