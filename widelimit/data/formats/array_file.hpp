#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/formats/format.hpp"

#include <map>
#include <string>
#include <vector>

namespace widelimit {

/// Contents of an NPZ or HDF5 file.
struct ArrayFile {
  std::map<std::string, Array> arrays;
  std::string settings;  ///< JSON text stored with the arrays; empty if absent
};

/// Name of the settings: an array in NPZ, an attribute in HDF5.
inline constexpr std::string_view settings_name = "settings";

/// The arrays of a file that hold the samples and their labels.
struct ArrayChoice {
  std::string features;
  std::optional<std::string> label;
};

/// Returns `options.features` and `options.label` if given ("none" = unlabelled). By default, the samples are the array
/// named x, data, images, features or inputs (case-insensitive), or the only array that is not a label; the labels are
/// the array named y, labels, label, targets or target. In a file with both parts (x_train, y_train, x_test, y_test;
/// train_x, …), `options.part` selects one; labels are of the same part as the samples. Throws Error{input} with the
/// available names if the choice is missing or ambiguous.
[[nodiscard]] ArrayChoice choose_arrays(const std::vector<std::string>& names, const ReadOptions& options);

}  // namespace widelimit
