#include "app/fit/machine_pages.hpp"
#include "app/fit/scores_text.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"
#include "app/train/train_options.hpp"

#include "widelimit/analysis/bounds/rademacher_bound.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/network_file.hpp"
#include "widelimit/finite/tangent/path_kernel.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/machine/probability/network_probabilities.hpp"
#include "widelimit/report/html.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <string>

namespace widelimit::app {

namespace {

/// Adds a curve over steps or, for a flow, over time, unless `y` is empty.
void add_curve(std::vector<Series>& curves, const char* name, const std::vector<double>& x,
               const std::vector<double>& y) {
  if (!y.empty()) curves.push_back({.name = name, .x = x, .y = y});
}

/// Adds figures on Theorem 4.1: both sides of the equation for each sample, and the path kernel.
void add_machine(Page& page, const NetAsMachine& net) {
  const PathMachine& machine = net.machine;
  const auto least_most = std::minmax_element(net.outputs.begin(), net.outputs.end());
  const std::vector<double> ends{*least_most.first, *least_most.second};
  page.section("As a kernel machine")
      .paragraph(
          fmt::format("f(x) = Σ aᵢK(x,xᵢ) + b(x) up to {:.3g}, while training changed f by {:.3g}; the difference "
                      "is proportional to the learning rate. {} of {} loss derivatives changed sign.",
                      net.difference->largest(), net.difference->moved, machine.sign_changes, machine.a.size()))
      .figures({{.figure = curves({{.name = "equal", .x = ends, .y = ends, .stroke = Stroke::line},
                                   {.name = "points", .x = net.outputs, .y = machine.values, .stroke = Stroke::rings}},
                                  {.title = "Network and machine", .x_label = "f(x)", .y_label = "Σ aᵢK(x,xᵢ) + b(x)"}),
                 .caption = "All outputs on training and test samples."},
                {.figure = heat_map(machine.k.view(), {.title = "Path kernel",
                                                       .row_label = "training, then test samples",
                                                       .column_label = "training samples"}),
                 .caption = "Empirical kernels along training, weighted by the loss derivatives."}});
}

/// Returns the scores of the network on training and test samples.
std::vector<NamedScore> network_scores(const TrainedNetwork& trained, LossKind loss, const TrainTest& data,
                                       const Engine& engine) {
  std::vector<NamedScore> scores;
  const auto add = [&](const char* name, const Dataset& part) {
    const Matrix<double> outputs = predict_outputs(trained, part.view(), engine);
    const bool classes = !data.train.labels.empty();
    const Scheme scheme = !classes ? Scheme::values : (outputs.cols() == 1 ? Scheme::sign : Scheme::one_hot);
    const Matrix<double> probabilities = classes ? network_probabilities(loss, outputs) : Matrix<double>();
    if (auto found = score(scheme, std::ssize(data.train.class_names), outputs, part, probabilities)) {
      scores.emplace_back(name, std::move(*found));
    }
  };
  add("train", data.train);
  if (data.test) add("test", *data.test);
  return scores;
}

/// Writes the page: ending, curves of loss, accuracy and distance, and the kernel machine if requested.
void write_train_page(const std::filesystem::path& path, const std::string& title, const NetAsMachine& net,
                      const std::vector<NamedScore>& scores, const std::vector<std::string>& classes,
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
      {"distance to initialisation", fmt::format("{:.4g}", record.distance.back())}};
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
       .caption = "The objective is the sum of losses and regulariser."}};
  std::vector<Series> shares;
  add_curve(shares, "training samples", x, record.accuracy);
  add_curve(shares, "test samples", x, record.test_accuracy);
  if (!shares.empty()) {
    figures.push_back({.figure = curves(shares, {.title = "Accuracy", .x_label = x_label, .y_label = "accuracy"})});
  }
  page.section("Training").figures(figures);
  page.figure({.figure = curves({{.name = "all weights", .x = x, .y = record.distance}},
                                {.title = "Distance to initialisation", .x_label = x_label, .y_label = "‖w − w₀‖"})});
  if (net.difference) add_machine(page, net);
  add_scores(page, scores, classes);
  page.settings(settings).write(path);
}

/// Returns what is kept of an interrupted training.
std::string kept_text(const TrainChoice& choice, Index checkpointed) {
  if (checkpointed > 0) {
    return fmt::format("; {} holds the state after {} steps; --from {} continues from there", *choice.checkpoint,
                       checkpointed, *choice.checkpoint);
  }
  return "; the weights are not kept" + (choice.out ? fmt::format(", and {} is not written", *choice.out) : "");
}

/// Trains the network, with the kernel machine if requested. An interrupted training keeps only its checkpoints; the
/// message names them.
NetAsMachine train_on(const TrainTest& data, const Network& network, TrainOptions options, const TrainChoice& choice,
                      const NetworkNotes& notes, const Engine& engine) {
  Index checkpointed = 0;
  if (choice.checkpoint) {
    options.checkpoint = [&](const TrainedNetwork& trained) {
      save_network(*choice.checkpoint, trained, notes);
      checkpointed = trained.summary.steps;
    };
  }
  const std::optional<SavedNetwork> from = choice.from ? std::optional(load_network(*choice.from)) : std::nullopt;
  if (from && !from->trained.state && choice.checkpoint && same_file(*choice.from, *choice.checkpoint)) {
    fail(Code::usage,
         "--checkpoint '{}' is the file that --from reads, a finished network, which would be overwritten; choose "
         "another path",
         *choice.checkpoint);
  }
  if (from) options.from = &from->trained;
  const NetworkTargets targets = network_targets(data, options.loss);
  try {
    if (choice.as_kernel_machine) return train_as_kernel_machine(network, targets.with(data), options, engine);
    NetAsMachine net;
    net.trained = widelimit::train(network, targets.with(data), options, engine);
    return net;
  } catch (const Error& error) {
    if (error.code() != Code::interrupted) throw;
    fail(Code::interrupted, "{}{}", error.what(), kept_text(choice, checkpointed));
  }
}

nlohmann::ordered_json training_json(const TrainedNetwork& trained) {
  const TrainSummary& summary = trained.summary;
  const TrainingRecord& record = trained.record;
  nlohmann::ordered_json json{{"ending", text(summary.ending)}};
  if (!summary.message.empty()) json["message"] = summary.message;
  json["weights"] = summary.weights;
  json["rate"] = summary.rate;
  json["steps"] = summary.steps;
  json["time"] = summary.time;
  if (record.count() == 0) return json;
  json["loss"] = record.loss.back();
  json["objective"] = record.objective.back();
  json["distance"] = record.distance.back();
  if (!record.accuracy.empty()) json["accuracy"] = record.accuracy.back();
  if (!record.test_loss.empty()) json["test_loss"] = record.test_loss.back();
  if (!record.test_accuracy.empty()) json["test_accuracy"] = record.test_accuracy.back();
  nlohmann::ordered_json curve{{"steps", record.steps},
                               {"times", record.times},
                               {"loss", record.loss},
                               {"objective", record.objective},
                               {"distance", record.distance}};
  if (!record.accuracy.empty()) curve["accuracy"] = record.accuracy;
  if (!record.test_loss.empty()) curve["test_loss"] = record.test_loss;
  if (!record.test_accuracy.empty()) curve["test_accuracy"] = record.test_accuracy;
  json["record"] = std::move(curve);
  return json;
}

/// EQ's bound of the network, or the reason why there is none.
struct NetBound {
  std::optional<RademacherBound> bound;
  std::string reason;
};

NetBound bound_of(const NetAsMachine& net, const Dataset& data) {
  if (data.labels.empty()) return {.bound = {}, .reason = "it requires class labels"};
  try {
    return {.bound = path_bound(net, data.labels, std::ssize(data.class_names)), .reason = {}};
  } catch (const Error& error) {
    return {.bound = {}, .reason = error.what()};
  }
}

void add_path_bound(const NetBound& found, nlohmann::ordered_json& json, std::string& output) {
  if (!found.bound) {
    json["bound"] = {{"reason", found.reason}};
    output += fmt::format("no bound: {}\n", found.reason);
    return;
  }
  const BoundTerms& terms = found.bound->textbook;
  json["bound"] = {{"value", terms.value()},
                   {"empirical", terms.empirical},
                   {"complexity", terms.complexity},
                   {"confidence", terms.confidence},
                   {"norm", found.bound->size.norm},
                   {"trace", found.bound->size.trace},
                   {"delta", found.bound->setting.delta},
                   {"vacuous", found.bound->vacuous(terms)},
                   {"note", found.bound->note}};
  output += fmt::format("EQ's bound on the error rate (no guarantee): {:.4f}{}\n", terms.value(),
                        found.bound->vacuous(terms) ? " (vacuous)" : "");
}

nlohmann::ordered_json machine_json(const NetAsMachine& net) {
  const PathDifference& difference = *net.difference;
  nlohmann::ordered_json json{{"difference", difference.largest()}, {"train", difference.train}};
  if (difference.test) json["test"] = *difference.test;
  json["absolute"] = difference.absolute;
  json["moved"] = difference.moved;
  json["sign_changes"] = net.machine.sign_changes;
  return json;
}

std::string machine_text(const NetAsMachine& net) {
  std::string output = fmt::format("as a kernel machine: max |f - (sum a K + b)| = {:.3g}, while f changed by {:.3g}\n",
                                   net.difference->largest(), net.difference->moved);
  if (net.machine.sign_changes > 0) {
    output += fmt::format("{} of {} loss derivatives changed sign; difference with |l'| as in the theorem {:.3g}\n",
                          net.machine.sign_changes, net.machine.a.size(), net.difference->absolute);
  }
  return output;
}

/// Returns up to eleven evenly spaced rows of the record.
Table training_table(const TrainingRecord& record) {
  constexpr Index most_rows = 11;
  Table table{.columns = {"step", "loss", "distance"}};
  const bool with_accuracy = !record.accuracy.empty();
  const bool with_test = !record.test_accuracy.empty();
  if (with_accuracy) table.columns.emplace_back("accuracy");
  if (with_test) table.columns.emplace_back("test accuracy");
  const Index rows = std::min(most_rows, record.count());
  for (Index r = 0; r < rows; ++r) {
    const auto at = static_cast<std::size_t>(rows == 1 ? 0 : r * (record.count() - 1) / (rows - 1));
    std::vector<Cell> row{static_cast<std::int64_t>(record.steps[at]), record.loss[at], record.distance[at]};
    if (with_accuracy) row.emplace_back(record.accuracy[at]);
    if (with_test) row.emplace_back(record.test_accuracy[at]);
    table.rows.push_back(std::move(row));
  }
  return table;
}

/// Returns whether the network can be written: it is not after divergence or dead units.
bool is_usable(const TrainSummary& summary) {
  return summary.ending != TrainEnding::diverged && summary.ending != TrainEnding::dead;
}

void check_training(const TrainSummary& summary, const std::optional<std::string>& out) {
  if (summary.finished()) return;
  fail(Code::numerical, "{}: {}{}", text(summary.ending), summary.message,
       out && !is_usable(summary) ? fmt::format("; {} is not written", *out) : "");
}

std::string learning_rate_text(const TrainSummary& summary, const TrainOptions& options) {
  if (options.rate) return "";
  return fmt::format("learning rate {:.4g}, from the {}\n", summary.rate,
                     options.optimiser.adaptive() ? "size of the layers" : "tangent kernel at initialisation");
}

/// Returns what is needed to read new samples like the training samples.
NetworkNotes network_notes(const TrainChoice& choice, const TrainTest& data, const nlohmann::ordered_json& settings) {
  NetworkNotes notes;
  notes.scaling = data.scaling;
  notes.origin = data.origin;
  notes.channels_first = choice.data.request.layout.channels_first;
  if (!data.train.labels.empty()) notes.classes = data.train.class_names;
  notes.record = settings.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return notes;
}

void run_training(const TrainChoice& choice) {
  TrainOptions options = choice.options();
  options.record_outputs = false;
  const Network network = Network::parse(choice.network);
  const DataRequest loading = choice.data.parsed();
  const auto engine = choice.common.make_engine();
  choice.common.check_report(true);
  for (const std::optional<std::string>& file : {choice.out, choice.checkpoint}) {
    if (file) check_model_path(*file);
  }
  const TrainTest data = load_request(choice.common, loading);
  warn_layout(choice.common, network, data.train.shape);
  ProgressBar bar(choice.common);
  options.progress = &bar;
  Record record("train");
  record.settings = train_settings(choice, network, choice.data.parsed());
  const NetAsMachine net =
      train_on(data, network, options, choice, network_notes(choice, data, record.settings), *engine);
  const TrainedNetwork& trained = net.trained;
  record.settings["rate"] = trained.summary.rate;
  record.notes = data.notes;
  record.seed = choice.common.seed;
  record.ran_on(*engine, options.precision);
  record.timings.emplace_back("train", trained.summary.seconds);
  record.results = training_json(trained);
  std::string output = table_text(training_table(trained.record));
  output += fmt::format("{} weights, {} steps in {}\n", trained.summary.weights, trained.summary.steps,
                        duration_text(trained.summary.seconds));
  output += learning_rate_text(trained.summary, options);
  // A network that diverged or died is not written; its scores would describe no result.
  const std::vector<NamedScore> scores = is_usable(trained.summary)
                                             ? network_scores(trained, options.loss.kind, data, *engine)
                                             : std::vector<NamedScore>();
  for (const NamedScore& part : scores) record.results[part.first] = part_json(part, data.train.class_names);
  output += scores_text(scores, data.train.class_names);
  if (net.difference) {
    record.results["kernel_machine"] = machine_json(net);
    output += machine_text(net);
    add_path_bound(bound_of(net, data.train), record.results["kernel_machine"], output);
  }
  if (choice.common.report && trained.record.count() > 0) {
    write_train_page(*choice.common.report,
                     fmt::format("A network of width {} on {}", fmt::join(choice.widths, ", "), data.train.name), net,
                     scores, data.train.class_names, record.page_settings());
    add_report(record, output, *choice.common.report);
  }
  if (choice.checkpoint) output += fmt::format("checkpoint in {}\n", *choice.checkpoint);
  if (choice.out && is_usable(trained.summary)) {
    save_network(*choice.out, trained, network_notes(choice, data, record.settings));
    add_file(record, output, *choice.out);
  }
  print_result(choice.common, record, output);
  check_training(trained.summary, choice.out);
}

}  // namespace

void add_train(Program& program) {
  auto* verb = program.cli.add_subcommand("train", "Train a network of finite width by gradient descent");
  const auto choice = std::make_shared<TrainChoice>();
  add_train_options(*verb, *choice);
  set_example(*verb,
              "widelimit train --network fc:2 --train digits --classes 3,8 --scale unit --split 0.8 --width 512 "
              "--loss hinge --regulariser init --lambda 0.01 --rate 0.05 --steps 200");
  verb->callback([choice, &program] { program.action = [choice] { run_training(*choice); }; });
}

}  // namespace widelimit::app
