#include "app/flow/flow_outcome.hpp"

#include "app/flow/times.hpp"
#include "app/kernel/kernel_file.hpp"

#include "widelimit/analysis/dynamics/flow/flow_solver.hpp"
#include "widelimit/analysis/dynamics/machine_limit.hpp"
#include "widelimit/analysis/scores.hpp"
#include "widelimit/report/csv.hpp"
#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/html.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::app {

namespace {

/// Largest number of lines in a figure.
constexpr Index most_lines = 10;

/// Returns the score of each row of outputs on all samples of `data`; empty if the score is undefined.
std::vector<double> scores_of(const FlowOutcome& outcome, const Matrix<double>& outputs, const Dataset& data,
                              Index classes) {
  std::vector<double> scores;
  const Index width = outcome.trajectory.outputs;
  if (outputs.cols() != data.count() * width) return scores;
  const Scheme scheme = classes > 0 ? loss_scheme(outcome.loss.kind, classes) : Scheme::values;
  for (Index row = 0; row < outputs.rows(); ++row) {
    Matrix<double> now(data.count(), width, Content::unset);
    std::copy_n(outputs.view().row(row), outputs.cols(), now.data());
    const auto found = score(scheme, classes, now, data);
    if (!found) return {};
    const auto* values = std::get_if<ValueScores>(&*found);
    scores.push_back(values != nullptr ? values->squared_error : std::get<ClassScores>(*found).accuracy());
  }
  return scores;
}

void add_columns(Table& table, const std::string& part, std::span<const Index> numbers, Index outputs) {
  for (const Index i : numbers) {
    for (Index j = 0; j < outputs; ++j) {
      table.columns.push_back(outputs == 1 ? fmt::format("{}_{}", part, i) : fmt::format("{}_{}_{}", part, i, j));
    }
  }
}

Table trajectory_table(const FlowOutcome& outcome) {
  const Trajectory& path = outcome.trajectory;
  Table table{.columns = {outcome.time_name(), "objective", "loss"}};
  add_columns(table, "train", path.samples, path.outputs);
  std::vector<Index> tests;
  for (Index i = 0; i < path.test.cols() / path.outputs; ++i) tests.push_back(i);
  add_columns(table, "test", tests, path.outputs);
  for (Index row = 0; row < std::ssize(path.times); ++row) {
    const auto k = static_cast<std::size_t>(row);
    std::vector<Cell> cells;
    cells.reserve(table.columns.size());
    cells.push_back(std::isinf(path.times[k]) ? Cell(std::string("inf")) : Cell(path.times[k]));
    cells.emplace_back(path.objective[k]);
    cells.emplace_back(path.loss[k]);
    for (Index c = 0; c < path.train.cols(); ++c) cells.emplace_back(path.train(row, c));
    for (Index c = 0; c < path.test.cols(); ++c) cells.emplace_back(path.test(row, c));
    table.rows.push_back(std::move(cells));
  }
  return table;
}

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

void evaluate_outputs(FlowOutcome& outcome, const TrainTest& data) {
  const Index classes = std::ssize(data.train.class_names);
  outcome.classes = !data.train.labels.empty();
  const Index known = outcome.classes ? classes : 0;
  outcome.train_score = scores_of(outcome, outcome.trajectory.train, data.train, known);
  if (data.test) outcome.test_score = scores_of(outcome, outcome.trajectory.test, *data.test, known);
}

Table flow_table(const FlowOutcome& outcome, std::size_t rows) {
  const Trajectory& path = outcome.trajectory;
  Table table{.columns = {outcome.time_name(), "objective", "sum of losses"}};
  if (!outcome.train_score.empty()) table.columns.push_back(fmt::format("train {}", outcome.score_name()));
  if (!outcome.test_score.empty()) table.columns.push_back(fmt::format("test {}", outcome.score_name()));
  const std::size_t count = path.times.size();
  const std::size_t shown = std::min(rows, count);
  for (std::size_t r = 0; r < shown; ++r) {
    const std::size_t k = shown == 1 ? count - 1 : r * (count - 1) / (shown - 1);
    std::vector<Cell> row{time_text(path.times[k]), path.objective[k], path.loss[k]};
    if (!outcome.train_score.empty()) row.emplace_back(outcome.train_score[k]);
    if (!outcome.test_score.empty()) row.emplace_back(outcome.test_score[k]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

std::vector<std::string> summary_lines(const FlowOutcome& outcome) {
  const Trajectory& path = outcome.trajectory;
  std::vector<std::string> lines{path.summary.method};
  if (path.event_count > 0) {
    const auto slides = std::count_if(path.events.begin(), path.events.end(),
                                      [](const FlowEvent& event) { return event.meeting == KinkBehaviour::slides; });
    lines.push_back(fmt::format("outputs reached a kink of the loss {} times, and began to slide along it {} times",
                                path.event_count, slides));
  }
  if (path.rate.holds) {
    lines.push_back(fmt::format("L(t) - L* within the bound ({}): {}", outcome.discrete ? "descent" : "Theorem 3.1",
                                *path.rate.holds ? "yes" : "NO"));
    if (path.rate.largest_ratio) {
      lines.back() += fmt::format(", largest ratio {:.4g}, at {} {}", *path.rate.largest_ratio, outcome.time_name(),
                                  time_text(*path.rate.at));
    }
  } else if (!path.rate.note.empty()) {
    lines.push_back(fmt::format("convergence rate not checked: {}", path.rate.note));
  }
  if (path.recursion_error) {
    lines.push_back(fmt::format("recursion of Theorem 3.2: relative error {:.2g}", *path.recursion_error));
  }
  if (path.step) lines.push_back(fmt::format("step {:.4g}", *path.step));
  if (path.stable_step) lines.push_back(fmt::format("largest stable step {:.4g}", *path.stable_step));
  return lines;
}

nlohmann::ordered_json outcome_json(const FlowOutcome& outcome) {
  const Trajectory& path = outcome.trajectory;
  nlohmann::ordered_json json;
  json[outcome.discrete ? "steps" : "times"] = times_json(path.times);
  json["objective"] = path.objective;
  json["loss"] = path.loss;
  const std::string score = outcome.classes ? "accuracy" : "squared_error";
  if (!outcome.train_score.empty()) json["train_" + score] = outcome.train_score;
  if (!outcome.test_score.empty()) json["test_" + score] = outcome.test_score;
  json["events"] = path.event_count;
  nlohmann::ordered_json rate = nlohmann::ordered_json::object();
  if (path.rate.holds) rate["holds"] = *path.rate.holds;
  if (path.rate.optimum) rate["optimum"] = *path.rate.optimum;
  if (path.rate.largest_ratio) {
    rate["largest_ratio"] = *path.rate.largest_ratio;
    rate["at"] = *path.rate.at;
  }
  if (!path.rate.note.empty()) rate["note"] = path.rate.note;
  json["rate"] = rate;
  if (path.recursion_error) json["recursion_error"] = *path.recursion_error;
  if (path.step) json["step"] = *path.step;
  if (path.stable_step) json["stable_step"] = *path.stable_step;
  json["summary"] = summary_json(path.summary);
  return json;
}

void write_trajectory(const std::filesystem::path& path, const FlowOutcome& outcome,
                      const nlohmann::ordered_json& settings) {
  if (path.extension() == ".csv") {
    write_csv(trajectory_table(outcome), path);
    return;
  }
  const Trajectory& found = outcome.trajectory;
  const Index count = std::ssize(found.times);
  const std::vector<std::int64_t> samples(found.samples.begin(), found.samples.end());
  std::vector<double> event_time;
  std::vector<std::int64_t> event_sample;
  std::vector<std::int64_t> event_output;
  for (const FlowEvent& event : found.events) {
    event_time.push_back(event.time);
    event_sample.push_back(event.sample);
    event_output.push_back(event.output);
  }
  std::vector<NamedArray> arrays{
      list_array("times", found.times),  list_array("objective", found.objective),
      list_array("loss", found.loss),    {"train", found.train.view(), {count, std::ssize(samples), found.outputs}},
      {"alpha", found.alpha.view(), {}}, list_array("samples", samples),
  };
  if (found.test.cols() > 0) {
    arrays.push_back({"test", found.test.view(), {count, found.test.cols() / found.outputs, found.outputs}});
  }
  if (!event_time.empty()) {
    arrays.push_back(list_array("event_time", event_time));
    arrays.push_back(list_array("event_sample", event_sample));
    arrays.push_back(list_array("event_output", event_output));
  }
  write_arrays(path, arrays, settings);
}

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
