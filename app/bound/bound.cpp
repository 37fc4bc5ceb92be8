#include "app/bound/model_fit.hpp"
#include "app/fit/fit_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/analysis/bounds/rademacher_bound.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/dataset.hpp"
#include "widelimit/data/labels/label_noise.hpp"
#include "widelimit/data/labels/labels.hpp"
#include "widelimit/data/preparation/missing.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/model_file.hpp"
#include "widelimit/report/bound_report.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

namespace {

/// Values of the options of `bound`.
struct BoundChoice {
  FitOptions fit;  ///< kernel, data and machine
  std::optional<std::string> model;
  double delta = RademacherOptions{}.delta;
  std::optional<std::string> loss;
  std::optional<double> clip;
  std::vector<Index> sizes;
  std::optional<std::uint64_t> random_labels;  ///< seed of the random labels
  std::optional<double> flip;

  /// Throws Error{usage} if options contradict each other, Error{input} if a number is out of range.
  void validate() const;
  [[nodiscard]] RademacherOptions bound_options() const;
  [[nodiscard]] nlohmann::ordered_json settings(const KernelRequest& request, const DataRequest& data) const;
};

constexpr const char* bound_group = "Bound";

void BoundChoice::validate() const {
  if (!(delta > 0 && delta < 1)) {
    fail(Code::usage, "--delta {}: choose a number between 0 and 1, such as 0.05", delta);
  }
  bound_options().validate();
  if (flip && !(*flip >= 0 && *flip < 0.5)) {
    fail(Code::usage, "--flip {}: it must be at least 0 and below 0.5, at which labels carry no information", *flip);
  }
  for (const Index size : sizes) {
    if (size < 1) fail(Code::usage, "--sizes {}: a bound needs at least one sample", size);
  }
  if (!model) {
    (void)fit.machine_options();
    return;
  }
  if (fit.kernel.network || fit.kernel.classical || fit.kernel.gram) {
    fail(Code::usage, "--model defines the kernel; leave --network, --classical and --gram out");
  }
  if (!sizes.empty() || random_labels || flip) {
    fail(Code::usage,
         "--sizes, --random-labels and --flip require new fits; give --network and --machine instead of --model");
  }
  if (fit.data.parsed().scale != Scaling::none) {
    fail(Code::usage, "--scale: the model applies the scaling that it was fitted with; leave it out");
  }
}

RademacherOptions BoundChoice::bound_options() const {
  RademacherOptions options{.delta = delta, .loss = {}, .clip = clip};
  if (loss) options.loss = Loss{.kind = parse_loss(*loss), .epsilon = fit.epsilon};
  return options;
}

nlohmann::ordered_json BoundChoice::settings(const KernelRequest& request, const DataRequest& data) const {
  nlohmann::ordered_json result;
  if (model) {
    result["model"] = *model;
    result["data"] = data_settings(data);
  } else {
    result = fit_settings(fit, request, data);
  }
  result["delta"] = delta;
  if (loss) result["loss"] = *loss;
  if (clip) result["clip"] = *clip;
  if (!sizes.empty()) result["sizes"] = sizes;
  if (random_labels) result["random_labels"] = *random_labels;
  if (flip) result["flip"] = *flip;
  return result;
}

void add_bound_options(CLI::App& verb, BoundChoice& choice) {
  add_machine_options(verb, choice.fit);
  verb.add_option("--model", choice.model, "Model fitted to --train, instead of a new fit")
      ->type_name("MODEL.h5")
      ->group(bound_group);
  verb.add_option("--delta", choice.delta, "Probability that a bound fails")
      ->type_name("D")
      ->capture_default_str()
      ->group(bound_group);
  verb.add_option("--loss", choice.loss,
                  "Surrogate loss: hinge (the default), squared, squared-hinge, insensitive or logistic")
      ->type_name("LOSS")
      ->group(bound_group);
  verb.add_option("--clip", choice.clip, "Regression: value at which the loss is clipped; default 1")
      ->type_name("C")
      ->group(bound_group);
  verb.add_option("--sizes", choice.sizes, "Compute bounds for the first N samples, for each N; default: all")
      ->type_name("N1,N2,…")
      ->delimiter(',')
      ->group(bound_group);
  verb.add_option("--random-labels", choice.random_labels, "Also compute bounds for random labels drawn by this seed")
      ->type_name("SEED")
      ->group(bound_group);
  verb.add_option("--flip", choice.flip, "Two classes: also for labels flipped with this probability, drawn by --seed")
      ->type_name("P")
      ->group(bound_group);
  add_train_option(verb, choice.fit.data);
  add_data_options(verb, choice.fit.data, true);
  add_common_options(verb, choice.fit.common);
}

/// Returns the request for the kernel of a model.
KernelRequest request_of(const Model& model) {
  require_label_free(model, "bounds", "they hold for kernels that are independent of the sample");
  return {.kernel = model.kernel, .kind = model.kind, .precision = model.precision, .method = Method::exact};
}

using Json = nlohmann::ordered_json;

/// Returns a task with views of `kernels` and `data`, which must outlive it.
BoundTask task_of(const DataKernels& kernels, const TrainTest& data, bool numbers, const Engine& engine) {
  BoundTask task{.k = view_of(kernels.train),
                 .k_test = kernels.test ? std::optional(view_of(*kernels.test)) : std::nullopt,
                 .engine = &engine,
                 .labels = {},
                 .test_labels = {},
                 .classes = 0,
                 .targets = {},
                 .test_targets = {},
                 .semidefinite = kernels.semidefinite};
  require_one_target(data.train);
  if (!data.train.labels.empty() && !numbers) {
    task.classes = std::ssize(data.train.class_names);
    task.labels = data.train.labels;
    if (data.test) task.test_labels = data.test->labels;
  } else if (!data.train.targets.empty()) {
    task.targets = data.train.targets;
    if (data.test) task.test_targets = data.test->targets;
  } else {
    fail(Code::input, "{} has no {}, which a bound needs; name their column by --label", data.train.name,
         numbers ? "numeric targets" : "labels");
  }
  return task;
}

void check_labelling(const BoundChoice& choice, const BoundTask& task) {
  for (const Index size : choice.sizes) {
    if (size > task.samples()) {
      fail(Code::input, "--sizes {}: there are {} training samples; choose fewer", size, task.samples());
    }
  }
  if (choice.random_labels && task.classes == 0) {
    fail(Code::usage, "--random-labels requires classes; these samples have numeric targets");
  }
  if (choice.flip && task.classes != 2) fail(Code::usage, "--flip requires two classes; select two by --classes");
}

std::vector<BoundRow> rows_of(const BoundChoice& choice, const BoundTask& whole, Progress* progress) {
  check_labelling(choice, whole);
  MachineOptions machine = choice.fit.machine_options();
  machine.progress = progress;
  const RademacherOptions options = choice.bound_options();
  std::vector<BoundRow> rows;
  const std::vector<Index> sizes = choice.sizes.empty() ? std::vector<Index>{whole.samples()} : choice.sizes;
  for (const Index size : sizes) {
    BoundTask task = whole.first(size);
    rows.push_back(bound_row(task, machine, options, true));
    const BoundRow original = rows.back();
    const std::vector<Index> labels = task.labels;
    if (choice.flip) {
      task.labels = flip_labels(labels, 2, *choice.flip, choice.fit.common.seed);
      BoundRow row = bound_row(task, machine, options, false);
      row.labels = "flipped";
      const bool ridge = machine.machine == Machine::ridge;
      add_noisy_bounds(row, *choice.flip, original.label ? original.label->norm.square : std::nullopt,
                       ridge ? machine.lambda : 0.0);
      rows.push_back(std::move(row));
      task.labels = labels;
    }
    if (choice.random_labels) {
      rows.push_back(bound_row(task.with_random_labels(*choice.random_labels), machine, options, true));
      rows.back().labels = "random";
    }
  }
  return rows;
}

/// Returns why the kernel depends on the training samples, which the proofs exclude; empty if it does not.
/// [docs/theory/bounds.md]
std::string dependence_text(Scaling scaling, Missing missing) {
  std::vector<std::string> causes;
  if (scaling != Scaling::none && scaling != Scaling::unit && scaling != Scaling::byte) {
    causes.push_back(fmt::format("the scaling '{}'", to_string(scaling)));
  }
  if (fills(missing)) causes.push_back(fmt::format("the {} in place of missing values", to_string(missing)));
  if (causes.empty()) return {};
  return fmt::format(
      "no guarantee: {} {} computed from the training samples, but the bounds hold for kernels fixed "
      "before the sample is drawn; scale by unit or byte, or not at all",
      fmt::join(causes, " and "), causes.size() == 1 ? "is" : "are");
}

/// Returns the remarks below the table.
std::vector<std::string> remarks(const std::vector<BoundRow>& rows, const BoundChoice& choice,
                                 const std::string& dependence) {
  std::vector<std::string> lines;
  const auto add = [&](const std::string& line) {
    if (std::find(lines.begin(), lines.end(), line) == lines.end()) lines.push_back(line);
  };
  for (const BoundRow& row : rows) {
    if (row.machine) {
      const RademacherBound& b = *row.machine;
      add(fmt::format("loss: {} clipped, at most {:g}, Lipschitz constant {:.4g}; delta {:g}",
                      to_string(b.loss.loss.kind), b.setting.range, b.setting.lipschitz, b.setting.delta));
    } else {
      add(fmt::format("{}, {} labels, n = {}: {}: {}", row.name, row.labels, row.samples, text(row.summary.ending),
                      row.summary.message));
    }
    if (row.label && !row.label->norm.message.empty()) add(row.label->norm.message);
    const double diagonal = row.label ? row.label->trace / static_cast<double>(row.samples) : 0.5;
    if (std::abs(diagonal - 0.5) > 0.05) {
      add(fmt::format("NT-L's a priori form assumes K(x,x) = 1/2, here about {:.1g}: use 'to scale'", diagonal));
    }
  }
  add("'EQ' treats B as fixed before the sample is drawn; 'all norms' is valid for the B of this fit");
  if (!dependence.empty()) add(dependence);
  if (choice.random_labels) add("random labels: the labels of the test samples are random, too");
  if (choice.flip) {
    add("flipped labels: 'test' and 'clean labels' (a guarantee) refer to clean labels, 'EQ' and 'all norms' to "
        "flipped ones; 'noise shape' sets the unspecified constants of the published bound to 1");
  }
  return lines;
}

struct BoundOutcome {
  std::vector<BoundRow> rows;
  std::optional<double> kernel_seconds;
  Precision precision = Precision::f64;
  std::string title;
  std::vector<std::string> notes;
  std::string dependence;  ///< of the kernel on the sample
};

BoundOutcome bounds_of_model(const BoundChoice& choice, const Engine& engine) {
  const Model model = load_model(*choice.model, {choice.fit.common.memory_limit(), nullptr});
  DataRequest loading = choice.fit.data.parsed();
  loading.like = model.origin.layout;
  loading.table.missing = model.origin.layout.missing;
  loading.task = model.classes.empty() ? Task::regression : Task::classification;
  TrainTest data = load_request(choice.fit.common, loading);
  const bool values = model.classes.empty();
  for (Dataset* part : {&data.train, data.test ? &*data.test : nullptr}) {
    if (part == nullptr) continue;
    if (!choice.fit.data.request.layout.given()) lay_out_like(*part, model.shape, model.channels_first);
    if (!part->class_names.empty() || !part->targets.empty()) relabel(*part, model.classes, values);
    if (model.scaling) model.scaling->apply(*part);
  }
  const FittedMachine trained = fit_of(model, data.train);
  const KernelRequest request = request_of(model);
  const DataKernels kernels = machine_kernels({}, choice.fit.common, request, data, engine);
  const BoundTask task = task_of(kernels, data, trained.classes == 0, engine);
  ProgressBar bar(choice.fit.common);
  RademacherOptions options = choice.bound_options();
  if (model.machine == Machine::svr && !options.loss) {
    options.loss = Loss{.kind = LossKind::insensitive, .epsilon = model.epsilon};
  }
  BoundOutcome outcome{.rows = {},
                       .kernel_seconds = kernels.seconds,
                       .precision = model.precision,
                       .title = fmt::format("Bounds of {} on {}", to_string(model.machine), data.train.name),
                       .notes = data.notes,
                       .dependence = dependence_text(model.scaling ? model.scaling->scaling() : Scaling::none,
                                                     model.origin.layout.missing)};
  outcome.rows.push_back(bound_row(task, trained, options, &bar, true));
  return outcome;
}

BoundOutcome bounds_of_fit(const BoundChoice& choice, const KernelRequest& request, const Engine& engine) {
  const TrainTest data = load_request(choice.fit.common, choice.fit.data.parsed());
  const DataKernels kernels = machine_kernels(choice.fit.kernel, choice.fit.common, request, data, engine);
  const BoundTask task = task_of(kernels, data, parse_machine(choice.fit.machine) == Machine::svr, engine);
  ProgressBar bar(choice.fit.common);
  return {.rows = rows_of(choice, task, &bar),
          .kernel_seconds = kernels.seconds,
          .precision = request.precision,
          .title = fmt::format("Bounds of {} on {}", choice.fit.machine, data.train.name),
          .notes = data.notes,
          .dependence = dependence_text(data.scaling ? data.scaling->scaling() : Scaling::none,
                                        choice.fit.data.parsed().table.missing)};
}

void write_bound_page(const std::string& path, const BoundOutcome& outcome, const std::vector<std::string>& lines,
                      const Json& settings) {
  Page page(outcome.title, "Generalisation bounds on the error rate, compared with the measured error rate.");
  page.section("Bounds").figures(bound_figures(outcome.rows)).table(bound_table(outcome.rows));
  for (const std::string& line : lines) page.paragraph(line);
  page.settings(settings).write(path);
}

void run_bound(const BoundChoice& choice) {
  choice.validate();
  const CommonOptions& common = choice.fit.common;
  const DataRequest data_request = choice.fit.data.parsed();
  const std::optional<KernelRequest> request =
      choice.model ? std::nullopt : std::optional(choice.fit.kernel.request(common));
  const auto engine = common.make_engine();
  common.check_report(true);
  const auto start = Clock::now();
  const BoundOutcome outcome = request ? bounds_of_fit(choice, *request, *engine) : bounds_of_model(choice, *engine);
  Record record("bound");
  record.settings = choice.settings(request.value_or(KernelRequest{}), data_request);
  record.notes = outcome.notes;
  record.seed = common.seed;
  record.ran_on(*engine, outcome.precision);
  if (outcome.kernel_seconds) record.timings.emplace_back("kernel", *outcome.kernel_seconds);
  record.timings.emplace_back("all", seconds_since(start));
  Json rows = Json::array();
  for (const BoundRow& row : outcome.rows) rows.push_back(bound_json(row));
  record.results["bounds"] = std::move(rows);
  const std::vector<std::string> lines = remarks(outcome.rows, choice, outcome.dependence);
  record.results["remarks"] = lines;
  std::string output = table_text(bound_table(outcome.rows));
  for (const std::string& line : lines) output += line + "\n";
  if (common.report) {
    write_bound_page(*common.report, outcome, lines, record.page_settings());
    add_report(record, output, *common.report);
  }
  print_result(common, record, output);
  for (const BoundRow& row : outcome.rows) {
    if (row.summary.converged()) continue;
    fail(Code::numerical, "{}, {} labels, n = {}: {}: {}", row.name, row.labels, row.samples, text(row.summary.ending),
         row.summary.message);
  }
}

}  // namespace

void add_bound(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "bound", "Compute generalisation bounds of a kernel machine and compare them with its test error");
  const auto choice = std::make_shared<BoundChoice>();
  add_bound_options(*verb, *choice);
  set_example(*verb,
              "widelimit bound --network fc:1 --train digits --classes 0,1 --split 0.8 --machine svm --lambda 1 "
              "--random-labels 1");
  verb->callback([choice, &program] { program.action = [choice] { run_bound(*choice); }; });
}

}  // namespace widelimit::app
