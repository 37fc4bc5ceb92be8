#include "app/flow/flow_outcome.hpp"

#include "widelimit/analysis/dynamics/machine_limit.hpp"
#include "widelimit/analysis/scores.hpp"
#include "widelimit/report/fit_summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::app {

namespace {

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

std::string flow_time_text(double time) { return std::isinf(time) ? "inf" : fmt::format("{:.6g}", time); }

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
    std::vector<Cell> row{flow_time_text(path.times[k]), path.objective[k], path.loss[k]};
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
                                  flow_time_text(*path.rate.at));
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
  auto& times = json[outcome.discrete ? "steps" : "times"] = nlohmann::ordered_json::array();
  for (const double time : path.times) {
    // JSON cannot represent infinity.
    times.push_back(std::isinf(time) ? nlohmann::ordered_json("inf") : nlohmann::ordered_json(time));
  }
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

}  // namespace widelimit::app
