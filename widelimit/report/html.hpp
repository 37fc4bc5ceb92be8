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

/// A figure with the words that belong to it on a page.
struct Illustration {
  Figure figure = {};
  std::string caption = {};  ///< below the figure, followed by the figure's own note
  std::string alt = {};      ///< what the figure shows, for those who cannot see it; its title where empty
};

/// A page that stands alone: one file, no scripts, nothing fetched from elsewhere, light or dark as its reader
/// prefers. Every text is escaped here; callers pass it as it is.
class Page {
 public:
  /// `summary`: the one sentence to read when there is time for one.
  Page(std::string_view title, std::string_view summary);

  /// Few numbers worth a large type: (label, value).
  Page& highlights(const std::vector<std::pair<std::string, std::string>>& numbers);
  Page& section(std::string_view heading);
  Page& paragraph(std::string_view text);
  /// Columns of numbers are aligned at their decimal points.
  Page& table(const Table& table);
  Page& figure(const Illustration& illustration);
  /// Figures to compare: side by side where the window is wide enough.
  Page& figures(const std::vector<Illustration>& illustrations);
  /// A section of names and values; takes an object, as Record::settings.
  Page& settings(const nlohmann::ordered_json& settings);

  [[nodiscard]] std::string html(std::chrono::system_clock::time_point written) const;
  /// Whole or not at all; Error{resource} where it cannot be written.
  void write(const std::filesystem::path& path) const;

 private:
  std::string title_;
  std::string body_;
  int figure_count_ = 0;
  bool section_open_ = false;
};

}  // namespace widelimit
