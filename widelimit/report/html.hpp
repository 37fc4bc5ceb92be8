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

/// Figure with its caption on a page.
struct Illustration {
  Figure figure = {};
  std::string caption = {};  ///< below the figure, followed by the figure's note
  std::string alt = {};      ///< alternative text; empty: the title
};

/// Self-contained HTML page: one file, without scripts and external resources, light or dark by the preference of the
/// reader. All text is escaped here; callers must pass it unescaped.
class Page {
 public:
  /// `summary`: one sentence with the main result.
  Page(std::string_view title, std::string_view summary);

  /// Adds a few key numbers in large type: (label, value).
  Page& highlights(const std::vector<std::pair<std::string, std::string>>& numbers);
  Page& section(std::string_view heading);
  Page& paragraph(std::string_view text);
  /// Adds a table; numbers are aligned at their decimal points.
  Page& table(const Table& table);
  /// Adds a table with radio buttons for the sort column: words ascending, numbers descending. CSS only: every row
  /// stores its place in each order.
  Page& sortable_table(const Table& table);
  Page& figure(const Illustration& illustration);
  /// Adds figures for comparison: side by side if the window is wide enough.
  Page& figures(const std::vector<Illustration>& illustrations);
  /// Adds figures of equal size of which one is shown, selected by name or arrow keys. CSS only.
  Page& slides(std::string_view heading, const std::vector<std::pair<std::string, Illustration>>& figures);
  /// Adds a section of names and values from an object, as Record::page_settings returns it. The texts of its array
  /// "notes" become a section of their own before it.
  Page& settings(const nlohmann::ordered_json& settings);

  [[nodiscard]] std::string html(std::chrono::system_clock::time_point written) const;
  /// Writes the page atomically. Throws Error{resource} if it cannot be written.
  void write(const std::filesystem::path& path) const;

 private:
  std::string title_;
  std::string body_;
  int figure_count_ = 0;
  int sortable_count_ = 0;
  std::size_t sortable_columns_ = 0;  ///< maximum over all tables
  int slides_count_ = 0;
  std::size_t most_slides_ = 0;  ///< maximum over all sets
  bool section_open_ = false;
};

}  // namespace widelimit
