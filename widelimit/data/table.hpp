#pragma once

#include "widelimit/base/types.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// What is done about cells of a table that have no value.
enum class Missing : std::uint8_t {
  refuse,  ///< an error names the first
  drop,    ///< their rows are left out
  mean,    ///< the mean of the column over the training samples; of categories the most frequent
  median,  ///< its median; of categories the most frequent
};
[[nodiscard]] std::string_view to_string(Missing missing);
/// Error{usage} lists the choices.
[[nodiscard]] Missing parse_missing(std::string_view text);
/// Whether a value is put in place of a missing one.
[[nodiscard]] constexpr bool fills(Missing missing) { return missing == Missing::mean || missing == Missing::median; }

/// A column of a table that is not the label: numbers, which are one feature, or texts, of which each that occurs is a
/// feature of its own, 1 in the rows that have it and 0 elsewhere (one-hot).
struct Column {
  std::string name;                     ///< by the header; empty where there is none
  Index place = 0;                      ///< its cell in a row
  std::vector<std::string> categories;  ///< the texts, sorted; empty for numbers
  std::optional<double> fill;           ///< in place of a missing value: a number, or the place of a category

  [[nodiscard]] Index features() const { return categories.empty() ? 1 : std::ssize(categories); }
  bool operator==(const Column&) const = default;
};

/// How a table is read. Columns are named by the header, or numbered from 0, from the end with -1.
struct TableOptions {
  std::vector<std::string> columns;      ///< only these, in the order of the table; empty: all
  std::vector<std::string> drop;         ///< not these
  std::vector<std::string> categorical;  ///< these hold categories although their cells are numbers
  Missing missing = Missing::refuse;

  /// Error{usage} where columns are both asked for and dropped.
  void validate() const;
  [[nodiscard]] bool chooses() const { return !columns.empty() || !drop.empty() || !categorical.empty(); }
};

/// The columns and the label of a table that was read before: another is read the same way.
struct TableLayout {
  std::vector<Column> columns;  ///< empty where the samples were no table
  std::string label;            ///< by the header; empty where there is none
  Index label_place = -1;       ///< its cell in a row; -1 where there is none
  std::vector<Column> outputs;  ///< instead of one label several columns of numbers to predict
  Index cells = 0;              ///< in a row
  Missing missing = Missing::refuse;

  [[nodiscard]] Index features() const;
  /// Whether the columns can be told by their names: each has one of its own.
  [[nodiscard]] bool named() const;
  /// A name for each feature, COLUMN or COLUMN=CATEGORY; columns without a name are called by their number, from 1.
  [[nodiscard]] std::vector<std::string> feature_names() const;
  /// Error{input} where places lie outside a row, or a fill is none of the categories.
  void validate() const;
  bool operator==(const TableLayout&) const = default;
};

}  // namespace widelimit
