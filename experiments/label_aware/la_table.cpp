#include "experiments/label_aware/la_table.hpp"

#include "widelimit/base/error.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;
/// Accuracy in percent on each task, std::nullopt without solution.
using TaskLine = std::vector<std::optional<double>>;
/// The baseline row.
constexpr const char* tangent_kernel = "CNTK";

std::optional<double> percent(const LaRow& row) {
  return row.predictions.solved() ? std::optional(100 * row.predictions.score.accuracy()) : std::nullopt;
}

/// Returns the best accuracy of the published label-aware kernels on each task.
TaskLine best_line(const std::vector<LaTask>& tasks) {
  TaskLine line;
  for (const LaTask& task : tasks) {
    std::optional<double> best;
    for (const LaRow& row : task.rows) {
      if (!row.method->published || !row.method->method) continue;
      if (const auto p = percent(row); p && (!best || *p > *best)) best = p;
    }
    line.push_back(best);
  }
  return line;
}

TaskLine line_of(const std::vector<LaTask>& tasks, std::string_view method) {
  TaskLine line;
  for (const LaTask& task : tasks) {
    const auto row = std::ranges::find_if(task.rows, [&](const LaRow& one) { return one.method->name == method; });
    line.push_back(row == task.rows.end() ? std::nullopt : percent(*row));
  }
  return line;
}

TaskLine cnn_line(const std::vector<LaTask>& tasks) {
  TaskLine line;
  for (const LaTask& task : tasks) {
    line.push_back(task.cnn && task.cnn->accuracy ? std::optional(100 * *task.cnn->accuracy) : std::nullopt);
  }
  return line;
}

TaskLine published_line(const std::vector<LaTask>& tasks, const PublishedTable& published, const std::string& name) {
  TaskLine line;
  for (const LaTask& task : tasks) line.push_back(published.at(name, task.name));
  return line;
}

bool any(const TaskLine& line) {
  return std::any_of(line.begin(), line.end(), [](const auto& value) { return value.has_value(); });
}

/// Returns the mean, or std::nullopt if a value is missing.
std::optional<double> mean(const TaskLine& line) {
  double sum = 0;
  for (const auto& value : line) {
    if (!value) return std::nullopt;
    sum += *value;
  }
  return sum / static_cast<double>(line.size());
}

/// Returns the gain over CNTK in points, and relative to its error: "1.04 / 7.4 %".
std::string gain(const TaskLine& line, const TaskLine& cntk) {
  const auto ours = mean(line);
  const auto base = mean(cntk);
  if (!ours || !base || *base == 100) return "–";
  return fmt::format("{:+.2f} / {:+.1f} %", *ours - *base, 100 * (*ours - *base) / (100 - *base));
}

std::string cell(const std::optional<double>& value) { return value ? fmt::format("{:.2f}", *value) : "–"; }

/// A row of a table: name, our values, and the published values if any.
struct NamedLine {
  std::string name;
  TaskLine ours;
  TaskLine theirs;
};
std::vector<NamedLine> all_lines(const std::vector<LaTask>& tasks, const PublishedTable& published) {
  std::vector<NamedLine> lines;
  const auto add = [&](const std::string& name, TaskLine ours) {
    lines.push_back({name, std::move(ours), published_line(tasks, published, name)});
  };
  for (const LaRow& row : tasks.front().rows) {
    add(row.method->name, line_of(tasks, row.method->name));
    if (const TaskLine best = best_line(tasks); row.method->name == tangent_kernel && any(best)) add("best", best);
  }
  if (std::any_of(tasks.begin(), tasks.end(), [](const LaTask& task) { return task.cnn.has_value(); })) {
    add("CNN", cnn_line(tasks));
  }
  return lines;
}

}  // namespace

std::vector<Option> la_options(std::vector<Option> own, const PublishedCnn& published) {
  own.push_back({"ratio", "R", "Mean size of the label-aware part, relative to that of the kernel", "0.0005", ""});
  own.push_back(methods_option());
  own.push_back({"channels", "C1,…,C7", "Channels of the CNN", "8,16,16,32,32,64,64", published.channels});
  own.push_back({"epochs", "N", "Epochs of the CNN; 0: no CNN", "10", published.epochs});
  own.push_back(grams_option());
  return own;
}

LaOptions requested_la_options(const Setting& setting, LossKind loss) {
  LaOptions options{.methods = requested_methods(setting),
                    .ratio = setting.positive("ratio"),
                    .cnn = requested_cnn_options(setting, loss)};
  if (options.methods.empty() && options.cnn.epochs == 0) {
    fail(Code::usage, "--methods none --epochs 0: nothing to compute; give kernels or epochs");
  }
  return options;
}

LaTask la_task(const Setting& setting, const std::string& name, const LaImages& images, const TaskKernel& kernel,
               const LaOptions& options) {
  LaTask task{.name = name};
  if (!options.methods.empty()) {
    const Index train = images.train.count();
    task.rows = la_rows(setting, images, options.methods, corner(kernel.k, train, train),
                        corner(kernel.k_test, images.test.count(), train), options.ratio);
  }
  if (options.cnn.epochs > 0) task.cnn = train_cnn(setting, images, options.cnn);
  return task;
}

Table la_table(const std::vector<LaTask>& tasks, const PublishedTable& published) {
  Table table{.columns = {"kernel"}};
  for (const LaTask& task : tasks) table.columns.push_back(task.name);
  table.columns.insert(table.columns.end(), {"mean", "on CNTK"});
  const TaskLine our_base = line_of(tasks, tangent_kernel);
  const TaskLine their_base = published_line(tasks, published, tangent_kernel);
  const auto add = [&](const std::string& name, const TaskLine& line, const TaskLine& cntk) {
    std::vector<Cell> row{name};
    for (const auto& value : line) row.emplace_back(cell(value));
    row.emplace_back(cell(mean(line)));
    row.emplace_back(gain(line, cntk));
    table.rows.push_back(std::move(row));
  };
  for (const NamedLine& one : all_lines(tasks, published)) {
    add(one.name, one.ours, our_base);
    if (any(one.theirs)) add(one.name + ", published", one.theirs, their_base);
  }
  return table;
}

Illustration la_bars(const std::vector<LaTask>& tasks, const PublishedTable& published) {
  std::vector<std::string> names;
  BarSeries ours{.name = "ours"};
  BarSeries theirs{.name = "published"};
  for (const NamedLine& line : all_lines(tasks, published)) {
    const auto own = mean(line.ours);
    const auto their = mean(line.theirs);
    if (!own || !their) continue;
    names.push_back(line.name);
    ours.values.push_back(*own);
    theirs.values.push_back(*their);
  }
  Illustration shown;
  shown.figure =
      bars(names, {ours, theirs}, {.title = "Mean accuracy over tasks", .value_label = "test accuracy, percent"});
  shown.caption = "Rows with our and published values on all tasks.";
  return shown;
}

Json la_json(const std::vector<LaTask>& tasks, const PublishedTable& published) {
  Json json = Json::array();
  for (const LaTask& task : tasks) {
    Json entry{{"task", task.name}, {"kernel_seconds", task.seconds}, {"rows", Json::array()}};
    const auto add = [&](Json row) {
      if (const auto theirs = published.at(row["kernel"], task.name)) row["published"] = *theirs / 100;
      entry["rows"].push_back(std::move(row));
    };
    for (const LaRow& row : task.rows) add(row_json(row));
    if (task.cnn) add(cnn_json(*task.cnn));
    json.push_back(std::move(entry));
  }
  return json;
}

std::string la_remarks(const CnnOptions& cnn, const PublishedCnn& published) {
  std::string words =
      "linear1 and linear2 are the exact regressions sketched by FJLT-V1 and FJLT-V2; +bias: with an unregularised "
      "bias.";
  if (cnn.epochs > 0) {
    words += fmt::format(
        " CNN: channels {}, {} of Adam (rate 3·10⁻⁴, batches of 128) on the {}, PyTorch initialisation; "
        "published: {}, {} epochs.",
        fmt::join(cnn.channels, ","), counted(cnn.epochs, "epoch"), published.loss, published.channels,
        published.epochs);
  }
  return words;
}

std::string la_sentence(const std::vector<LaTask>& tasks) {
  std::string words = fmt::format("Mean accuracy over {} task{}:", tasks.size(), tasks.size() == 1 ? "" : "s");
  const auto add = [&](const char* name, const TaskLine& line) {
    if (const auto value = mean(line)) words += fmt::format(" {} {:.2f} %,", name, *value);
  };
  add(tangent_kernel, line_of(tasks, tangent_kernel));
  add("the best label-aware kernel of each task", best_line(tasks));
  add("CNN", cnn_line(tasks));
  words.back() = '.';
  return words;
}

Outcome la_outcome(const Setting& setting, const std::vector<LaTask>& tasks, const PublishedTable& published,
                   const std::string& heading, const std::string& words) {
  Outcome outcome;
  Part part{.heading = heading, .table = la_table(tasks, published), .words = words};
  if (setting.figures) part.pictures.push_back(la_bars(tasks, published));
  outcome.parts.push_back(std::move(part));
  outcome.results["tasks"] = la_json(tasks, published);
  for (const LaTask& task : tasks) {
    outcome.timings.emplace_back("kernel " + task.name, task.seconds);
    if (task.cnn) outcome.timings.emplace_back("CNN " + task.name, task.cnn->summary.seconds);
    if (outcome.trouble.empty()) outcome.trouble = trouble_of(task.rows, task.name);
    if (outcome.trouble.empty() && task.cnn && !task.cnn->accuracy) outcome.trouble = task.cnn->summary.message;
  }
  outcome.sentence = la_sentence(tasks);
  return outcome;
}

}  // namespace widelimit::experiment
