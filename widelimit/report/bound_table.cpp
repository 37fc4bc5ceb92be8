#include "widelimit/report/bound_report.hpp"

#include "widelimit/report/fit_summary.hpp"

#include <algorithm>
#include <functional>

namespace widelimit {

namespace {

using Json = nlohmann::ordered_json;

Json terms_json(const BoundTerms& terms, double range) {
  return {{"value", terms.value()},
          {"empirical", terms.empirical},
          {"complexity", terms.complexity},
          {"confidence", terms.confidence},
          {"vacuous", terms.value() >= range}};
}

Json uniform_json(const UniformBound& bound, double range) {
  Json json = terms_json(bound.terms, range);
  json["scale"] = bound.scale;
  json["radius"] = bound.radius;
  json["share_of_delta"] = bound.share;
  return json;
}

Json machine_bound_json(const RademacherBound& bound) {
  Json json{{"loss", to_string(bound.loss.loss.kind)},
            {"clip", bound.loss.clip},
            {"range", bound.setting.range},
            {"lipschitz", bound.setting.lipschitz},
            {"delta", bound.setting.delta},
            {"norm", bound.size.norm},
            {"trace", bound.size.trace},
            {"outputs_factor", bound.size.outputs}};
  if (bound.size.offset > 0) json["offset"] = bound.size.offset;
  json["textbook"] = terms_json(bound.textbook, bound.setting.range);
  if (bound.uniform) json["uniform"] = uniform_json(*bound.uniform, bound.setting.range);
  if (!bound.note.empty()) json["note"] = bound.note;
  return json;
}

Json label_bound_json(const LabelBound& bound) {
  Json json{{"infinite", !bound.norm.square.has_value()}};
  if (bound.norm.square) {
    json["norm_square"] = *bound.norm.square;
    json["a_priori"] = *bound.a_priori;
    json["scaled"] = *bound.scaled;
    json["absolute"] = *bound.absolute;
    json["uniform"] = uniform_json(*bound.uniform, 1);
  }
  if (bound.norm.condition) json["condition"] = *bound.norm.condition;
  if (!bound.norm.message.empty()) json["message"] = bound.norm.message;
  return json;
}

/// One table column: its name and the text of its cells.
struct BoundColumn {
  const char* name;
  std::function<std::string(const BoundRow&)> text;
};

std::string label_text(const BoundRow& row, std::optional<double> value) {
  if (!row.label) return "–";
  return row.label->norm.square ? bound_text(value) : "infinite";
}

std::vector<BoundColumn> bound_columns() {
  const auto range = [](const BoundRow& row) { return row.machine->setting.range; };
  return {
      {"norm B", [](const BoundRow& row) { return row.machine ? fmt::format("{:.4g}", row.machine->size.norm) : "–"; }},
      {"loss",
       [](const BoundRow& row) { return row.machine ? fmt::format("{:.4f}", row.machine->textbook.empirical) : "–"; }},
      {"test", [](const BoundRow& row) { return row.test ? fmt::format("{:.4f}", *row.test) : "–"; }},
      {"EQ",
       [range](const BoundRow& row) {
         return row.machine ? bound_text(row.machine->textbook.value(), range(row)) : "–";
       }},
      {"all norms",
       [range](const BoundRow& row) {
         return row.machine && row.machine->uniform ? bound_text(row.machine->uniform->terms.value(), range(row)) : "–";
       }},
      {"clean labels", [](const BoundRow& row) { return bound_text(row.clean); }},
      {"noise shape", [](const BoundRow& row) { return bound_text(row.noisy_shape); }},
      {"NT-L a priori",
       [](const BoundRow& row) { return label_text(row, row.label ? row.label->a_priori : std::nullopt); }},
      {"to scale", [](const BoundRow& row) { return label_text(row, row.label ? row.label->scaled : std::nullopt); }},
      {"NT-L |f-y|",
       [](const BoundRow& row) { return label_text(row, row.label ? row.label->absolute : std::nullopt); }},
      {"labels, all norms",
       [](const BoundRow& row) {
         const bool known = row.label && row.label->uniform;
         return label_text(row, known ? std::optional(row.label->uniform->terms.value()) : std::nullopt);
       }},
  };
}

}  // namespace

std::string bound_text(std::optional<double> value, double range) {
  if (!value) return "–";
  return fmt::format("{:.4f}{}", *value, *value >= range ? " (vacuous)" : "");
}

Table bound_table(const std::vector<BoundRow>& rows) {
  Table table{.columns = {"labels", "machine", "n"}};
  std::vector<BoundColumn> shown;
  for (const BoundColumn& column : bound_columns()) {
    if (std::all_of(rows.begin(), rows.end(), [&](const BoundRow& row) { return column.text(row) == "–"; })) continue;
    table.columns.emplace_back(column.name);
    shown.push_back(column);
  }
  for (const BoundRow& row : rows) {
    std::vector<Cell> cells{row.labels, row.name, static_cast<std::int64_t>(row.samples)};
    for (const BoundColumn& column : shown) cells.emplace_back(column.text(row));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

Json bound_json(const BoundRow& row) {
  Json json{{"labels", row.labels}, {"machine", row.name}, {"samples", row.samples}};
  if (row.machine) {
    json["train"] = row.train;
    if (row.test) json["test"] = *row.test;
    json["rademacher"] = machine_bound_json(*row.machine);
  }
  if (row.clean) json["clean"] = *row.clean;
  if (row.noisy_shape) json["noisy_shape"] = *row.noisy_shape;
  if (row.label) json["label_bound"] = label_bound_json(*row.label);
  json["summary"] = summary_json(row.summary);
  return json;
}

}  // namespace widelimit
