#include "app/shell/outcome.hpp"

#include "app/shell/streams.hpp"

#include "widelimit/base/utf8.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>

namespace widelimit::app {

namespace {

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::string blanks(width - std::min(width, count_characters(text)), ' ');
  return right ? blanks + text : text + blanks;
}

}  // namespace

std::string table_text(const Table& table) {
  const std::size_t columns = table.columns.size();
  std::vector<std::vector<std::string>> cells;
  std::vector<std::size_t> widths;
  for (std::size_t c = 0; c < columns; ++c) {
    cells.push_back(column_text(table, c));
    std::size_t width = count_characters(table.columns[c]);
    for (const std::string& cell : cells.back()) width = std::max(width, count_characters(cell));
    widths.push_back(width);
  }
  const auto line = [&](const auto& cell) {
    std::string text;
    for (std::size_t c = 0; c < columns; ++c) text += (c == 0 ? "" : "  ") + cell(c);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
  };
  std::string text = table.caption.empty() ? "" : table.caption + "\n";
  text += line([&](std::size_t c) { return padded(table.columns[c], widths[c], is_numeric(table, c)); });
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    text += line([&](std::size_t c) { return padded(cells[c][r], widths[c], is_numeric(table, c)); });
  }
  return text;
}

void note(const CommonOptions& options, std::string_view text) {
  if (!options.quiet) print_error(fmt::format("widelimit: note: {}\n", text));
}

void warn(const CommonOptions& options, std::string_view text) {
  if (!options.quiet) print_error(fmt::format("widelimit: warning: {}\n", text));
}

void warn_quadrature(const CommonOptions& options, double quadrature_error, Precision precision) {
  if (const std::string warning = quadrature_warning(quadrature_error, precision); !warning.empty()) {
    warn(options, warning);
  }
}

void warn_layout(const CommonOptions& options, const Network& network, const Shape& shape) {
  if (const std::string warning = layout_warning(network, shape); !warning.empty()) {
    warn(options, warning + " (--channels-first)");
  }
}

void add_file(Record& record, std::string& output, const std::string& path) {
  record.results["file"] = path;
  output += fmt::format("written to {}\n", path);
}

void add_report(Record& record, std::string& output, const std::string& path) {
  record.results["report"] = path;
  output += fmt::format("report in {}\n", path);
}

void print_result(const CommonOptions& options, const Record& record, std::string_view text) {
  if (options.json) {
    print(record.to_text());
  } else if (!options.quiet) {
    print(text);
  }
}

}  // namespace widelimit::app
