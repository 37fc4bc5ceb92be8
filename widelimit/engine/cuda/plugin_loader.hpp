#pragma once

#include "widelimit/engine/cuda/device.hpp"

#include <string>

namespace widelimit::cuda {

/// The plug-in libwidelimit_cuda.so, or the reason why it is absent. Search order: the folders of $WIDELIMIT_PLUGINS,
/// the folder of the program or Python module that contains this library, and lib/widelimit beside that folder.
struct LoadedPlugin {
  const Plugin* plugin = nullptr;
  std::string obstacle;
};
[[nodiscard]] const LoadedPlugin& loaded_plugin();
/// Returns the path of the plug-in file, empty if there is none; does not load it.
[[nodiscard]] std::string plugin_file();

}  // namespace widelimit::cuda
