#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Treatment of missing values in a table.
enum class Missing : std::uint8_t {
  refuse,  ///< throw an error at the first missing value
  drop,    ///< omit rows with missing values
  mean,    ///< fill with the column's mean over the training samples; for categories with the most frequent one
  median,  ///< fill with the median; for categories with the most frequent one
};
[[nodiscard]] std::string_view to_string(Missing missing);
/// Throws Error{usage} with the choices if `text` is none of them.
[[nodiscard]] Missing parse_missing(std::string_view text);
/// Returns whether missing values are replaced by a fill value.
[[nodiscard]] constexpr bool fills(Missing missing) { return missing == Missing::mean || missing == Missing::median; }

/// Column of a table other than the label: numeric (one feature), or categorical (one-hot encoded: one 0/1 feature per
/// category).
struct Column {
  std::string name;                     ///< from the header; empty if there is none
  Index place = 0;                      ///< index of its cell in a row
  std::vector<std::string> categories;  ///< sorted; empty for a numeric column
  std::optional<double> fill;           ///< replaces missing values: a number, or the index of a category

  [[nodiscard]] Index features() const { return categories.empty() ? 1 : std::ssize(categories); }
  bool operator==(const Column&) const = default;
};

/// Options for reading a table. A column is given by its header name or its number, from 0, or from the end with -1.
struct TableOptions {
  std::vector<std::string> columns;      ///< select only these, in table order; empty: all
  std::vector<std::string> drop;         ///< drop these
  std::vector<std::string> categorical;  ///< treat as categorical even if their cells are numbers
  Missing missing = Missing::refuse;

  /// Throws Error{usage} if a column is both selected and dropped.
  void validate() const;
  [[nodiscard]] bool chooses() const { return !columns.empty() || !drop.empty() || !categorical.empty(); }
};

/// Columns and label of a table that was read, for reading other tables the same way.
struct TableLayout {
  std::vector<Column> columns;  ///< empty if the samples are not a table
  std::string label;            ///< from the header; empty if there is none
  Index label_place = -1;       ///< index of its cell in a row; -1 if there is none
  std::vector<Column> outputs;  ///< numeric target columns, instead of a single label
  Index cells = 0;              ///< number of cells in a row
  Missing missing = Missing::refuse;

  [[nodiscard]] Index features() const;
  /// Returns whether every column has a unique name, so that columns can be matched by name.
  [[nodiscard]] bool named() const;
  /// Returns one name per feature, COLUMN or COLUMN=CATEGORY; unnamed columns are named by number, from 1.
  [[nodiscard]] std::vector<std::string> feature_names() const;
  /// Throws Error{input} if an index lies outside the row or a fill is not one of the categories.
  void validate() const;
  bool operator==(const TableLayout&) const = default;
};

}  // namespace widelimit
