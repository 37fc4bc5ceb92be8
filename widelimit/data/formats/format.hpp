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

/// Options of a reader. A format ignores those that do not apply to it.
struct ReadOptions {
  std::string source = "data";          ///< for messages
  std::optional<std::string> features;  ///< NPZ, HDF5: the array that holds the samples
  std::optional<std::string> label;     ///< column by name or number (CSV, NPY), array by name (NPZ, HDF5), or "none"
  Index least_features = 0;             ///< LIBSVM: at least so many columns, since trailing zeros are not written
  TableOptions table;                   ///< CSV
  const TableLayout* like = nullptr;    ///< CSV: the columns that another table had, instead of those of `table`
  bool keep_missing = false;            ///< CSV: where values are to be filled, NaN for the caller to fill
  Part part = Part::train;              ///< NPZ, HDF5: which arrays, of a file that holds arrays to train and to test
  ReadLimits limits;
};

/// One file format: its ending and its reader. Adding one is a source file and a line in format.cpp.
struct Format {
  std::string_view ending;  ///< with the dot
  Dataset (*read)(const std::filesystem::path&, const ReadOptions&);
};

[[nodiscard]] std::span<const Format> formats();

/// The format of a file by its name (`.gz` after a text format is looked through); none where it is unknown.
[[nodiscard]] const Format* find_format(const std::filesystem::path& path);

}  // namespace widelimit
