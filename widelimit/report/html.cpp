#include "widelimit/report/html.hpp"

#include "widelimit/base/version.hpp"
#include "widelimit/report/drawing/style.hpp"
#include "widelimit/report/drawing/svg.hpp"
#include "widelimit/report/file.hpp"
#include "widelimit/report/text.hpp"

#include <fmt/chrono.h>

namespace widelimit {
namespace {

using Json = nlohmann::ordered_json;

std::string value_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_null()) return "–";
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string header_row(const Table& table) {
  std::string cells;
  for (std::size_t j = 0; j < table.columns.size(); ++j)
    cells += fmt::format("<th scope=\"col\"{}>{}</th>", is_numeric(table, j) ? " class=\"number\"" : "",
                         escape_markup(table.columns[j]));
  return cells;
}

/// One <td> per column for every row; a cell without a value holds a dash.
std::vector<std::string> body_rows(const Table& table) {
  std::vector<std::string> rows(table.rows.size());
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    const std::vector<std::string> texts = column_text(table, j);
    const std::string_view opening = is_numeric(table, j) ? "<td class=\"number\">" : "<td>";
    for (std::size_t i = 0; i < rows.size(); ++i) {
      const bool empty = std::holds_alternative<std::monostate>(table.rows[i][j]);
      rows[i] += fmt::format("{}{}</td>", opening, empty ? "–" : escape_markup(texts[i]));
    }
  }
  return rows;
}

std::string figure_markup(const Illustration& illustration, int number) {
  const std::string& alt = illustration.alt.empty() ? illustration.figure.title : illustration.alt;
  if (alt.empty()) fail(Code::usage, "figure {} of the page needs a title or a text that says what it shows", number);
  const std::string svg =
      with_root_attributes(with_unique_ids(illustration.figure.svg, fmt::format("figure{}-", number)),
                           fmt::format("role=\"img\" aria-label=\"{}\"", escape_markup(alt)));
  std::string caption = escape_markup(illustration.caption);
  if (!caption.empty() && !illustration.figure.note.empty()) caption += ' ';
  caption += escape_markup(illustration.figure.note);
  if (!caption.empty()) caption = fmt::format("<figcaption>{}</figcaption>\n", caption);
  return fmt::format("<figure>\n{}\n{}</figure>\n", svg, caption);
}

}  // namespace

Page::Page(std::string_view title, std::string_view summary) : title_(escape_markup(title)) {
  body_ = fmt::format("<header>\n<p class=\"mark\">widelimit</p>\n<h1>{}</h1>\n<p class=\"summary\">{}</p>\n", title_,
                      escape_markup(summary));
}

Page& Page::highlights(const std::vector<std::pair<std::string, std::string>>& numbers) {
  body_ += "<dl class=\"highlights\">\n";
  for (const auto& number : numbers)
    body_ +=
        fmt::format("<div><dt>{}</dt><dd>{}</dd></div>\n", escape_markup(number.first), escape_markup(number.second));
  body_ += "</dl>\n";
  return *this;
}

Page& Page::section(std::string_view heading) {
  body_ += section_open_ ? "</section>\n" : "</header>\n<main>\n";
  body_ += fmt::format("<section>\n<h2>{}</h2>\n", escape_markup(heading));
  section_open_ = true;
  return *this;
}

Page& Page::paragraph(std::string_view text) {
  body_ += fmt::format("<p>{}</p>\n", escape_markup(text));
  return *this;
}

Page& Page::table(const Table& table) {
  table.validate();
  body_ += "<div class=\"scroll\" tabindex=\"0\">\n<table>\n";
  if (!table.caption.empty()) body_ += fmt::format("<caption>{}</caption>\n", escape_markup(table.caption));
  body_ += fmt::format("<thead><tr>{}</tr></thead>\n<tbody>\n", header_row(table));
  for (const std::string& row : body_rows(table)) body_ += fmt::format("<tr>{}</tr>\n", row);
  body_ += "</tbody>\n</table>\n</div>\n";
  return *this;
}

Page& Page::figure(const Illustration& illustration) { return figures({illustration}); }

Page& Page::figures(const std::vector<Illustration>& illustrations) {
  body_ += "<div class=\"figures\">\n";
  for (const Illustration& illustration : illustrations) body_ += figure_markup(illustration, ++figure_count_);
  body_ += "</div>\n";
  return *this;
}

Page& Page::settings(const Json& settings) {
  if (!settings.is_object()) fail(Code::usage, "the settings of a page must be an object of names and values");
  section("Settings");
  body_ += "<dl class=\"settings\">\n";
  for (const auto& item : settings.items())
    body_ +=
        fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(item.key()), escape_markup(value_text(item.value())));
  body_ += "</dl>\n";
  return *this;
}

std::string Page::html(std::chrono::system_clock::time_point written) const {
  const std::time_t seconds = std::chrono::system_clock::to_time_t(written);
  const std::tm utc = fmt::gmtime(seconds);
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta name=\"generator\" content=\"widelimit {0}\">\n"
      "<link rel=\"icon\" href=\"data:,\">\n"
      "<title>{1}</title>\n<style>{2}</style>\n</head>\n<body>\n{3}{4}"
      "<footer>Written by widelimit {0} on <time datetime=\"{5:%Y-%m-%dT%H:%M:%SZ}\">{5:%Y-%m-%d %H:%M} "
      "UTC</time>.</footer>\n</body>\n</html>\n",
      version(), title_, page_style(), body_, section_open_ ? "</section>\n</main>\n" : "</header>\n", utc);
}

void Page::write(const std::filesystem::path& path) const {
  write_atomically(path, html(std::chrono::system_clock::now()));
}

}  // namespace widelimit
