#include "app/flow/flow_outcome.hpp"
#include "app/kernel/kernel_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/report/csv.hpp"

#include <cmath>

namespace widelimit::app {

namespace {

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

NamedArray list_array(const std::string& name, const std::vector<double>& values) {
  const Index count = std::ssize(values);
  return {name, MatrixView<const double>{values.data(), 1, count, count}, {count}};
}

NamedArray count_array(const std::string& name, const std::vector<std::int64_t>& values) {
  const Index count = std::ssize(values);
  return {name, MatrixView<const std::int64_t>{values.data(), 1, count, count}, {count}};
}

}  // namespace

void check_trajectory_path(const std::filesystem::path& path) {
  if (path.extension() != ".csv" && path.extension() != ".npz" && !is_hdf5(path)) {
    fail(Code::usage, "--out {}: the extension must be .csv, .npz or .h5", path.string());
  }
  check_writable(path, 0);
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
      {"alpha", found.alpha.view(), {}}, count_array("samples", samples),
  };
  if (found.test.cols() > 0) {
    arrays.push_back({"test", found.test.view(), {count, found.test.cols() / found.outputs, found.outputs}});
  }
  if (!event_time.empty()) {
    arrays.push_back(list_array("event_time", event_time));
    arrays.push_back(count_array("event_sample", event_sample));
    arrays.push_back(count_array("event_output", event_output));
  }
  write_arrays(path, arrays, settings);
}

}  // namespace widelimit::app
