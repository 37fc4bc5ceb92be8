#include "app/kernel/kernel_file.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"
#include "app/train/train_options.hpp"

#include "widelimit/analysis/evolution/probe_set.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"
#include "widelimit/report/figures/evolution_figures.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>

namespace widelimit::app {

namespace {

/// Values of the options of `evolution`.
struct EvolutionChoice {
  TrainChoice train;
  Index probe = 100;
  bool test_probe = false;
  std::vector<Index> at;
  std::vector<double> at_epochs;
  Index checkpoints = EvolutionOptions{}.checkpoints;
  std::string outputs{to_string(EvolutionOptions{}.kernel.outputs)};
  Index projections = 0;
  bool tangent = false;
  Index tangent_samples = TangentOptions{}.samples;
  double tangent_time = TangentOptions{}.time;
  std::string tangent_kernel{to_string(TangentOptions{}.kernel)};
  bool linearised = false;
  bool barriers = false;
  Index barrier_points = BarrierOptions{}.points;
  std::vector<Index> branch_at;
  std::optional<std::string> out;

  [[nodiscard]] EvolutionOptions options() const;
};

EvolutionOptions EvolutionChoice::options() const {
  EvolutionOptions result;
  result.train = train.options();
  result.at = at;
  result.at_epochs = at_epochs;
  result.checkpoints = checkpoints;
  result.kernel.outputs = parse_kernel_outputs(outputs);
  result.kernel.projections = projections;
  result.branch_at = branch_at;
  if (tangent || linearised) {
    result.tangent = TangentOptions{.samples = tangent_samples,
                                    .time = tangent_time,
                                    .kernel = parse_tangent_kernel(tangent_kernel),
                                    .descent = linearised};
  }
  if (barriers) result.barrier = BarrierOptions{.points = barrier_points};
  result.keep_kernels = out || train.common.report;
  result.validate();
  if (probe < 2) fail(Code::usage, "--probe {}: choose at least 2 samples", probe);
  return result;
}

nlohmann::ordered_json evolution_settings(const EvolutionChoice& choice, const EvolutionOptions& options,
                                          const Network& network, const DataRequest& data,
                                          const std::vector<Index>& steps) {
  nlohmann::ordered_json settings = train_settings(choice.train, network, data);
  settings["probe"] = choice.probe;
  settings["probe_part"] = choice.test_probe ? "test" : "train";
  settings["at"] = steps;
  settings["outputs"] = to_string(options.kernel.outputs);
  if (options.kernel.projections > 0) settings["projections"] = options.kernel.projections;
  if (options.tangent) {
    settings["tangent_samples"] = options.tangent->samples;
    settings["tangent_kernel"] = to_string(options.tangent->kernel);
    if (std::isfinite(options.tangent->time)) settings["tangent_time"] = options.tangent->time;
    settings["linearised_descent"] = options.tangent->descent;
  }
  if (options.barrier) settings["barrier_points"] = options.barrier->points;
  if (!options.branch_at.empty()) settings["branch_at"] = options.branch_at;
  return settings;
}

/// Writes steps, distances and kernels: checkpoints × probe × probe, or checkpoints × outputs × probe × probe.
void write_evolution(const std::filesystem::path& path, const Evolution& found, const ProbeSet& probe,
                     const nlohmann::ordered_json& settings) {
  const Index count = std::ssize(found.checkpoints);
  const Index each = std::ssize(found.kernels.front());
  const Index n = found.kernels.front().front().rows();
  Matrix<double> kernels(count * each * n, n, Content::unset);
  Matrix<double> steps(1, count);
  for (Index k = 0; k < count; ++k) {
    steps(0, k) = static_cast<double>(found.checkpoints[usize(k)].step);
    for (Index o = 0; o < each; ++o) {
      std::copy_n(found.kernels[usize(k)][usize(o)].data(), n * n, kernels.view().row((k * each + o) * n));
    }
  }
  std::vector<NamedArray> arrays{
      {"steps", steps.view(), {count}},
      {"distances", found.distances.view(), {}},
      {"kernels", kernels.view(), each == 1 ? std::vector<Index>{count, n, n} : std::vector<Index>{count, each, n, n}}};
  const std::vector<double> classes(probe.classes.begin(), probe.classes.end());
  if (!classes.empty()) arrays.push_back(list_array("classes", classes));
  write_arrays(path, arrays, settings);
}

std::string sentence(const Evolution& found) {
  const Checkpoint& last = found.checkpoints.back();
  return fmt::format(
      "{} checkpoints up to step {}; distance of the kernel from initialisation S = {:.3g}{}.",
      found.checkpoints.size(), last.step, last.distance,
      last.gates_changed ? fmt::format(", {:.1f} % of the gates changed", 100 * *last.gates_changed) : "");
}

void run_evolution(const EvolutionChoice& choice) {
  const CommonOptions& common = choice.train.common;
  EvolutionOptions options = choice.options();
  const Network network = Network::parse(choice.train.network);
  const DataRequest request = choice.train.data.parsed();
  const auto engine = common.make_engine();
  common.check_report(true);
  if (choice.out) check_kernel_path(*choice.out, 0);
  const TrainTest data = load_request(common, request);
  warn_layout(common, network, data.train.shape);
  if (choice.test_probe && !data.test) fail(Code::usage, "--test-probe requires a test set; give --test or --split");
  const NetworkTargets targets = network_targets(data, options.train.loss);
  const ProbeSet probe(choice.test_probe ? *data.test : data.train, data.train.class_names, options.train.loss,
                       choice.probe);
  ProgressBar bar(common);
  options.train.progress = &bar;
  const std::vector<Index> steps = options.steps(data.train.count());
  const Evolution found = evolution(network, targets.with(data), probe.probe(), options, *engine);
  for (const std::string& remark : found.remarks) note(common, remark);
  Record record("evolution");
  record.settings = evolution_settings(choice, options, network, request, steps);
  record.settings["rate"] = found.trained.summary.rate;
  record.notes = data.notes;
  record.seed = common.seed;
  record.ran_on(*engine, options.train.precision);
  record.timings.emplace_back("train", found.trained.summary.seconds);
  record.timings.emplace_back("evolution", found.seconds);
  record.results = evolution_json(found);
  std::string output;
  if (!found.checkpoints.empty()) {
    output = table_text(evolution_table(found));
    const Table branches = branch_table(found);
    if (!branches.rows.empty()) output += "\n" + table_text(branches);
    output += sentence(found) + "\n";
    if (choice.out) {
      write_evolution(*choice.out, found, probe, file_settings(common, record.settings, data.train.class_names));
      add_file(record, output, *choice.out);
    }
    if (common.report) {
      Page page(fmt::format("Evolution of the tangent kernel on {}", data.train.name), sentence(found));
      add_evolution(page, found, class_bands(probe.classes, data.train.class_names));
      page.settings(record.page_settings()).write(*common.report);
      add_report(record, output, *common.report);
    }
  }
  print_result(common, record, output);
  const TrainSummary& summary = found.trained.summary;
  if (!summary.finished()) fail(Code::numerical, "{}: {}", text(summary.ending), summary.message);
}

void add_evolution_options(CLI::App& verb, EvolutionChoice& choice) {
  constexpr const char* group = "Evolution";
  constexpr const char* branches = "Branches";
  verb.add_option("--probe", choice.probe, "Number of samples of the kernel, equally many of each class")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  verb.add_flag("--test-probe", choice.test_probe, "Take the probe samples from the test set")->group(group);
  auto* at = verb.add_option("--at", choice.at, "Checkpoints at these steps, and at the first and the last step")
                 ->type_name("T1,T2,…")
                 ->delimiter(',')
                 ->group(group);
  verb.add_option("--at-epochs", choice.at_epochs, "Same as --at, in epochs")
      ->type_name("E1,E2,…")
      ->delimiter(',')
      ->excludes(at)
      ->group(group);
  verb.add_option("--checkpoints", choice.checkpoints,
                  "Number of checkpoints without --at and --at-epochs, denser at the beginning")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--outputs", choice.outputs,
                  "Kernel of several outputs: trace (their mean) or class (one per output)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--projections", choice.projections,
                  "Number of random directions for a gradient sketch; 0 computes kernels exactly")
      ->type_name("S")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--out", choice.out, "File of steps, distances and kernels")->type_name("E.npz|E.h5")->group(group);
  verb.add_flag("--tangent", choice.tangent, "Train the network linearised at the checkpoints, in closed form")
      ->group(branches);
  verb.add_option("--tangent-samples", choice.tangent_samples, "Number of training samples for --tangent; 0: all")
      ->type_name("N")
      ->capture_default_str()
      ->group(branches);
  verb.add_option("--tangent-time", choice.tangent_time,
                  "Time of the gradient flow of --tangent; default: the end of training")
      ->type_name("T")
      ->group(branches);
  verb.add_option("--tangent-kernel", choice.tangent_kernel,
                  "full (all pairs of outputs) or trace (mean over outputs, if there are many)")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(branches);
  verb.add_flag("--linearised", choice.linearised, "Also train the linearised network by the remaining steps")
      ->group(branches);
  verb.add_flag("--barriers", choice.barriers,
                "Error barriers between two children of each checkpoint, trained with different batches")
      ->group(branches);
  verb.add_option("--barrier-points", choice.barrier_points, "Number of networks on the line between two children")
      ->type_name("N")
      ->capture_default_str()
      ->group(branches);
  verb.add_option("--branch-at", choice.branch_at, "Checkpoints of branches, in steps; default: all but the last")
      ->type_name("T1,T2,…")
      ->delimiter(',')
      ->group(branches);
}

}  // namespace

void add_evolution(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "evolution", "Follow the empirical NTK along the training of a network: distance, velocity, classes, branches");
  const auto choice = std::make_shared<EvolutionChoice>();
  add_descent_options(*verb, choice->train);
  verb->remove_option(verb->get_option("--record-steps"));
  add_evolution_options(*verb, *choice);
  add_train_option(*verb, choice->train.data);
  add_data_options(*verb, choice->train.data, true);
  add_common_options(*verb, choice->train.common);
  set_example(*verb,
              "widelimit evolution --network fc:2 --train digits --scale unit --split 0.8 --width 128 --epochs 20 "
              "--batch 64 --probe 50 --report evolution.html");
  verb->callback([choice, &program] { program.action = [choice] { run_evolution(*choice); }; });
}

}  // namespace widelimit::app
