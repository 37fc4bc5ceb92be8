#include "widelimit/engine/cuda/plugin_loader.hpp"

#include "widelimit/base/version.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <sstream>
#include <vector>

namespace widelimit::cuda {

namespace {

namespace fs = std::filesystem;

constexpr const char* file_name = "libwidelimit_cuda.so";

/// Returns the folder of the program or module that contains this code.
fs::path own_folder() {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&plugin_file), &info) == 0 || info.dli_fname == nullptr) return {};
  std::error_code error;
  // For a program found through PATH, dladdr returns only its bare name.
  const fs::path own = fs::path(info.dli_fname).has_parent_path() ? fs::path(info.dli_fname) : "/proc/self/exe";
  return fs::canonical(own, error).parent_path();
}

std::vector<fs::path> folders() {
  std::vector<fs::path> result;
  if (const char* named = std::getenv("WIDELIMIT_PLUGINS")) {
    std::istringstream list(named);
    for (std::string folder; std::getline(list, folder, ':');) {
      if (!folder.empty()) result.emplace_back(folder);
    }
  }
  if (const fs::path own = own_folder(); !own.empty()) {
    result.push_back(own);
    result.push_back(own.parent_path() / "lib" / "widelimit");
  }
  return result;
}

LoadedPlugin load() {
  const std::string file = plugin_file();
  if (file.empty()) {
    std::string searched;
    for (const fs::path& folder : folders()) searched += (searched.empty() ? "" : ", ") + folder.string();
    return {nullptr, fmt::format("the CUDA plug-in {} was not found (searched {}); build it where nvcc is installed, "
                                 "or name its folder in WIDELIMIT_PLUGINS",
                                 file_name, searched)};
  }
  void* const library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return {nullptr, fmt::format("the CUDA plug-in cannot be loaded: {}", dlerror())};
  const auto entry = reinterpret_cast<decltype(&widelimit_cuda_plugin)>(dlsym(library, "widelimit_cuda_plugin"));
  const Plugin* const plugin = entry != nullptr ? entry() : nullptr;
  if (plugin == nullptr) return {nullptr, fmt::format("{} is not a CUDA plug-in of widelimit", file)};
  if (plugin->interface != device_interface || version() != plugin->version) {
    return {nullptr,
            fmt::format("the CUDA plug-in {} belongs to another version of widelimit; this is {}", file, version())};
  }
  return {plugin, {}};
}

}  // namespace

std::string plugin_file() {
  for (const fs::path& folder : folders()) {
    std::error_code error;
    if (fs::is_regular_file(folder / file_name, error)) return (folder / file_name).string();
  }
  return {};
}

const LoadedPlugin& loaded_plugin() {
  static const LoadedPlugin plugin = load();
  return plugin;
}

}  // namespace widelimit::cuda
