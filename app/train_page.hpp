#pragma once

#include "widelimit/finite/trained_network.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace widelimit::app {

/// Curves of loss, accuracy and distance, and how the training ended.
void write_train_page(const std::filesystem::path& path, const std::string& title, const TrainedNetwork& trained,
                      const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
