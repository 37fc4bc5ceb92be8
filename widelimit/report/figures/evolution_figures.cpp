#include "widelimit/report/figures/evolution_figures.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

namespace widelimit {

namespace {

using Json = nlohmann::ordered_json;
using Value = std::function<std::optional<double>(const Checkpoint&)>;

/// A number of every checkpoint, with its names in tables and records.
struct NumberColumn {
  const char* name;
  const char* key;
  Value value;
};

std::vector<NumberColumn> columns() {
  return {{"loss", "loss", [](const Checkpoint& p) { return p.loss; }},
          {"accuracy", "accuracy", [](const Checkpoint& p) { return p.accuracy; }},
          {"test", "test_accuracy", [](const Checkpoint& p) { return p.test_accuracy; }},
          {"S(0,t)", "distance", [](const Checkpoint& p) { return p.distance; }},
          {"velocity", "velocity", [](const Checkpoint& p) { return p.velocity; }},
          {"alignment", "alignment", [](const Checkpoint& p) { return p.alignment; }},
          {"sharpness", "sharpness", [](const Checkpoint& p) { return p.sharpness; }},
          {"moved", "moved_share", [](const Checkpoint& p) { return p.moved_share; }},
          {"gates", "gates_changed", [](const Checkpoint& p) { return p.gates_changed; }},
          {"same/diag", "same_class",
           [](const Checkpoint& p) { return p.classes ? std::optional(p.classes->same_ratio()) : std::nullopt; }},
          {"other/diag", "other_class",
           [](const Checkpoint& p) { return p.classes ? std::optional(p.classes->different_ratio()) : std::nullopt; }},
          {"elasticity", "elasticity", [](const Checkpoint& p) { return p.elasticity; }}};
}

/// Numbers for records that are not in the table.
std::vector<NumberColumn> more_numbers() {
  return {{"", "kernel_norm", [](const Checkpoint& p) { return p.kernel_norm; }},
          {"", "largest_eigenvalue", [](const Checkpoint& p) { return p.largest_eigenvalue; }},
          {"", "moved", [](const Checkpoint& p) { return p.moved; }},
          {"", "gates_since_last", [](const Checkpoint& p) { return p.gates_since_last; }},
          {"", "mean_diagonal",
           [](const Checkpoint& p) { return p.classes ? std::optional(p.classes->diagonal) : std::nullopt; }}};
}

Cell cell(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

/// Returns values by epoch, or by checkpoint number if `numbered`.
Series series_of(const Evolution& found, const char* name, const Value& value, bool numbered) {
  Series series{.name = name};
  for (std::size_t k = 0; k < found.checkpoints.size(); ++k) {
    const std::optional<double> y = value(found.checkpoints[k]);
    if (!y) continue;
    series.x.push_back(numbered ? static_cast<double>(k) : found.checkpoints[k].epoch);
    series.y.push_back(*y);
  }
  return series;
}

void add_series(const Evolution& found, const char* name, const Value& value, std::vector<Series>& all,
                bool numbered = false) {
  Series series = series_of(found, name, value, numbered);
  if (!series.y.empty()) all.push_back(std::move(series));
}

Json curve_json(const BarrierCurve& curve) {
  return {{"barrier", curve.barrier}, {"alphas", curve.alphas}, {"errors", curve.errors}};
}

double epoch_of(const Evolution& found, Index step) {
  const auto at = std::find_if(found.checkpoints.begin(), found.checkpoints.end(),
                               [&](const Checkpoint& point) { return point.step == step; });
  return at == found.checkpoints.end() ? static_cast<double>(step) : at->epoch;
}

}  // namespace

std::string time_text(const Checkpoint& point) { return fmt::format("epoch {:.3g}", point.epoch); }

Table evolution_table(const Evolution& found) {
  Table table{.columns = {"step", "epoch"}};
  for (const Checkpoint& point : found.checkpoints) {
    table.rows.push_back({static_cast<std::int64_t>(point.step), point.epoch});
  }
  for (const NumberColumn& column : columns()) {
    const bool any = std::any_of(found.checkpoints.begin(), found.checkpoints.end(),
                                 [&](const Checkpoint& point) { return column.value(point).has_value(); });
    if (!any) continue;
    table.columns.emplace_back(column.name);
    for (std::size_t k = 0; k < table.rows.size(); ++k) {
      table.rows[k].push_back(cell(column.value(found.checkpoints[k])));
    }
  }
  return table;
}

Table branch_table(const Evolution& found) {
  Table table{.columns = {"step", "epoch", "tangent accuracy", "tangent test", "linearised test", "barrier",
                          "test barrier", "children apart"}};
  for (const Checkpoint& point : found.checkpoints) {
    std::vector<std::optional<double>> numbers(6);
    bool any = false;
    for (const TangentTraining& tangent : found.tangent) {
      if (tangent.step != point.step) continue;
      any = true;
      numbers[0] = tangent.accuracy;
      numbers[1] = tangent.test_accuracy;
      numbers[2] = tangent.descent_test_accuracy;
    }
    for (const ErrorBarrier& barrier : found.barriers) {
      if (barrier.step != point.step) continue;
      any = true;
      numbers[3] = barrier.train.barrier;
      if (barrier.test) numbers[4] = barrier.test->barrier;
      numbers[5] = barrier.apart;
    }
    if (!any) continue;
    std::vector<Cell>& row = table.rows.emplace_back();
    row.emplace_back(static_cast<std::int64_t>(point.step));
    row.emplace_back(point.epoch);
    for (const std::optional<double>& number : numbers) row.push_back(cell(number));
  }
  return table;
}

nlohmann::ordered_json evolution_json(const Evolution& found) {
  Json points = Json::array();
  std::vector<NumberColumn> all = columns();
  for (const NumberColumn& more : more_numbers()) all.push_back(more);
  for (const Checkpoint& point : found.checkpoints) {
    Json entry{{"step", point.step}, {"epoch", point.epoch}};
    for (const NumberColumn& column : all) {
      if (const auto value = column.value(point)) entry[column.key] = *value;
    }
    if (!point.class_distances.empty()) entry["class_distances"] = point.class_distances;
    if (point.kernel_error > 0) entry["kernel_error"] = point.kernel_error;
    points.push_back(std::move(entry));
  }
  Json distances = Json::array();
  for (Index t = 0; t < found.distances.rows(); ++t) {
    const double* row = found.distances.view().row(t);
    distances.push_back(std::vector<double>(row, row + found.distances.cols()));
  }
  Json json{{"ending", text(found.trained.summary.ending)},
            {"weights", found.trained.summary.weights},
            {"rate", found.trained.summary.rate},
            {"checkpoints", std::move(points)},
            {"distances", std::move(distances)}};
  if (!found.trained.summary.message.empty()) json["message"] = found.trained.summary.message;
  for (const TangentTraining& tangent : found.tangent) {
    Json entry{{"step", tangent.step},
               {"samples", tangent.samples},
               {"squared_error", tangent.squared_error},
               {"unlearnt", tangent.unlearnt}};
    const auto add = [&](const char* name, const std::optional<double>& value) {
      if (value) entry[name] = *value;
    };
    add("accuracy", tangent.accuracy);
    add("test_accuracy", tangent.test_accuracy);
    add("descent_accuracy", tangent.descent_accuracy);
    add("descent_test_accuracy", tangent.descent_test_accuracy);
    json["tangent"].push_back(std::move(entry));
  }
  for (const ErrorBarrier& barrier : found.barriers) {
    Json entry{{"step", barrier.step}, {"apart", barrier.apart}, {"train", curve_json(barrier.train)}};
    if (barrier.test) entry["test"] = curve_json(*barrier.test);
    json["barriers"].push_back(std::move(entry));
  }
  json["remarks"] = found.remarks;
  return json;
}

Illustration evolution_timeline(const Evolution& found) {
  std::vector<std::string> names;
  bool steps = true;
  for (const Checkpoint& point : found.checkpoints) {
    names.push_back(fmt::format("{:.3g}", point.epoch));
    steps = steps && point.epoch == static_cast<double>(point.step);
  }
  std::vector<TimelineStrip> strips(1);
  strips[0].label = "velocity";
  strips[0].scale = AxisScale::log;
  add_series(
      found, "velocity", [](const Checkpoint& p) { return p.velocity; }, strips[0].series, true);
  TimelineStrip accuracy{.label = "accuracy"};
  add_series(
      found, "training accuracy", [](const Checkpoint& p) { return p.accuracy; }, accuracy.series, true);
  add_series(
      found, "test accuracy", [](const Checkpoint& p) { return p.test_accuracy; }, accuracy.series, true);
  if (accuracy.series.empty()) {
    accuracy.label = "loss";
    add_series(
        found, "loss", [](const Checkpoint& p) { return p.loss; }, accuracy.series, true);
  }
  strips.push_back(std::move(accuracy));
  const char* axis = steps ? "step" : "epoch";
  return {.figure = timeline(found.distances.view(), names, strips,
                             {.title = "Kernel distance", .row_label = axis, .column_label = axis}),
          .caption =
              "S(t, s) = 1 − ⟨K_t, K_s⟩/(‖K_t‖‖K_s‖) of all pairs of checkpoints; velocity S(t, t + Δ)/Δ per "
              "epoch since the previous checkpoint. Checkpoints are evenly spaced on the axis, regardless of the time "
              "between them."};
}

std::vector<Illustration> evolution_curves(const Evolution& found) {
  std::vector<Illustration> figures;
  const auto add = [&](std::vector<Series> lines, const char* title, const char* label, const char* caption) {
    if (lines.empty()) return;
    figures.push_back(
        {.figure = curves(lines, {.title = title, .x_label = "epoch", .y_label = label}), .caption = caption});
  };
  std::vector<Series> classes;
  add_series(
      found, "same class",
      [](const Checkpoint& p) { return p.classes ? std::optional(p.classes->same_ratio()) : std::nullopt; }, classes);
  add_series(
      found, "other class",
      [](const Checkpoint& p) { return p.classes ? std::optional(p.classes->different_ratio()) : std::nullopt; },
      classes);
  add(std::move(classes), "Class structure", "mean / mean of the diagonal",
      "Means of the kernel over pairs of one class, self-pairs included, and of two classes.");
  std::vector<Series> labels;
  add_series(
      found, "alignment", [](const Checkpoint& p) { return std::optional(p.alignment); }, labels);
  add_series(
      found, "local elasticity", [](const Checkpoint& p) { return p.elasticity; }, labels);
  add(std::move(labels), "The kernel and the labels", "share",
      "Alignment ⟨K, YYᵀ⟩/(‖K‖‖YYᵀ‖); elasticity is ½ if it does not depend on the labels.");
  std::vector<Series> sharpness;
  add_series(
      found, "η·l''·λ_max", [](const Checkpoint& p) { return p.sharpness; }, sharpness);
  if (!sharpness.empty()) {
    sharpness.push_back({.name = "2",
                         .x = {found.checkpoints.front().epoch, found.checkpoints.back().epoch},
                         .y = {2, 2},
                         .stroke = Stroke::line});
  }
  add(std::move(sharpness), "Sharpness", "η·l''·λ_max",
      "Gradient descent on the linearised network is stable below 2.");
  std::vector<Series> moved;
  add_series(
      found, "‖w − w₀‖/‖w₀‖", [](const Checkpoint& p) { return std::optional(p.moved_share); }, moved);
  add_series(
      found, "gates changed", [](const Checkpoint& p) { return p.gates_changed; }, moved);
  add(std::move(moved), "Movement", "share", "Of weights, and of the gates of the probe samples, since the start.");
  return figures;
}

std::vector<Illustration> branch_curves(const Evolution& found) {
  std::vector<Illustration> figures;
  std::vector<Series> accuracy;
  if (!found.tangent.empty()) {
    Series closed{.name = "tangent model, test"};
    Series descent{.name = "linearised network, test"};
    for (const TangentTraining& tangent : found.tangent) {
      const auto add = [&](const std::optional<double>& value, Series& to) {
        if (!value) return;
        to.x.push_back(epoch_of(found, tangent.step));
        to.y.push_back(*value);
      };
      add(tangent.test_accuracy, closed);
      add(tangent.descent_test_accuracy, descent);
    }
    for (Series* each : {&closed, &descent}) {
      if (!each->y.empty()) accuracy.push_back(*each);
    }
    add_series(
        found, "network, test", [](const Checkpoint& p) { return p.test_accuracy; }, accuracy);
  }
  if (!accuracy.empty()) {
    figures.push_back({.figure = curves(accuracy, {.title = "Tangent training by checkpoint",
                                                   .x_label = "epoch of the checkpoint",
                                                   .y_label = "test accuracy"}),
                       .caption =
                           "Accuracy of the network linearised at a checkpoint and trained from there, compared with "
                           "that of the network at the checkpoint."});
  }
  std::vector<Series> heights{{.name = "training samples"}, {.name = "test samples"}};
  for (const ErrorBarrier& barrier : found.barriers) {
    heights[0].x.push_back(epoch_of(found, barrier.step));
    heights[0].y.push_back(barrier.train.barrier);
    if (!barrier.test) continue;
    heights[1].x.push_back(epoch_of(found, barrier.step));
    heights[1].y.push_back(barrier.test->barrier);
  }
  if (heights[1].y.empty()) heights.pop_back();
  if (!found.barriers.empty()) {
    figures.push_back({.figure = curves(heights, {.title = "Error barrier by the time of spawning",
                                                  .x_label = "epoch of the checkpoint",
                                                  .y_label = "barrier"}),
                       .caption = "Largest excess of the error on the path between two children, trained with "
                                  "different batches, over the line between their errors."});
  }
  return figures;
}

std::vector<std::pair<std::string, Illustration>> kernel_slides(const Evolution& found,
                                                                const std::vector<Band>& classes) {
  if (found.kernels.size() != found.checkpoints.size()) {
    fail(Code::usage, "the kernels were not kept; keep the kernels of the evolution to draw them");
  }
  std::vector<Matrix<double>> shown;
  double low = 0;
  double high = 0;
  for (const std::vector<Matrix<double>>& kernels : found.kernels) {
    Matrix<double> mean = mean_kernel(kernels);
    double diagonal = 0;
    for (Index i = 0; i < mean.rows(); ++i) diagonal += mean(i, i) / static_cast<double>(mean.rows());
    for (Index i = 0; i < mean.rows() * mean.cols(); ++i) {
      mean.data()[i] /= diagonal;
      low = std::min(low, mean.data()[i]);
      high = std::max(high, mean.data()[i]);
    }
    shown.push_back(std::move(mean));
  }
  const std::string axis = classes.empty() ? "sample" : "class";
  std::vector<std::pair<std::string, Illustration>> slides;
  for (std::size_t k = 0; k < shown.size(); ++k) {
    const std::string when = time_text(found.checkpoints[k]);
    slides.emplace_back(when, Illustration{.figure = heat_map(shown[k].view(), {.title = "Kernel at " + when,
                                                                                .row_label = axis,
                                                                                .column_label = axis,
                                                                                .row_bands = classes,
                                                                                .column_bands = classes,
                                                                                .range = std::pair(low, high)}),
                                           .caption = "Divided by the mean of its diagonal."});
  }
  return slides;
}

std::vector<Band> class_bands(std::span<const Index> classes, const std::vector<std::string>& names) {
  std::vector<Band> bands;
  for (std::size_t i = 0; i < classes.size(); ++i) {
    if (i == 0 || classes[i] != classes[i - 1]) bands.push_back({names[usize(classes[i])], 0});
    bands.back().end = static_cast<Index>(i) + 1;
  }
  return bands;
}

void add_evolution(Page& page, const Evolution& found, const std::vector<Band>& classes) {
  if (found.checkpoints.size() > 1) page.section("Along the training").figure(evolution_timeline(found));
  if (!found.kernels.empty()) {
    constexpr std::size_t most_slides = 40;
    auto slides = kernel_slides(found, classes);
    if (slides.size() > most_slides) {
      std::vector<std::pair<std::string, Illustration>> some;
      for (std::size_t k = 0; k < most_slides; ++k) some.push_back(slides[k * (slides.size() - 1) / (most_slides - 1)]);
      slides = std::move(some);
    }
    page.section("The kernel of the probe set").slides("Shown at", slides);
  }
  if (found.checkpoints.size() > 1) page.section("What changes").figures(evolution_curves(found));
  page.table(evolution_table(found));
  const Table branches = branch_table(found);
  if (!branches.rows.empty()) page.section("Branches").figures(branch_curves(found)).table(branches);
  for (const std::string& remark : found.remarks) page.paragraph(remark);
}

}  // namespace widelimit
