#include "widelimit/data/origin.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/choice.hpp"

#include <nlohmann/json.hpp>

#include <charconv>

namespace widelimit {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::array<std::string_view, 3> part_names{"all", "train", "test"};

template <typename T>
void read_optional(const Json& json, const char* key, std::optional<T>& value) {
  if (json.contains(key)) value = json.at(key).get<T>();
}

Json column_json(const Column& column) {
  Json json = Json::object();
  json["name"] = column.name;
  json["place"] = column.place;
  if (!column.categories.empty()) json["categories"] = column.categories;
  if (column.fill) json["fill"] = *column.fill;
  return json;
}

Column parse_column(const Json& json) {
  Column column;
  column.name = json.at("name").get<std::string>();
  column.place = json.at("place").get<Index>();
  if (json.contains("categories")) column.categories = json.at("categories").get<std::vector<std::string>>();
  read_optional(json, "fill", column.fill);
  return column;
}

Json table_json(const TableLayout& layout) {
  Json json;
  for (const Column& column : layout.columns) json["columns"].push_back(column_json(column));
  json["label"] = layout.label;
  json["label_place"] = layout.label_place;
  for (const Column& column : layout.outputs) json["outputs"].push_back(column_json(column));
  json["cells"] = layout.cells;
  json["missing"] = to_string(layout.missing);
  return json;
}

TableLayout parse_table(const Json& json) {
  TableLayout layout;
  for (const Json& column : json.at("columns")) layout.columns.push_back(parse_column(column));
  layout.label = json.at("label").get<std::string>();
  layout.label_place = json.at("label_place").get<Index>();
  if (json.contains("outputs")) {
    for (const Json& column : json.at("outputs")) layout.outputs.push_back(parse_column(column));
  }
  layout.cells = json.at("cells").get<Index>();
  layout.missing = parse_missing(json.at("missing").get<std::string>());
  layout.validate();
  return layout;
}

Split parse_split(const Json& json) {
  Split split;
  split.fraction = json.at("fraction").get<double>();
  split.order = parse_split_order(json.at("order").get<std::string>());
  split.seed = json.at("seed").get<std::uint64_t>();
  split.validate();
  return split;
}

std::uint64_t parse_checksum(const std::string& text) {
  std::uint64_t value = 0;
  const auto result = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (result.ec != std::errc{} || result.ptr != text.data() + text.size()) fail(Code::input, "checksum '{}'", text);
  return value;
}

DataOrigin origin_of(const Json& json) {
  DataOrigin origin;
  if (json.contains("table")) origin.layout = parse_table(json.at("table"));
  read_optional(json, "degree_tags", origin.degree_tags);
  origin.samples = json.at("samples").get<Index>();
  if (origin.samples < 0) fail(Code::input, "{} samples", origin.samples);
  origin.checksum = parse_checksum(json.at("checksum").get<std::string>());
  read_optional(json, "label", origin.label);
  if (json.contains("classes")) origin.classes = json.at("classes").get<std::vector<std::string>>();
  read_optional(json, "shuffle", origin.shuffle);
  if (json.contains("split")) origin.split = parse_split(json.at("split"));
  read_optional(json, "limit", origin.limit);
  if (origin.limit && *origin.limit < 1) fail(Code::input, "a limit of {}", *origin.limit);
  return origin;
}

template <typename T>
std::uint64_t checksum_of(const Matrix<T>& m) {
  return checksum(std::as_bytes(std::span(m.data(), usize(m.rows() * m.cols()))), static_cast<std::uint64_t>(m.cols()));
}
std::uint64_t checksum_of(const SparseMatrix& m) {
  const SparseView rows = m.view();
  const auto add = [](const auto* numbers, Index count, std::uint64_t seed) {
    return checksum(std::as_bytes(std::span(numbers, usize(count))), seed);
  };
  const std::uint64_t places = add(rows.offsets, m.rows() + 1, static_cast<std::uint64_t>(m.cols()));
  return add(rows.values, m.stored(), add(rows.columns, m.stored(), places));
}

std::uint64_t checksum_of(const Graphs& graphs) { return graphs_checksum(graphs.view()); }

}  // namespace

std::string_view to_string(Part part) { return part_names[static_cast<std::size_t>(part)]; }

Part parse_part(std::string_view text) { return parse_choice<Part>("part", part_names, text); }

std::uint64_t sample_checksum(const Dataset& data) {
  return std::visit([](const auto& m) { return checksum_of(m); }, data.values);
}

Json origin_json(const DataOrigin& origin) {
  Json json = Json::object();
  if (!origin.layout.columns.empty()) json["table"] = table_json(origin.layout);
  if (origin.degree_tags) json["degree_tags"] = *origin.degree_tags;
  json["samples"] = origin.samples;
  json["checksum"] = fmt::format("{:016x}", origin.checksum);
  if (origin.label) json["label"] = *origin.label;
  if (!origin.classes.empty()) json["classes"] = origin.classes;
  if (origin.shuffle) json["shuffle"] = *origin.shuffle;
  if (origin.split) {
    json["split"] = {
        {"fraction", origin.split->fraction}, {"order", to_string(origin.split->order)}, {"seed", origin.split->seed}};
  }
  if (origin.limit) json["limit"] = *origin.limit;
  return json;
}

DataOrigin parse_origin(const Json& json) {
  try {
    return origin_of(json);
  } catch (const std::exception& problem) {
    fail(Code::input, "its record of the training data is damaged: {}", problem.what());
  }
}

std::string origin_text(const DataOrigin& origin) {
  return origin_json(origin).dump(-1, ' ', false, Json::error_handler_t::replace);
}

DataOrigin parse_origin_text(const std::string& text) {
  // Levels deeper than any valid record are dropped during parsing, so that no recursion overflows the stack.
  constexpr int deepest = 5;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= deepest; };
  const Json json = Json::parse(text, shallow, false);
  if (!json.is_object()) fail(Code::input, "its record of the training data is damaged");
  return parse_origin(json);
}

}  // namespace widelimit
