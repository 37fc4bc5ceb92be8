#pragma once

#include "widelimit/engine/select.hpp"

#include <span>

namespace widelimit {

namespace cuda {
class Device;
struct DeviceFacts;
}  // namespace cuda

/// The back end of NVIDIA device `device`, or Error{usage} that says why there is none. `threads` as in EngineOptions.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(int device, int threads);
/// The same on a device that is open already; `name` as users write it.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<cuda::Device> device, std::string name,
                                                       int threads);
/// All devices with their memory, or why there are none. Starts the driver: some tenths of a second.
[[nodiscard]] EnginePresence cuda_presence();
/// The same of devices of these facts; those that are too old for the plug-in are listed as absent.
[[nodiscard]] EnginePresence cuda_presence(std::span<const cuda::DeviceFacts> devices);
/// Whether the plug-in and a driver are there, without starting it: for help.
[[nodiscard]] bool cuda_is_likely();

}  // namespace widelimit
