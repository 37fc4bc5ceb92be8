#include "app/kernel/kernel_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/npz.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/report/csv.hpp"

namespace widelimit::app {

bool is_hdf5(const std::filesystem::path& path) { return path.extension() == ".h5" || path.extension() == ".hdf5"; }

LabelArrays::LabelArrays(const TrainTest& data) {
  add("y", data.train);
  if (data.test) add("y_test", *data.test);
}

void LabelArrays::add(const std::string& name, const Dataset& data) {
  if (!data.labels.empty()) {
    arrays_.push_back(list_array(name, classes_.emplace_back(data.labels.begin(), data.labels.end())));
  } else if (!data.targets.empty()) {
    arrays_.push_back(list_array(name, data.targets));
  } else if (data.outputs.rows() > 0) {
    arrays_.push_back({name, data.outputs.view(), {}});
  }
}

void check_kernel_path(const std::filesystem::path& path, double bytes) {
  if (path.extension() != ".npz" && !is_hdf5(path)) {
    fail(Code::usage, "--out {}: the extension must be .npz or .h5", path.string());
  }
  check_writable(path, static_cast<std::uint64_t>(bytes));
}

void check_series_path(const std::filesystem::path& path) {
  if (path.extension() != ".csv" && path.extension() != ".npz" && !is_hdf5(path)) {
    fail(Code::usage, "--out {}: the extension must be .csv, .npz or .h5", path.string());
  }
  check_writable(path, 0);
}

void check_table_path(const std::filesystem::path& path) {
  if (!is_table_file(path)) fail(Code::usage, "--out {}: the extension must be .csv, .tsv or .json", path.string());
  check_writable(path, 0);
}

void check_model_path(const std::filesystem::path& path) {
  if (!is_hdf5(path)) {
    fail(Code::usage, "--out {}: a model is an HDF5 file; the extension must be .h5 or .hdf5", path.string());
  }
  check_writable(path, 0);
}

nlohmann::ordered_json file_settings(const CommonOptions& options, const nlohmann::ordered_json& settings,
                                     const std::vector<std::string>& class_names) {
  nlohmann::ordered_json all{{"widelimit", version()}};
  all.update(settings);
  all["precision"] = options.precision;
  all["backend"] = options.backend;
  all["seed"] = options.seed;
  if (!class_names.empty()) all["class_names"] = class_names;
  return all;
}

std::string files_text(const CommonOptions& options, const std::string& out) {
  std::string text = fmt::format("written to {}\n", out);
  if (options.report) text += fmt::format("report in {}\n", *options.report);
  return text;
}

void write_arrays(const std::filesystem::path& path, const std::vector<NamedArray>& arrays,
                  const nlohmann::ordered_json& settings) {
  const std::string text = settings.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (is_hdf5(path)) {
    write_hdf5(path, arrays, text);
  } else {
    write_npz(path, arrays, text);
  }
}

void write_kernel(const std::filesystem::path& path, const KernelResult& result, const TrainTest& data,
                  const nlohmann::ordered_json& settings) {
  std::vector<NamedArray> arrays;
  for (const NamedMatrix& matrix : result.matrices) {
    std::visit([&](const auto& m) { arrays.push_back({matrix.name, m.view(), matrix.dims}); }, matrix.values);
  }
  const LabelArrays labels(data);
  arrays.insert(arrays.end(), labels.arrays().begin(), labels.arrays().end());
  write_arrays(path, arrays, settings);
}

}  // namespace widelimit::app
