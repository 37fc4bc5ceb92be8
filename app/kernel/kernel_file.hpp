#pragma once

#include "app/shell/options.hpp"

#include "widelimit/data/array.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <vector>

namespace widelimit::app {

[[nodiscard]] bool is_hdf5(const std::filesystem::path& path);

/// Labels y and y_test as they go into a file, where the data have them.
class LabelArrays {
 public:
  explicit LabelArrays(const TrainTest& data);
  [[nodiscard]] const std::vector<NamedArray>& arrays() const { return arrays_; }

 private:
  void add(const std::string& name, const Dataset& data);

  std::deque<std::vector<std::int64_t>> classes_;  ///< what the views in arrays_ look at
  std::vector<NamedArray> arrays_;
};

/// Error before the work rather than after it: Error{usage} for an ending that is neither .npz nor .h5, Error{resource}
/// where `bytes` cannot be written there.
void check_kernel_path(const std::filesystem::path& path, double bytes);

/// The same for a model or a trained network, whose file is HDF5.
void check_model_path(const std::filesystem::path& path);

/// Returns the settings that a file of results carries: all that is needed to compute it again, and nothing that
/// differs between two runs of one command.
[[nodiscard]] nlohmann::ordered_json file_settings(const CommonOptions& options, const nlohmann::ordered_json& settings,
                                                   const std::vector<std::string>& class_names);

/// Tells where the kernel and its report are.
[[nodiscard]] std::string files_text(const CommonOptions& options, const std::string& out);

/// Arrays and their settings as .h5 or .npz, by the ending of the path. Complete or absent.
void write_arrays(const std::filesystem::path& path, const std::vector<NamedArray>& arrays,
                  const nlohmann::ordered_json& settings);

/// The arrays of `answer`, labels y and y_test where the data have them, and `settings`. Complete or absent.
void write_kernel(const std::filesystem::path& path, const KernelAnswer& answer, const TrainTest& data,
                  const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
