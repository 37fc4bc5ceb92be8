#include "widelimit/report/bound_report.hpp"

#include "widelimit/report/fit_summary.hpp"

#include <algorithm>
#include <functional>
#include <map>

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

namespace {

/// Rows of one machine and one kind of labels, by n.
using BoundLines = std::vector<const BoundRow*>;

Illustration lines_by_samples(const std::string& title, const BoundLines& rows) {
  std::vector<Series> lines{{.name = "test"},
                            {.name = "EQ, B fixed before"},
                            {.name = "all norms"},
                            {.name = "NT-L, to scale"},
                            {.name = "clean labels"}};
  for (const BoundRow* row : rows) {
    const auto put = [&](std::size_t line, std::optional<double> y) {
      if (!y) return;
      lines[line].x.push_back(static_cast<double>(row->samples));
      lines[line].y.push_back(*y);
    };
    put(0, row->test);
    if (row->machine) {
      put(1, row->machine->textbook.value());
      if (row->machine->uniform) put(2, row->machine->uniform->terms.value());
    }
    if (row->label) put(3, row->label->scaled);
    put(4, row->clean);
  }
  std::erase_if(lines, [](const Series& line) { return line.x.empty(); });
  // A logarithmic axis would leave out test errors of 0, with which the bounds are compared.
  const bool positive = std::all_of(lines.begin(), lines.end(), [](const Series& line) {
    return std::all_of(line.y.begin(), line.y.end(), [](double y) { return y > 0; });
  });
  return {.figure = curves(lines, {.title = title,
                                   .x_label = "training samples",
                                   .y_label = "error rate",
                                   .x_scale = AxisScale::log,
                                   .y_scale = positive ? AxisScale::log : AxisScale::linear}),
          .caption = "A bound of 1 or more is vacuous."};
}

/// Plots the three terms of every bound as bars.
Illustration parts_of_bounds(const std::vector<BoundRow>& rows) {
  std::vector<std::string> names;
  std::vector<BarSeries> parts{{.name = "loss on the sample"}, {.name = "complexity"}, {.name = "confidence"}};
  const auto add = [&](const std::string& name, const BoundTerms& terms) {
    names.push_back(name);
    parts[0].values.push_back(terms.empirical);
    parts[1].values.push_back(terms.complexity);
    parts[2].values.push_back(terms.confidence);
  };
  for (const BoundRow& row : rows) {
    const std::string label = row.name + ", " + row.labels + " labels";
    if (row.machine) add(label + ": EQ", row.machine->textbook);
    if (row.machine && row.machine->uniform) add(label + ": all norms", row.machine->uniform->terms);
  }
  return {.figure = bars(names, parts, {.title = "Terms of the bounds", .value_label = "error rate"}),
          .caption = "A bound is the sum of its three bars; at 1 or more it is vacuous."};
}

}  // namespace

std::vector<Illustration> bound_figures(const std::vector<BoundRow>& rows) {
  std::map<std::pair<std::string, std::string>, BoundLines> groups;
  bool by_samples = false;
  bool any = false;
  for (const BoundRow& row : rows) {
    groups[{row.name, row.labels}].push_back(&row);
    by_samples |= row.samples != rows.front().samples;
    any |= row.machine.has_value();
  }
  std::vector<Illustration> figures;
  if (!any) return figures;
  if (!by_samples) return {parts_of_bounds(rows)};
  for (const auto& group : groups) {
    figures.push_back(lines_by_samples(group.first.first + ", " + group.first.second + " labels", group.second));
  }
  return figures;
}

}  // namespace widelimit
