#pragma once

#include "widelimit/engine/cuda/device.hpp"

#include <string>

namespace widelimit::cuda {

/// The plug-in libwidelimit_cuda.so, or why there is none. It is looked for in the folders of $WIDELIMIT_PLUGINS, then
/// beside the program or Python module that holds this library, and in lib/widelimit beside the program's folder.
struct LoadedPlugin {
  const Plugin* plugin = nullptr;
  std::string obstacle;
};
[[nodiscard]] const LoadedPlugin& loaded_plugin();
/// Its file, or nothing; loads nothing.
[[nodiscard]] std::string plugin_file();

}  // namespace widelimit::cuda
