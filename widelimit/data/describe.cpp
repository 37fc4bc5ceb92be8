#include "widelimit/data/describe.hpp"

#include "widelimit/data/preparation/equal_rows.hpp"

#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <string_view>
#include <unordered_map>

namespace widelimit {

namespace {

constexpr Index few_per_class = 5;
constexpr std::size_t shown_features = 12;

std::vector<std::pair<std::string, Index>> class_counts(const std::vector<std::string>& names,
                                                        const std::vector<Index>& labels) {
  std::vector<std::pair<std::string, Index>> counts;
  for (const std::string& name : names) counts.emplace_back(name, 0);
  for (const Index label : labels) ++counts[static_cast<std::size_t>(label)].second;
  return counts;
}

template <typename T>
Index constant_columns(const Matrix<T>& m) {
  std::vector<bool> constant(static_cast<std::size_t>(m.cols()), true);
  for (Index i = 1; i < m.rows(); ++i) {
    for (Index j = 0; j < m.cols(); ++j) {
      if (m(i, j) != m(0, j)) constant[static_cast<std::size_t>(j)] = false;
    }
  }
  return std::count(constant.begin(), constant.end(), true);
}

/// Counts constant columns: all rows store the same nonzero value, or no row stores a nonzero value.
Index constant_columns(const SparseMatrix& m) {
  struct ColumnValues {
    Index rows = 0;
    double value = 0;
    bool varies = false;
  };
  std::unordered_map<std::int32_t, ColumnValues> seen;
  for (Index i = 0; i < m.rows(); ++i) {
    const SparseView::Row row = m.view().row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (row.values[k] == 0) continue;
      ColumnValues& column = seen[row.columns[k]];
      column.varies |= column.rows > 0 && column.value != row.values[k];
      column.value = row.values[k];
      ++column.rows;
    }
  }
  const Index same = std::count_if(seen.begin(), seen.end(), [&](const auto& entry) {
    return !entry.second.varies && entry.second.rows == m.rows();
  });
  return m.cols() - std::ssize(seen) + same;
}

template <typename T>
void show_values(const Matrix<T>& m, Index rows, DataDescription& description) {
  if (m.rows() * m.cols() > 0) {
    const auto range = std::minmax_element(m.data(), m.data() + m.rows() * m.cols());
    description.low = static_cast<double>(*range.first);
    description.high = static_cast<double>(*range.second);
  }
  for (Index i = 0; i < std::min(rows, m.rows()); ++i) {
    description.first_rows.emplace_back(m.view().row(i), m.view().row(i) + m.cols());
  }
}

void show_values(const SparseMatrix& m, Index rows, DataDescription& description) {
  const SparseView all = m.view();
  description.stored = m.stored();
  if (m.stored() > 0) {
    const auto range = std::minmax_element(all.values, all.values + m.stored());
    const bool has_zeros = m.stored() < m.rows() * m.cols();
    description.low = has_zeros ? std::min(0.0, *range.first) : *range.first;
    description.high = has_zeros ? std::max(0.0, *range.second) : *range.second;
  }
  for (Index i = 0; i < std::min(rows, m.rows()); ++i) {
    auto& entries = description.first_entries.emplace_back();
    const SparseView::Row row = all.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) entries.emplace_back(row.columns[k], row.values[k]);
  }
}

template <typename Rows>
void describe_values(const Rows& m, Index rows, DataDescription& description) {
  show_values(m, rows, description);
  if (m.rows() > 1) {
    if (const Index constant = constant_columns(m); constant > 0) {
      description.problems.push_back(fmt::format("{} of {} features are constant", constant, m.cols()));
    }
  }
}

void describe_values(const Graphs& /*graphs*/, Index /*rows*/, DataDescription& /*description*/) {}

std::string label_text(const Dataset& data, std::size_t i) {
  if (!data.targets.empty()) return fmt::format("{}", data.targets[i]);
  if (!data.labels.empty()) return data.class_names[static_cast<std::size_t>(data.labels[i])];
  if (data.outputs.rows() > 0) {
    const double* row = data.outputs.view().row(static_cast<Index>(i));
    return fmt::format("{}", fmt::join(row, row + data.outputs.cols(), ", "));
  }
  return {};
}

/// `unit` names what a class counts, "sample" or "graph".
void add_class_problems(const std::vector<std::pair<std::string, Index>>& classes, const char* unit,
                        std::vector<std::string>& problems) {
  for (const auto& [name, count] : classes) {
    if (count >= few_per_class) continue;
    problems.push_back(fmt::format("class '{}' has only {} {}{}", name, count, unit, count == 1 ? "" : "s"));
  }
  if (classes.size() == 1) problems.emplace_back("there is only one class");
}

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
std::string held_text(const DataDescription& d) {
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

DataDescription describe(const Dataset& data, Index rows) {
  DataDescription description;
  description.name = data.name;
  description.count = data.count();
  description.shape = data.shape;
  description.precision = std::holds_alternative<Matrix<float>>(data.values) ? Precision::f32 : Precision::f64;
  description.classes = class_counts(data.class_names, data.labels);
  description.regression = !data.targets.empty();
  description.columns = data.layout.columns;
  if (description.regression) {
    const auto range = std::minmax_element(data.targets.begin(), data.targets.end());
    description.target_low = *range.first;
    description.target_high = *range.second;
  }
  std::visit([&](const auto& m) { describe_values(m, rows, description); }, data.values);
  if (const Index repeated = repeated_samples(data.values); repeated > 0) {
    description.problems.push_back(
        fmt::format("{} samples duplicate an earlier one: without a ridge the kernel matrix is singular", repeated));
  }
  const std::size_t shown = description.first_rows.size() + description.first_entries.size();
  for (std::size_t i = 0; i < shown; ++i) {
    description.first_labels.push_back(label_text(data, i));
  }
  if (!data.labelled()) description.problems.emplace_back("unlabelled");
  add_class_problems(description.classes, "sample", description.problems);
  return description;
}

GraphDescription describe(const GraphSet& set) {
  GraphDescription description;
  description.name = set.name;
  description.count = std::ssize(set.graphs);
  description.classes = class_counts(set.class_names, set.labels);
  description.tags = std::ssize(set.tag_names);
  description.folds = std::ssize(set.folds);
  Index nodes = 0;
  Index ends = 0;
  Index empty = 0;
  Index first_empty = 0;
  Index edgeless = 0;
  Index first_edgeless = 0;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    const Index ends_before = ends;
    nodes += graph.n;
    for (const auto& neighbours : graph.neighbours) {
      ends += std::ssize(neighbours);
      description.isolated += neighbours.empty() ? 1 : 0;
    }
    if (graph.n == 0) {
      if (empty++ == 0) first_empty = static_cast<Index>(g);
    } else if (ends == ends_before && edgeless++ == 0) {
      first_edgeless = static_cast<Index>(g);
    }
  }
  const auto count = static_cast<double>(std::max<Index>(description.count, 1));
  description.mean_nodes = static_cast<double>(nodes) / count;
  description.mean_edges = static_cast<double>(ends) / 2 / count;
  const auto rejected = [&](Index graphs, Index first, const char* what) {
    if (graphs == 0) return;
    description.problems.push_back(
        graphs == 1 ? fmt::format("graph {} has no {}; kernels reject it", first, what)
                    : fmt::format("{} graphs have no {}, the first of them graph {}; kernels reject them", graphs, what,
                                  first));
  };
  rejected(empty, first_empty, "nodes");
  rejected(edgeless, first_edgeless, "edges");
  if (description.isolated > 0) {
    description.problems.push_back(description.isolated == 1
                                       ? "1 node has no neighbours"
                                       : fmt::format("{} nodes have no neighbours", description.isolated));
  }
  if (set.labels.empty()) description.problems.emplace_back("unlabelled");
  add_class_problems(description.classes, "graph", description.problems);
  return description;
}

std::string to_text(const DataDescription& d) {
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

nlohmann::json to_json(const DataDescription& d) {
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
