#include "widelimit/report/bound_report.hpp"

#include <map>

namespace widelimit {

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
  return {.figure = curves(lines, {.title = title,
                                   .x_label = "training samples",
                                   .y_label = "error rate",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log}),
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
    const std::string who = row.name + ", " + row.labels + " labels";
    if (row.machine) add(who + ": EQ", row.machine->textbook);
    if (row.machine && row.machine->uniform) add(who + ": all norms", row.machine->uniform->terms);
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
