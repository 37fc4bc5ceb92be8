#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/formats/format.hpp"

#include <map>
#include <string>
#include <vector>

namespace widelimit {

/// Everything in an NPZ or HDF5 file that widelimit wrote, or anyone else.
struct ArrayFile {
  std::map<std::string, Array> arrays;
  std::string settings;  ///< JSON text stored beside the arrays; empty where there is none
};

/// The name under which settings travel: an array in NPZ, an attribute in HDF5.
inline constexpr std::string_view settings_name = "settings";

/// Which arrays of a file are the samples and their labels.
struct ArrayChoice {
  std::string features;
  std::optional<std::string> label;
};

/// `options.features` and `options.label` where given ("none" = unlabelled). Else samples are the array called x, data,
/// images, features or inputs, in any case, or the only array that is not a label, and labels the one called y, labels,
/// label, targets or target. Of a file with arrays of both parts (x_train, y_train, x_test, y_test; train_x, …) those
/// of `options.part`. Labels belong to the part of the samples. Error{input} lists the names there are, also where the
/// choice is not clear.
[[nodiscard]] ArrayChoice choose_arrays(const std::vector<std::string>& names, const ReadOptions& options);

}  // namespace widelimit
