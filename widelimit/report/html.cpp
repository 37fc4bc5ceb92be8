#include "widelimit/report/html.hpp"

#include "widelimit/base/version.hpp"
#include "widelimit/report/drawing/svg.hpp"
#include "widelimit/report/file.hpp"
#include "widelimit/report/text.hpp"

#include <fmt/chrono.h>

#include <algorithm>
#include <numeric>
#include <string_view>

namespace widelimit {

namespace {

/// Style sheet of every page.
std::string_view page_style() {
  return R"css(
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --card: #ffffff; --ink: #1c2128; --soft: #59626e; --drawn: #39424d; --rule: #e2e4e8;
  --accent: #1a6fa8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --card: #1a1e23; --ink: #e6e8eb; --soft: #9ba4b0; --drawn: #c5cbd3; --rule: #2d333b;
    --accent: #6cb6e8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  overflow-wrap: break-word;
}
header, main, footer { max-width: 66rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); }
header { padding-top: clamp(2rem, 6vw, 4rem); }
.mark { margin: 0; color: var(--accent); font-size: .8rem; font-weight: 600; letter-spacing: .09em; }
h1 { margin: .2rem 0 .6rem; font-size: clamp(1.6rem, 1.2rem + 2vw, 2.4rem); line-height: 1.2; letter-spacing: -.015em; }
.summary { margin: 0; max-width: 46rem; color: var(--soft); font-size: 1.1rem; }
h2 { margin: 0 0 .8rem; font-size: 1.25rem; line-height: 1.3; }
section { margin-top: 2.5rem; padding-top: 1.5rem; border-top: 1px solid var(--rule); }
section p { max-width: 46rem; margin: 0 0 1rem; }
.highlights { display: flex; flex-wrap: wrap; gap: 1rem 2.75rem; margin: 1.75rem 0 0; }
.highlights div { display: flex; flex-direction: column-reverse; }
.highlights dt { color: var(--soft); font-size: .85rem; }
.highlights dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.3; font-variant-numeric: tabular-nums; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 1.25rem; margin: 1.25rem 0; }
figure {
  margin: 0; padding: clamp(.5rem, 2vw, 1.25rem); background: var(--card); border: 1px solid var(--rule);
  border-radius: .6rem; min-width: 0;
}
figure svg { display: block; width: 100%; max-width: 42rem; height: auto; margin: 0 auto; color: var(--drawn); }
figure svg text { font-family: system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
figcaption { max-width: 42rem; margin: .75rem auto 0; color: var(--soft); font-size: .9rem; line-height: 1.5; }
.scroll { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }
caption { padding-bottom: .5rem; color: var(--soft); font-size: .9rem; text-align: left; }
th, td { padding: .4rem 1.25rem .4rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: baseline; }
thead th { border-bottom: 2px solid var(--rule); color: var(--soft); font-size: .85rem; font-weight: 600; }
tbody tr:last-child td { border-bottom: 0; }
td:first-child { min-width: 8rem; }
th.number, td.number { text-align: right; white-space: nowrap; }
.sortable > input, .slides > input { position: absolute; opacity: 0; }
.sortable > label, .slides > label { display: inline-block; margin: 0 .4rem .4rem 0; padding: .1rem .6rem; border: 1px solid var(--rule); border-radius: 1rem; color: var(--soft); font-size: .85rem; cursor: pointer; }
.sortable > input:checked + label, .slides > input:checked + label { color: inherit; border-color: currentColor; }
.sortable > input:focus-visible + label, .slides > input:focus-visible + label { outline: 2px solid currentColor; }
.sortable table { display: grid; overflow-x: auto; }
.sortable thead, .sortable tbody, .sortable tr { display: contents; }
.sortable th { order: -1; }
.sortable caption { order: -2; grid-column: 1 / -1; }
.slides { position: relative; margin: 1.25rem 0; }
.slides > .stack { display: grid; margin-top: .6rem; }
.slides > .stack > figure { grid-area: 1 / 1; visibility: hidden; }
.settings { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: .3rem 1.5rem; margin: 0; font-size: .95rem; }
.settings dt { color: var(--soft); }
.settings dd { margin: 0; font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; font-size: .88rem; line-height: 1.75; }
footer { margin-top: 3rem; padding-top: 1rem; padding-bottom: 3rem; color: var(--soft); font-size: .85rem; }
@media print { body { background: none; } figure { break-inside: avoid; } }
)css";
}

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

/// Returns one <td> per column for every row; empty cells are dashes.
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

/// Sort order of cells: words ascending, numbers descending, empty cells last.
bool before(const Cell& a, const Cell& b) {
  const auto number = [](const Cell& cell) {
    const auto* count = std::get_if<std::int64_t>(&cell);
    return count != nullptr ? static_cast<double>(*count) : std::get<double>(cell);
  };
  const bool nothing_a = std::holds_alternative<std::monostate>(a);
  const bool nothing_b = std::holds_alternative<std::monostate>(b);
  if (nothing_a || nothing_b) return !nothing_a && nothing_b;
  const auto* word_a = std::get_if<std::string>(&a);
  const auto* word_b = std::get_if<std::string>(&b);
  if (word_a != nullptr || word_b != nullptr) return word_b == nullptr || (word_a != nullptr && *word_a < *word_b);
  return number(a) > number(b);
}

/// Returns the place of every row in the order of that column.
std::vector<std::size_t> places_by(const Table& table, std::size_t column) {
  std::vector<std::size_t> order(table.rows.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t i, std::size_t j) { return before(table.rows[i][column], table.rows[j][column]); });
  std::vector<std::size_t> places(order.size());
  for (std::size_t place = 0; place < order.size(); ++place) places[order[place]] = place;
  return places;
}

/// Styles for tables of up to that many columns: cells take the place of their row in the selected order.
std::string sorting_style(std::size_t columns) {
  std::string style;
  for (std::size_t j = 0; j < columns; ++j) {
    style += fmt::format(".sortable > .by{0}:checked ~ table td {{ order: var(--O{0}); }}\n", j);
  }
  return style;
}

/// Styles for sets of up to that many slides: only the selected one is visible.
std::string slides_style(std::size_t slides) {
  std::string style;
  for (std::size_t k = 0; k < slides; ++k) {
    style += fmt::format(".slides > .at{0}:checked ~ .stack > :nth-child({1}) {{ visibility: visible; }}\n", k, k + 1);
  }
  return style;
}

std::string figure_markup(const Illustration& illustration, int number) {
  const std::string& alt = illustration.alt.empty() ? illustration.figure.title : illustration.alt;
  if (alt.empty()) fail(Code::usage, "figure {} of the page needs a title or an alternative text", number);
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

Page& Page::sortable_table(const Table& table) {
  table.validate();
  const std::string id = fmt::format("sort{}", ++sortable_count_);
  sortable_columns_ = std::max(sortable_columns_, table.columns.size());
  std::string choices;
  std::vector<std::string> places(table.rows.size());
  for (std::size_t j = 0; j < table.columns.size(); ++j) {
    choices += fmt::format(
        "<input type=\"radio\" class=\"by{1}\" name=\"{0}\" id=\"{0}-{1}\"{2}><label for=\"{0}-{1}\">{3}</label>\n", id,
        j, j == 0 ? " checked" : "", escape_markup(table.columns[j]));
    const std::vector<std::size_t> by_this = places_by(table, j);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] += fmt::format("--O{}:{};", j, by_this[i]);
  }
  body_ +=
      fmt::format("<div class=\"sortable\">\nSorted by {}<table style=\"grid-template-columns: repeat({}, auto)\">\n",
                  choices, table.columns.size());
  if (!table.caption.empty()) body_ += fmt::format("<caption>{}</caption>\n", escape_markup(table.caption));
  body_ += fmt::format("<thead><tr>{}</tr></thead>\n<tbody>\n", header_row(table));
  const std::vector<std::string> rows = body_rows(table);
  for (std::size_t i = 0; i < rows.size(); ++i) body_ += fmt::format("<tr style=\"{}\">{}</tr>\n", places[i], rows[i]);
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

Page& Page::slides(std::string_view heading, const std::vector<std::pair<std::string, Illustration>>& figures) {
  const std::string id = fmt::format("slides{}", ++slides_count_);
  most_slides_ = std::max(most_slides_, figures.size());
  std::string choices;
  std::string stack;
  for (std::size_t k = 0; k < figures.size(); ++k) {
    choices += fmt::format(
        "<input type=\"radio\" class=\"at{1}\" name=\"{0}\" id=\"{0}-{1}\"{2}><label for=\"{0}-{1}\">{3}</label>\n", id,
        k, k == 0 ? " checked" : "", escape_markup(figures[k].first));
    stack += figure_markup(figures[k].second, ++figure_count_);
  }
  body_ += fmt::format("<div class=\"slides\">\n{} {}<div class=\"stack\">\n{}</div>\n</div>\n", escape_markup(heading),
                       choices, stack);
  return *this;
}

Page& Page::settings(const Json& settings) {
  if (!settings.is_object()) fail(Code::usage, "the settings of a page must be an object of names and values");
  const bool noted = settings.contains("notes") && settings.at("notes").is_array();
  if (noted) {
    section("Notes");
    for (const Json& note : settings.at("notes")) paragraph(value_text(note));
  }
  section("Settings");
  body_ += "<dl class=\"settings\">\n";
  for (const auto& item : settings.items()) {
    if (noted && item.key() == "notes") continue;
    body_ +=
        fmt::format("<dt>{}</dt><dd>{}</dd>\n", escape_markup(item.key()), escape_markup(value_text(item.value())));
  }
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
      version(), title_, std::string(page_style()) + sorting_style(sortable_columns_) + slides_style(most_slides_),
      body_, section_open_ ? "</section>\n</main>\n" : "</header>\n", utc);
}

void Page::write(const std::filesystem::path& path) const {
  write_atomically(path, html(std::chrono::system_clock::now()));
}

}  // namespace widelimit
