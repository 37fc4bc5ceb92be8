#pragma once

#include "widelimit/data/request.hpp"

namespace widelimit {

/// How one source of a request is read.
struct SourceReading {
  Index least_features = 0;
  std::optional<std::string> label;
  const TableLayout* like = nullptr;  ///< where it has columns
  std::optional<bool> degree_tags = {};
  Missing missing = Missing::refuse;
  Part part = Part::train;  ///< of a file that holds both
};

/// Samples of `spec` within the limits of `request`, as they are in the source: missing values that are to be filled
/// are NaN. Error{usage} where columns are chosen and the source is no table.
[[nodiscard]] Dataset load_source(const DataRequest& request, const std::string& spec, const SourceReading& how);

/// What is done to a whole source before it is split: classes are chosen, rows shuffled.
[[nodiscard]] Dataset before_split(Dataset source, const DataOrigin& origin);

/// Bytes of the values.
[[nodiscard]] double bytes_of(const Dataset& data);

}  // namespace widelimit
