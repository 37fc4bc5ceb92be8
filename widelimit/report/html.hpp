#pragma once

#include "widelimit/report/drawing/figures.hpp"
#include "widelimit/report/table.hpp"

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace widelimit {

/// A figure with its caption on a page.
struct Illustration {
  Figure figure = {};
  std::string caption = {};  ///< below the figure, followed by the figure's own note
  std::string alt = {};      ///< alternative text; the title where empty
};

/// A self-contained page: one file, no scripts, no external resources, light or dark by the preference of the reader.
/// All text is escaped here; callers pass it unescaped.
class Page {
 public:
  /// `summary`: one sentence with the main result.
  Page(std::string_view title, std::string_view summary);

  /// A few key numbers in large type: (label, value).
  Page& highlights(const std::vector<std::pair<std::string, std::string>>& numbers);
  Page& section(std::string_view heading);
  Page& paragraph(std::string_view text);
  /// Columns of numbers are aligned at their decimal points.
  Page& table(const Table& table);
  /// The same, with a choice of the column by which the rows are sorted: words from a to z, numbers from the largest.
  /// By style alone: a row knows its place in every order.
  Page& sortable_table(const Table& table);
  Page& figure(const Illustration& illustration);
  /// Figures to compare: side by side where the window is wide enough.
  Page& figures(const std::vector<Illustration>& illustrations);
  /// Figures of equal size of which one is shown, chosen by its name; the arrow keys go through them. By style alone.
  Page& slides(std::string_view heading, const std::vector<std::pair<std::string, Illustration>>& figures);
  /// A section of names and values; takes an object, as Record::settings. Texts of its array "notes" are a section of
  /// their own before it, as Record::told puts them there.
  Page& settings(const nlohmann::ordered_json& settings);

  [[nodiscard]] std::string html(std::chrono::system_clock::time_point written) const;
  /// Writes atomically; Error{resource} where it cannot be written.
  void write(const std::filesystem::path& path) const;

 private:
  std::string title_;
  std::string body_;
  int figure_count_ = 0;
  int sortable_count_ = 0;
  std::size_t sortable_columns_ = 0;  ///< of the widest
  int slides_count_ = 0;
  std::size_t most_slides_ = 0;  ///< of one set
  bool section_open_ = false;
};

}  // namespace widelimit
