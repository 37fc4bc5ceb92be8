#include "app/flow/flow_options.hpp"
#include "app/flow/flow_outcome.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"

#include <cmath>

namespace widelimit::app {

namespace {

Trajectory follow(const FlowChoice& choice, const MachineKernels& kernels, const Matrix<double>& targets,
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
    fail(Code::usage, "--report draws outputs by time; give --times with a finite one");
  }
  const auto engine = choice.common.make_engine();
  choice.common.check_report(true);
  choice.common.check_apart(choice.out, choice.data.specs());
  if (choice.out) check_trajectory_path(*choice.out);

  const TrainTest data = load_within(choice.common, data_request);
  const Loss loss = choice.parsed_loss();
  const Matrix<double> targets = training_targets(data.train, data.train.class_names, loss);
  const MachineKernels kernels = machine_kernels(choice.kernel, choice.common, request, data, *engine);

  FlowOutcome outcome{.trajectory = follow(choice, kernels, targets, *engine),
                      .loss = loss,
                      .lambda = choice.lambda,
                      .discrete = choice.discrete()};
  judge_outputs(outcome, data);
  const Summary& summary = outcome.trajectory.summary;
  Record record("flow");
  record.settings = settings;
  record.seed = choice.common.seed;
  record.ran_on(*engine, request.precision);
  if (kernels.seconds) record.timings.emplace_back("kernel", *kernels.seconds);
  record.timings.emplace_back("flow", summary.seconds);
  record.results = outcome_json(outcome);
  std::string words = table_text(moments_table(outcome, 12));
  for (const std::string& line : checks_of(outcome)) words += line + "\n";
  if (choice.out && !outcome.trajectory.times.empty()) {
    write_trajectory(*choice.out, outcome, file_settings(choice.common, settings, data.train));
    record.results["file"] = *choice.out;
    words += fmt::format("written to {}\n", *choice.out);
  }
  if (choice.common.report && !outcome.trajectory.times.empty()) {
    write_flow_page(*choice.common.report, fmt::format("{} loss on {}", choice.loss, data.train.name), outcome,
                    settings);
    record.results["report"] = *choice.common.report;
    words += fmt::format("report in {}\n", *choice.common.report);
  }
  deliver(choice.common, record, words);
  if (!summary.converged()) fail(Code::numerical, "{}: {}", text(summary.ending), summary.message);
  if (!summary.message.empty()) note(choice.common, summary.message);
}

}  // namespace

void add_flow(Program& program) {
  auto* verb = program.cli.add_subcommand("flow", "Training dynamics of a kernel machine, in time or in steps");
  const auto choice = std::make_shared<FlowChoice>();
  add_flow_options(*verb, *choice);
  set_example(*verb,
              "widelimit flow --network fc:2 --train digits --classes 3,8 --scale unit --split 0.8 --loss hinge "
              "--lambda 0.1 --report flow.html");
  verb->callback([choice, &program] { program.action = [choice] { run_flow(*choice); }; });
}

}  // namespace widelimit::app
