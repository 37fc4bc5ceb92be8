#pragma once

#include "widelimit/finite/tangent/path_kernel.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace widelimit::app {

/// Curves of loss, accuracy and distance, how the training ended, and the kernel machine where there is one.
void write_train_page(const std::filesystem::path& path, const std::string& title, const NetAsMachine& net,
                      const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
