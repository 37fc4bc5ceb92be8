#pragma once

#include "widelimit/engine/select.hpp"

#include <span>

namespace widelimit {

namespace cuda {
class Device;
struct DeviceFacts;
}  // namespace cuda

/// Returns the back end of NVIDIA device `device`; throws Error{usage} with the reason if it is absent. `threads` as in
/// EngineOptions.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(int device, int threads);
/// Returns the back end of an open device; `name` as users write it.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(std::shared_ptr<cuda::Device> device, std::string name,
                                                       int threads);
/// Lists all devices with their memory, or the reason why there are none. Starts the driver (some tenths of a second).
[[nodiscard]] EnginePresence cuda_presence();
/// The same for the given devices; those too old for the plug-in are listed as absent.
[[nodiscard]] EnginePresence cuda_presence(std::span<const cuda::DeviceFacts> devices);
/// Whether the plug-in and a driver exist, without starting the driver; used by help texts.
[[nodiscard]] bool cuda_is_likely();

}  // namespace widelimit
