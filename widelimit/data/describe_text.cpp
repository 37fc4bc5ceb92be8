#include "widelimit/data/describe.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>

namespace widelimit {

namespace {

constexpr std::size_t shown_features = 12;

std::string row_text(const std::vector<double>& row) {
  std::string text;
  for (std::size_t j = 0; j < std::min(row.size(), shown_features); ++j) text += fmt::format(" {:.6g}", row[j]);
  if (row.size() > shown_features) text += fmt::format(" … ({} in all)", row.size());
  return text;
}

std::string entries_text(const std::vector<std::pair<Index, double>>& entries) {
  std::string text;
  for (std::size_t k = 0; k < std::min(entries.size(), shown_features); ++k) {
    text += fmt::format(" {}:{:.6g}", entries[k].first, entries[k].second);
  }
  if (entries.size() > shown_features) text += fmt::format(" … ({} in all)", entries.size());
  return text;
}

/// Returns the storage: "float64", and for sparse samples also the number of stored entries.
std::string held_text(const Description& d) {
  if (!d.stored) return std::string(to_string(d.precision));
  const double cells = static_cast<double>(d.count) * static_cast<double>(d.shape.size());
  const double part = cells > 0 ? 100 * static_cast<double>(*d.stored) / cells : 0;
  return fmt::format("{}, sparse: {} numbers stored, {:.3g} % of all", to_string(d.precision), *d.stored, part);
}

std::string classes_text(const std::vector<std::pair<std::string, Index>>& classes) {
  std::string text = fmt::format("classes    {}\n", classes.size());
  for (const auto& entry : classes) text += fmt::format("  {:<16} {}\n", entry.first, entry.second);
  return text;
}

std::string columns_text(const std::vector<Column>& columns) {
  constexpr std::size_t most = 40;
  std::string text = fmt::format("columns    {}\n", columns.size());
  for (std::size_t j = 0; j < std::min(columns.size(), most); ++j) {
    const Column& column = columns[j];
    const std::string name = column.name.empty() ? fmt::format("column {}", column.place + 1) : column.name;
    std::string what = "numbers";
    if (!column.categories.empty()) {
      const auto shown = static_cast<std::ptrdiff_t>(std::min(column.categories.size(), shown_features));
      what = fmt::format("{} categories: {}{}", column.categories.size(),
                         fmt::join(column.categories.begin(), column.categories.begin() + shown, ", "),
                         column.categories.size() > shown_features ? ", …" : "");
    }
    text += fmt::format("  {:<16} {}\n", name, what);
  }
  if (columns.size() > most) text += fmt::format("  … and {} more\n", columns.size() - most);
  return text;
}

nlohmann::json columns_json(const std::vector<Column>& columns) {
  auto list = nlohmann::json::array();
  for (const Column& column : columns) {
    nlohmann::json entry{{"name", column.name}, {"place", column.place}};
    if (!column.categories.empty()) entry["categories"] = column.categories;
    if (column.fill) entry["fill"] = *column.fill;
    list.push_back(std::move(entry));
  }
  return list;
}

/// Returns whether the columns have names from a header or are not all numeric.
bool tells_columns(const std::vector<Column>& columns) {
  return std::any_of(columns.begin(), columns.end(),
                     [](const Column& column) { return !column.name.empty() || !column.categories.empty(); });
}

nlohmann::json classes_json(const std::vector<std::pair<std::string, Index>>& classes) {
  auto list = nlohmann::json::array();
  for (const auto& entry : classes) list.push_back({{"name", entry.first}, {"count", entry.second}});
  return list;
}

std::string problems_text(const std::vector<std::string>& problems) {
  std::string text;
  for (const std::string& problem : problems) text += fmt::format("note: {}\n", problem);
  return text;
}

}  // namespace

std::string to_text(const Description& d) {
  std::string text = fmt::format("name       {}\nsamples    {}\nshape      {}\nheld as    {}\nrange      {} to {}\n",
                                 d.name, d.count, to_string(d.shape), held_text(d), d.low, d.high);
  if (tells_columns(d.columns)) text += columns_text(d.columns);
  if (!d.classes.empty()) text += classes_text(d.classes);
  if (d.regression) text += fmt::format("targets    {} to {}\n", d.target_low, d.target_high);
  text += d.stored ? "first rows, columns counted from 0\n" : "first rows\n";
  for (std::size_t i = 0; i < d.first_labels.size(); ++i) {
    const std::string row = d.stored ? entries_text(d.first_entries[i]) : row_text(d.first_rows[i]);
    text += fmt::format("  {}{}{}\n", d.first_labels[i], d.first_labels[i].empty() ? "" : ":", row);
  }
  return text + problems_text(d.problems);
}

nlohmann::json to_json(const Description& d) {
  nlohmann::json json{{"name", d.name},
                      {"samples", d.count},
                      {"shape", {d.shape.height, d.shape.width, d.shape.channels}},
                      {"precision", to_string(d.precision)},
                      {"range", {d.low, d.high}},
                      {"classes", classes_json(d.classes)},
                      {"first_rows", d.first_rows},
                      {"first_labels", d.first_labels},
                      {"problems", d.problems}};
  if (d.stored) {
    json["stored"] = *d.stored;
    json["first_entries"] = d.first_entries;
  }
  if (tells_columns(d.columns)) json["columns"] = columns_json(d.columns);
  if (d.regression) json["targets"] = {d.target_low, d.target_high};
  return json;
}

std::string to_text(const GraphDescription& d) {
  std::string text =
      fmt::format("name       {}\ngraphs     {}\nnode tags  {}\nmean nodes {:.2f}\nmean edges {:.2f}\nfolds      {}\n",
                  d.name, d.count, d.tags, d.mean_nodes, d.mean_edges, d.folds);
  text += classes_text(d.classes);
  return text + problems_text(d.problems);
}

nlohmann::json to_json(const GraphDescription& d) {
  return {{"name", d.name},
          {"graphs", d.count},
          {"classes", classes_json(d.classes)},
          {"node_tags", d.tags},
          {"mean_nodes", d.mean_nodes},
          {"mean_edges", d.mean_edges},
          {"folds", d.folds},
          {"isolated_nodes", d.isolated},
          {"problems", d.problems}};
}

}  // namespace widelimit
