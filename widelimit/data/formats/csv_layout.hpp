#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// The cells of a table row that are features, and the one that is the label.
struct CsvLayout {
  static constexpr Index no_label = -1;

  bool header = false;             ///< the first row holds the column names
  TableLayout table;               ///< columns in feature order, with their cell indices in this table
  std::vector<bool> categorical;   ///< columns to read as categories, whatever their cells
  std::vector<std::string> notes;  ///< ignored columns and guesses

  [[nodiscard]] bool labelled() const { return table.label_place != no_label; }
  /// Returns whether the cell at `place` is a label.
  [[nodiscard]] bool is_label(Index place) const;
  [[nodiscard]] Index place(std::size_t column) const { return table.columns[column].place; }
};

/// Determines the layout from the first two rows (`second` is null if there is only one). Header: the first row is a
/// header if none of its features is a number, if its label alone is text above a numeric label, or if an option refers
/// to a column by a name in it; in a table of texts only, if its cells are distinct and differ from the cells below
/// them. Label: the last column, or the one given in the options; several, separated by commas, are numeric targets. If
/// an earlier layout is given (`options.like`), columns are matched by name, in any order, or without names by
/// position; the label is the column of the same name or position, and a table without it is unlabelled. Throws
/// Error{input} with the missing columns.
[[nodiscard]] CsvLayout csv_layout(const std::vector<std::string>& first, const std::vector<std::string>* second,
                                   const ReadOptions& options);

}  // namespace widelimit
