#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/read_limits.hpp"
#include "widelimit/data/origin.hpp"

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace widelimit {

/// Options of a reader. Each format ignores those that do not apply.
struct ReadOptions {
  std::string source = "data";          ///< for messages
  std::optional<std::string> features;  ///< NPZ, HDF5: name of the array of samples
  std::optional<std::string> label;     ///< column name or number (CSV, NPY), array name (NPZ, HDF5), or "none"
  Index least_features = 0;             ///< LIBSVM: minimum number of columns, since trailing zeros are not written
  TableOptions table;                   ///< CSV
  const TableLayout* like = nullptr;    ///< CSV: layout of an earlier table, used instead of `table`
  bool keep_missing = false;            ///< CSV: keep NaN for values to be filled, so that the caller fills them
  Part part = Part::train;              ///< NPZ, HDF5: the part to read if a file holds training and test arrays
  ReadLimits limits;
};

/// File format: its extension and its reader. A new format needs a source file and a line in format.cpp.
struct Format {
  std::string_view ending;  ///< including the dot
  Dataset (*read)(const std::filesystem::path&, const ReadOptions&);
};

[[nodiscard]] std::span<const Format> formats();

/// Returns the format by file name, nullptr if unknown. Text formats may have the additional extension .gz.
[[nodiscard]] const Format* find_format(const std::filesystem::path& path);

}  // namespace widelimit
