#include "app/fit/machine_kernels.hpp"
#include "app/flow/flow_outcome.hpp"
#include "app/flow/times.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"
#include "widelimit/finite/training/network_targets.hpp"

#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/analysis/dynamics/flow.hpp"
#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

#include <cmath>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

namespace {

/// Values of the options of `flow`.
struct FlowChoice {
  CommonOptions common;
  DataChoice data;
  KernelChoice kernel;
  std::string loss = "hinge";
  double epsilon = Loss{}.epsilon;
  double lambda = FlowOptions{}.lambda;
  std::vector<double> times;
  std::optional<double> until;
  std::optional<Index> points;
  double tolerance = FlowOptions{}.tolerance;
  std::optional<double> rate;
  std::optional<std::string> schedule;
  std::optional<Index> steps;
  std::optional<Index> batch;
  std::optional<Index> record_every;
  std::optional<std::vector<Index>> record;
  std::optional<std::string> out;

  /// Returns whether gradient descent in steps is requested. Throws Error{usage} if options of flow and descent are
  /// mixed.
  [[nodiscard]] bool discrete() const;
  [[nodiscard]] Loss parsed_loss() const;
  [[nodiscard]] FlowOptions flow_options() const;
  [[nodiscard]] DescendOptions descend_options() const;
  [[nodiscard]] nlohmann::ordered_json settings(const KernelRequest& request, const DataRequest& data_request) const;
};

constexpr const char* flow_group = "Machine";
constexpr const char* time_group = "Gradient flow, in time";
constexpr const char* step_group = "Gradient descent, in steps";
constexpr Index default_points = 101;
/// Default end in units of 1/λ, the decay time of the regulariser.
constexpr double default_until = 5;

std::vector<double> even_times(double until, Index points) {
  if (!(until > 0) || !std::isfinite(until)) fail(Code::usage, "--until {}: it must be a positive number", until);
  if (points < 2) fail(Code::usage, "--points {}: choose 2 or more", points);
  std::vector<double> times;
  for (Index k = 0; k < points; ++k) {
    times.push_back(until * static_cast<double>(k) / static_cast<double>(points - 1));
  }
  return times;
}

bool FlowChoice::discrete() const {
  const bool in_steps = rate || schedule || steps || batch || record_every;
  const bool in_time = !times.empty() || until || points;
  if (in_steps && in_time) {
    fail(Code::usage, "give either times (--times, or --until and --points) or steps (--rate, --steps), not both");
  }
  if (!times.empty() && (until || points)) fail(Code::usage, "give either --times or --until and --points, not both");
  return in_steps;
}

Loss FlowChoice::parsed_loss() const { return {.kind = parse_loss(loss), .epsilon = epsilon}; }

FlowOptions FlowChoice::flow_options() const {
  FlowOptions options;
  options.loss = parsed_loss();
  options.lambda = lambda;
  options.tolerance = tolerance;
  options.record.samples = record;
  options.times = times;
  if (!(lambda >= 0) || std::isinf(lambda)) fail(Code::usage, "--lambda {}: it must be 0 or a positive number", lambda);
  if (times.empty()) {
    if (!until && !(lambda > 0))
      fail(Code::usage, "with --lambda 0 there is no default end; give --until T or --times T1,T2,…");
    options.times = even_times(until.value_or(default_until / lambda), points.value_or(default_points));
  }
  check_options(options);
  return options;
}

DescendOptions FlowChoice::descend_options() const {
  DescendOptions options;
  options.loss = parsed_loss();
  options.lambda = lambda;
  if (schedule) options.schedule = parse_schedule(*schedule);
  if (rate && options.schedule == RateSchedule::pegasos) {
    fail(Code::usage, "--schedule pegasos sets the learning rate 1/(λt); leave out --rate");
  }
  if (rate) options.rate = *rate;
  if (steps) options.steps = *steps;
  if (batch) options.batch = *batch;
  options.seed = common.seed;
  options.record_every = record_every.value_or(std::max<Index>(options.steps / 1000, 1));
  options.record.samples = record;
  check_options(options);
  return options;
}

nlohmann::ordered_json FlowChoice::settings(const KernelRequest& request, const DataRequest& data_request) const {
  nlohmann::ordered_json result;
  kernel.write_settings(request, result);
  result["loss"] = loss;
  if (parse_loss(loss) == LossKind::insensitive) result["epsilon"] = epsilon;
  result["lambda"] = lambda;
  if (discrete()) {
    const DescendOptions options = descend_options();
    result["schedule"] = to_string(options.schedule);
    if (options.schedule == RateSchedule::constant && options.rate) result["rate"] = *options.rate;
    result["steps"] = options.steps;
    if (options.batch > 0) result["batch"] = options.batch;
    result["record_every"] = options.record_every;
  } else {
    const FlowOptions options = flow_options();
    if (!times.empty()) {
      result["times"] = times_json(times);
    } else {
      result["until"] = options.times.back();
      result["points"] = options.times.size();
    }
    result["tolerance"] = options.tolerance;
  }
  if (record) result["record"] = *record;
  result["data"] = data_settings(data_request);
  return result;
}

void add_flow_options(CLI::App& verb, FlowChoice& choice) {
  add_kernel_choice(verb, choice.kernel, flow_group);
  verb.add_option("--loss", choice.loss, "squared, hinge, squared-hinge, insensitive, logistic or softmax")
      ->type_name("LOSS")
      ->capture_default_str()
      ->group(flow_group);
  verb.add_option("--lambda", choice.lambda, "Weight λ of ‖β‖²/2 relative to the sum of losses; may be 0")
      ->type_name("L")
      ->capture_default_str()
      ->group(flow_group);
  verb.add_option("--epsilon", choice.epsilon, "insensitive: width ε of the insensitive zone of the loss")
      ->type_name("E")
      ->capture_default_str()
      ->group(flow_group);
  verb.add_option("--record", choice.record, "Training samples whose outputs are recorded; default: all")
      ->type_name("I1,I2,…")
      ->delimiter(',')
      ->group(flow_group);
  verb.add_option("--out", choice.out, "File of the trajectory")->type_name("T.csv|.npz|.h5")->group(flow_group);
  verb.add_option("--times", choice.times, "Recorded times, 0 or larger; inf is the limit")
      ->type_name("T1,T2,…")
      ->delimiter(',')
      ->group(time_group);
  verb.add_option("--until", choice.until, "Instead of --times: end of evenly spaced times from 0; default 5/λ")
      ->type_name("T")
      ->group(time_group);
  verb.add_option("--points", choice.points, "Number of evenly spaced times; default 101")
      ->type_name("N")
      ->group(time_group);
  verb.add_option("--tolerance", choice.tolerance, "Tolerance of a Runge–Kutta step, for losses without a closed form")
      ->type_name("T")
      ->capture_default_str()
      ->group(time_group);
  verb.add_option("--rate", choice.rate, "Learning rate η; default: a stable one")->type_name("R")->group(step_group);
  verb.add_option("--schedule", choice.schedule, "constant, or pegasos: 1/(λt)")->type_name("HOW")->group(step_group);
  verb.add_option("--steps", choice.steps, "Number of steps; default 1000")->type_name("N")->group(step_group);
  verb.add_option("--batch", choice.batch, "Batch size; batches are drawn by --seed; default: all samples")
      ->type_name("N")
      ->group(step_group);
  verb.add_option("--record-every", choice.record_every, "Steps between recorded steps; default: a thousandth of all")
      ->type_name("N")
      ->group(step_group);
  add_train_option(verb, choice.data);
  add_data_options(verb, choice.data, true);
  add_common_options(verb, choice.common);
}

Trajectory run_dynamics(const FlowChoice& choice, const DataKernels& kernels, const Matrix<double>& targets,
                        const Engine& engine) {
  ProgressBar bar(choice.common);
  const GramMatrix k(view_of(kernels.train), engine);
  const auto test = kernels.test ? std::optional(view_of(*kernels.test)) : std::nullopt;
  if (choice.discrete()) {
    DescendOptions options = choice.descend_options();
    options.record.test = test;
    options.check_definite = !kernels.semidefinite;
    options.progress = &bar;
    return descend(k, targets.view(), options);
  }
  FlowOptions options = choice.flow_options();
  options.record.test = test;
  options.check_definite = !kernels.semidefinite;
  options.progress = &bar;
  return flow(k, targets.view(), options);
}

void run_flow(const FlowChoice& choice) {
  const KernelRequest request = choice.kernel.request(choice.common);
  const DataRequest data_request = choice.data.parsed();
  const nlohmann::ordered_json settings = choice.settings(request, data_request);
  if (!choice.discrete() && std::isinf(choice.flow_options().times.front()) && choice.common.report) {
    fail(Code::usage, "--report plots outputs by time; give at least one finite time by --times");
  }
  const auto engine = choice.common.make_engine();
  choice.common.check_report(true);
  if (choice.out) check_series_path(*choice.out);

  const TrainTest data = load_request(choice.common, data_request);
  const Loss loss = choice.parsed_loss();
  const Matrix<double> targets = training_targets(data.train, data.train.class_names, loss);
  const DataKernels kernels = machine_kernels(choice.kernel, choice.common, request, data, *engine);

  FlowOutcome outcome{.trajectory = run_dynamics(choice, kernels, targets, *engine),
                      .loss = loss,
                      .lambda = choice.lambda,
                      .discrete = choice.discrete()};
  evaluate_outputs(outcome, data);
  const Summary& summary = outcome.trajectory.summary;
  Record record("flow");
  record.settings = settings;
  if (outcome.trajectory.step) record.settings["rate"] = *outcome.trajectory.step;
  record.notes = data.notes;
  record.seed = choice.common.seed;
  record.ran_on(*engine, request.precision);
  if (kernels.seconds) record.timings.emplace_back("kernel", *kernels.seconds);
  record.timings.emplace_back("flow", summary.seconds);
  record.results = outcome_json(outcome);
  std::string output = table_text(flow_table(outcome, 12));
  for (const std::string& line : summary_lines(outcome)) output += line + "\n";
  if (choice.out && !outcome.trajectory.times.empty()) {
    write_trajectory(*choice.out, outcome, file_settings(choice.common, settings, data.train.class_names));
    add_file(record, output, *choice.out);
  }
  if (choice.common.report && !outcome.trajectory.times.empty()) {
    write_flow_page(*choice.common.report, fmt::format("{} loss on {}", choice.loss, data.train.name), outcome,
                    record.page_settings());
    add_report(record, output, *choice.common.report);
  }
  print_result(choice.common, record, output);
  if (!summary.converged()) fail(Code::numerical, "{}: {}", text(summary.ending), summary.message);
  if (!summary.message.empty()) note(choice.common, summary.message);
}

}  // namespace

void add_flow(Program& program) {
  auto* verb =
      program.cli.add_subcommand("flow", "Training dynamics of a kernel machine, by gradient flow or gradient descent");
  const auto choice = std::make_shared<FlowChoice>();
  add_flow_options(*verb, *choice);
  set_example(*verb,
              "widelimit flow --network fc:2 --train digits --classes 3,8 --scale unit --split 0.8 --loss hinge "
              "--lambda 0.1 --report flow.html");
  verb->callback([choice, &program] { program.action = [choice] { run_flow(*choice); }; });
}

}  // namespace widelimit::app
