#include "tests/cuda/host_device.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/engine/cuda/device.hpp"

#include <cstdlib>
#include <string>

/// A plug-in libwidelimit_cuda.so whose only device is emulated on the CPU, to test programs and the Python module
/// without a GPU. WIDELIMIT_EMULATED_MEMORY sets its memory, e.g. "64MiB".
namespace {

std::size_t memory() {
  const char* const limit = std::getenv("WIDELIMIT_EMULATED_MEMORY");
  return limit != nullptr ? widelimit::parse_bytes(limit) : widelimit::test::EmulatedDevice{}.memory;
}

}  // namespace

const widelimit::cuda::Plugin* widelimit_cuda_plugin() {
  using namespace widelimit::cuda;
  static const std::string version(widelimit::version());
  static const Plugin plugin{device_interface, version.c_str(), [](std::string& /*why*/) { return 1; },
                             [](int /*device*/) { return widelimit::test::open_host_device(memory())->facts(); },
                             [](int /*device*/) { return widelimit::test::open_host_device(memory()); }};
  return &plugin;
}
