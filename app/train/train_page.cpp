#include "app/train/train_page.hpp"

#include "widelimit/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace widelimit::app {

namespace {

/// One curve over the steps, or over time for a flow; nothing where there are no values.
void add_curve(std::vector<Series>& curves, const char* name, const std::vector<double>& x,
               const std::vector<double>& y) {
  if (!y.empty()) curves.push_back({.name = name, .x = x, .y = y});
}

/// Theorem 4.1 as pictures: both sides point by point, and the kernel that the path left.
void add_machine(Page& page, const NetAsMachine& net) {
  const PathMachine& machine = net.machine;
  const auto least_most = std::minmax_element(net.outputs.begin(), net.outputs.end());
  const std::vector<double> ends{*least_most.first, *least_most.second};
  page.section("As a kernel machine")
      .paragraph(fmt::format("f(x) = Σ aᵢK(x,xᵢ) + b(x) up to {:.3g}, where training moved f by {:.3g}; the difference "
                             "falls in proportion to the rate. {} of {} slopes of the loss changed their sign.",
                             net.difference->largest(), net.difference->moved, machine.sign_changes, machine.a.size()))
      .figures({{.figure = curves({{.name = "equal", .x = ends, .y = ends, .stroke = Stroke::line},
                                   {.name = "points", .x = net.outputs, .y = machine.values, .stroke = Stroke::rings}},
                                  {.title = "Network and machine", .x_label = "f(x)", .y_label = "Σ aᵢK(x,xᵢ) + b(x)"}),
                 .caption = "Every output on training and test samples."},
                {.figure = heat_map(machine.k.view(), {.title = "Kernel of the path",
                                                       .row_label = "training, then test samples",
                                                       .column_label = "training samples"}),
                 .caption = "Empirical kernels along the training, weighted by the slopes of the loss."}});
}

}  // namespace

void write_train_page(const std::filesystem::path& path, const std::string& title, const NetAsMachine& net,
                      const nlohmann::ordered_json& settings) {
  const TrainedNetwork& trained = net.trained;
  const TrainingRecord& record = trained.record;
  const TrainSummary& summary = trained.summary;
  const bool flow = settings.contains("flow");
  const std::vector<double> x = flow ? record.times : std::vector<double>(record.steps.begin(), record.steps.end());
  const char* x_label = flow ? "time" : "step";
  Page page(title, fmt::format("The training ended: {}. {}", text(summary.ending), summary.message));
  std::vector<std::pair<std::string, std::string>> numbers{
      {"weights", fmt::format("{}", summary.weights)},
      {"steps", fmt::format("{}", summary.steps)},
      {"loss", fmt::format("{:.4g}", record.loss.back())},
      {"distance to start", fmt::format("{:.4g}", record.distance.back())}};
  if (!record.accuracy.empty()) numbers.emplace_back("accuracy", fmt::format("{:.4f}", record.accuracy.back()));
  if (!record.test_accuracy.empty()) {
    numbers.emplace_back("test accuracy", fmt::format("{:.4f}", record.test_accuracy.back()));
  }
  page.highlights(numbers);

  std::vector<Series> losses;
  add_curve(losses, "training samples", x, record.loss);
  add_curve(losses, "objective", x, record.objective);
  add_curve(losses, "test samples", x, record.test_loss);
  const bool positive = std::all_of(losses.begin(), losses.end(), [](const Series& series) {
    return std::all_of(series.y.begin(), series.y.end(), [](double value) { return value > 0; });
  });
  std::vector<Illustration> figures{
      {.figure = curves(losses, {.title = "Loss",
                                 .x_label = x_label,
                                 .y_label = "sum of losses",
                                 .y_scale = positive ? AxisScale::log : AxisScale::linear}),
       .caption = "The objective is what training lowers: losses and regulariser."}};
  std::vector<Series> shares;
  add_curve(shares, "training samples", x, record.accuracy);
  add_curve(shares, "test samples", x, record.test_accuracy);
  if (!shares.empty()) {
    figures.push_back(
        {.figure = curves(shares, {.title = "Accuracy", .x_label = x_label, .y_label = "share told right"})});
  }
  page.section("Along the training").figures(figures);
  page.figure({.figure = curves({{.name = "all weights", .x = x, .y = record.distance}},
                                {.title = "Distance to initialisation", .x_label = x_label, .y_label = "‖w − w₀‖"})});
  if (net.difference) add_machine(page, net);
  page.settings(settings).write(path);
}

}  // namespace widelimit::app
