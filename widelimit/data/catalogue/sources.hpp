#pragma once

#include "widelimit/data/request.hpp"

namespace widelimit {

/// Options for reading one source of a request.
struct SourceReading {
  Index least_features = 0;
  std::optional<std::string> label;
  const TableLayout* like = nullptr;  ///< used if it has columns
  std::optional<bool> degree_tags = {};
  Missing missing = Missing::refuse;
  Part part = Part::train;  ///< part to read if a file holds both
};

/// Loads the samples of `spec` within the memory limit of `request`, unprocessed: missing values to be filled are NaN.
/// Throws Error{usage} if columns are selected and the source is not a table.
[[nodiscard]] Dataset load_source(const DataRequest& request, const std::string& spec, const SourceReading& how);

/// Applies the steps before the split: selection of classes, shuffle.
[[nodiscard]] Dataset before_split(Dataset source, const DataOrigin& origin);

/// Returns the memory of the values in bytes.
[[nodiscard]] double bytes_of(const Dataset& data);

}  // namespace widelimit
