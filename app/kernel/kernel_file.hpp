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

/// Returns a one-dimensional array, a view of `values`.
template <typename T>
[[nodiscard]] NamedArray list_array(const std::string& name, const std::vector<T>& values) {
  const Index count = std::ssize(values);
  return {name, MatrixView<const T>{values.data(), 1, count, count}, {count}};
}

/// Arrays y and y_test of the labels, for a file; absent if the data have none.
class LabelArrays {
 public:
  explicit LabelArrays(const TrainTest& data);
  [[nodiscard]] const std::vector<NamedArray>& arrays() const { return arrays_; }

 private:
  void add(const std::string& name, const Dataset& data);

  std::deque<std::vector<std::int64_t>> classes_;  ///< storage of the views in arrays_
  std::vector<NamedArray> arrays_;
};

/// Checks the path before the computation. Throws Error{usage} unless the extension is .npz, .h5 or .hdf5,
/// Error{resource} if `bytes` cannot be written there.
void check_kernel_path(const std::filesystem::path& path, double bytes);

/// Same for times, curves or directions: .csv, .npz, .h5 or .hdf5.
void check_series_path(const std::filesystem::path& path);

/// Same for a table: .csv, .tsv or .json.
void check_table_path(const std::filesystem::path& path);

/// Same for a model or a trained network, which requires an HDF5 file.
void check_model_path(const std::filesystem::path& path);

/// Returns the settings for a file of results: all that is needed to reproduce it, and nothing that differs between two
/// runs of the same command.
[[nodiscard]] nlohmann::ordered_json file_settings(const CommonOptions& options, const nlohmann::ordered_json& settings,
                                                   const std::vector<std::string>& class_names);

/// Returns lines with the paths of the output and its report.
[[nodiscard]] std::string files_text(const CommonOptions& options, const std::string& out);

/// Writes arrays and settings as HDF5 or NPZ, by the extension. The file is complete or absent.
void write_arrays(const std::filesystem::path& path, const std::vector<NamedArray>& arrays,
                  const nlohmann::ordered_json& settings);

/// Writes the arrays of `result`, the labels y and y_test if any, and `settings`. The file is complete or absent.
void write_kernel(const std::filesystem::path& path, const KernelResult& result, const TrainTest& data,
                  const nlohmann::ordered_json& settings);

}  // namespace widelimit::app
