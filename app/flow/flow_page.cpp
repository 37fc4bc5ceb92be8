#include "app/flow/flow_outcome.hpp"

#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::app {

namespace {

/// Largest number of lines in a figure.
constexpr Index most_lines = 10;

/// Returns (time, value) for all finite times.
Series finite_series(const std::string& name, const std::vector<double>& times, const std::vector<double>& values) {
  Series line{.name = name};
  for (std::size_t k = 0; k < times.size(); ++k) {
    if (std::isinf(times[k])) continue;
    line.x.push_back(times[k]);
    line.y.push_back(values[k]);
  }
  return line;
}

Illustration output_lines(const FlowOutcome& outcome, const Matrix<double>& outputs, const std::string& part,
                          const std::vector<Index>& numbers) {
  const Index shown = std::min(outputs.cols(), most_lines);
  const Index width = outcome.trajectory.outputs;
  std::vector<Series> lines;
  for (Index line = 0; line < shown; ++line) {
    const Index column = shown == 1 ? 0 : line * (outputs.cols() - 1) / (shown - 1);
    std::vector<double> values;
    for (Index row = 0; row < outputs.rows(); ++row) values.push_back(outputs(row, column));
    const Index number = numbers.empty() ? column / width : numbers[static_cast<std::size_t>(column / width)];
    const std::string name =
        width == 1 ? fmt::format("sample {}", number) : fmt::format("sample {}, output {}", number, column % width);
    lines.push_back(finite_series(name, outcome.trajectory.times, values));
  }
  return {
      .figure = curves(
          lines, {.title = fmt::format("Outputs of {} samples", part), .x_label = outcome.time_name(), .y_label = "g"}),
      .caption = shown < outputs.cols() ? fmt::format("{} of {} outputs.", shown, outputs.cols()) : ""};
}

Illustration objective_lines(const FlowOutcome& outcome) {
  const Trajectory& path = outcome.trajectory;
  return {.figure = curves({finite_series("objective", path.times, path.objective),
                            finite_series("sum of losses", path.times, path.loss)},
                           {.title = "Objective and loss", .x_label = outcome.time_name(), .y_label = "value"})};
}

Illustration score_lines(const FlowOutcome& outcome) {
  std::vector<Series> lines;
  const std::vector<double>& times = outcome.trajectory.times;
  if (!outcome.train_score.empty()) lines.push_back(finite_series("train", times, outcome.train_score));
  if (!outcome.test_score.empty()) lines.push_back(finite_series("test", times, outcome.test_score));
  return {.figure = curves(lines, {.title = outcome.classes ? "Accuracy" : "Mean squared error",
                                   .x_label = outcome.time_name(),
                                   .y_label = outcome.score_name()})};
}

/// Returns whether the objective starts above its minimum, as required for a logarithmic axis.
bool has_rate_lines(const FlowOutcome& outcome) {
  const Trajectory& path = outcome.trajectory;
  return !outcome.discrete && path.rate.optimum && !std::isinf(path.times.front()) &&
         path.objective.front() > *path.rate.optimum;
}

/// Plots L(β_t) − L(β*) and the bound e^{−2λt} times its first value on a logarithmic axis.
Illustration rate_lines(const FlowOutcome& outcome) {
  const Trajectory& path = outcome.trajectory;
  const double optimum = *path.rate.optimum;
  std::vector<double> left;
  std::vector<double> right;
  // The bound starts at the first recorded time, which need not be 0.
  const double first = path.objective.front() - optimum;
  for (std::size_t k = 0; k < path.times.size(); ++k) {
    left.push_back(path.objective[k] - optimum);
    right.push_back(first * decay(2 * outcome.lambda, path.times[k] - path.times.front()));
  }
  return {.figure = curves(
              {finite_series("L(t) - L*", path.times, left), finite_series("bound exp(-2λt)", path.times, right)},
              {.title = "Convergence rate of Theorem 3.1",
               .x_label = outcome.time_name(),
               .y_label = "L - L*",
               .y_scale = AxisScale::log}),
          .caption = "The excess of the objective over its minimum stays below the bound."};
}

}  // namespace

void write_flow_page(const std::filesystem::path& path, const std::string& title, const FlowOutcome& outcome,
                     const nlohmann::ordered_json& settings) {
  const Trajectory& found = outcome.trajectory;
  Page page(title,
            fmt::format("Training dynamics of a kernel machine, {}. {}", found.summary.method, found.summary.message));
  std::vector<Illustration> outputs;
  if (found.train.cols() > 0) outputs.push_back(output_lines(outcome, found.train, "training", found.samples));
  if (found.test.cols() > 0) outputs.push_back(output_lines(outcome, found.test, "test", {}));
  page.section("Outputs").figures(outputs);
  std::vector<Illustration> progress{objective_lines(outcome)};
  if (!outcome.train_score.empty() || !outcome.test_score.empty()) progress.push_back(score_lines(outcome));
  page.section("Objective").figures(progress);
  page.section("Theory");
  if (has_rate_lines(outcome)) page.figure(rate_lines(outcome));
  for (const std::string& line : summary_lines(outcome)) page.paragraph(line);
  page.section("Recorded times").table(flow_table(outcome, 21)).settings(settings).write(path);
}

}  // namespace widelimit::app
