#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string>
#include <vector>

namespace widelimit {

/// Which cells of a row of a table are features, and which is the label.
struct CsvLayout {
  static constexpr Index no_label = -1;

  bool header = false;             ///< the first row holds names
  TableLayout table;               ///< columns in the order of features, with their places in this table
  std::vector<bool> categorical;   ///< columns whose cells are categories, whatever they look like
  std::vector<std::string> notes;  ///< columns that were ignored, names that were guessed

  [[nodiscard]] bool labelled() const { return table.label_place != no_label; }
  /// Whether the cell at `place` is the label, or one of several.
  [[nodiscard]] bool is_label(Index place) const;
  [[nodiscard]] Index place(std::size_t column) const { return table.columns[column].place; }
};

/// From the first two rows (`second` null where there is one). Header: the first row is one where none of its features
/// is a number, or where its label alone is text above a numeric label, or where a column is asked for by a name in it;
/// of a table of texts alone, where its cells are all different and none stands above its like. Label: the last column,
/// or the one that the options name; several, with commas between, are numbers to predict. Where a layout is known
/// before (`options.like`), columns are found by their names, in any order, or, without names, by their places; the
/// label is the column of the same name or place, and a table without it is unlabelled. Error{input} names what is
/// missing.
[[nodiscard]] CsvLayout csv_layout(const std::vector<std::string>& first, const std::vector<std::string>* second,
                                   const ReadOptions& options);

}  // namespace widelimit
