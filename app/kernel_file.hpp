#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>

namespace widelimit::app {

/// Error before the work rather than after it: Error{usage} for an ending that is neither .npz nor .h5, Error{resource}
/// where `bytes` cannot be written there.
void check_kernel_path(const std::filesystem::path& path, double bytes);

/// The arrays of `answer`, labels y and y_test where the data have them, and `settings`. Complete or absent.
void write_kernel(const std::filesystem::path& path, const KernelAnswer& answer, const TrainTest& data,
                  const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
