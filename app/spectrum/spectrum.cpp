#include "app/fit/machine_kernels.hpp"
#include "app/flow/times.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"
#include "app/spectrum/spectrum_outcome.hpp"

#include "widelimit/analysis/spectrum/label_choice.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <vector>

namespace widelimit::app {

namespace {

constexpr const char* labels_group = "Labels and time";
constexpr const char* network_group = "Network of finite width";
constexpr int default_times = 61;

/// Values of the options of `spectrum`.
struct SpectrumChoice {
  CommonOptions common;
  DataChoice data;
  KernelChoice kernel;
  std::vector<std::string> labels{"true", "random", "worst"};
  double epsilon = 0.01;
  std::optional<double> rate;
  std::vector<double> times;
  std::vector<double> ridges;
  std::optional<Index> steps;
  std::optional<Index> width;
  Index modes = 12;
  std::optional<std::string> out;

  /// Throws Error{usage} if a choice is unknown or repeated.
  [[nodiscard]] std::vector<LabelChoice> label_choices() const;
  /// Throws Error{usage} if numbers are out of range or contradict each other.
  void validate() const;
  [[nodiscard]] ModeOptions mode_options() const;
  [[nodiscard]] nlohmann::ordered_json settings(const KernelRequest& request, const DataRequest& data_request) const;
};

std::vector<LabelChoice> SpectrumChoice::label_choices() const {
  std::vector<LabelChoice> choices;
  for (const std::string& text : labels) {
    const LabelChoice choice = parse_label_choice(text);
    if (std::find(choices.begin(), choices.end(), choice) != choices.end()) {
      fail(Code::usage, "--labels: {} is given more than once", text);
    }
    choices.push_back(choice);
  }
  return choices;
}

void SpectrumChoice::validate() const {
  (void)label_choices();
  if (!(epsilon > 0 && epsilon < 1)) fail(Code::usage, "--epsilon {}: choose a number between 0 and 1", epsilon);
  if (rate && !(*rate > 0 && std::isfinite(*rate))) fail(Code::usage, "--rate {}: it must be positive", *rate);
  for (const double time : times) {
    if (!(time >= 0)) fail(Code::usage, "--times: {} is negative or not a number; times must be at least 0", time);
  }
  for (const double ridge : ridges) {
    if (!(ridge > 0 && std::isfinite(ridge))) fail(Code::usage, "--ridges: {} is not a positive number", ridge);
  }
  if (modes < 1) fail(Code::usage, "--modes {}: choose 1 or more", modes);
  if (width && !steps) fail(Code::usage, "--width requires --steps, which trains a network");
  if (!steps) return;
  if (!kernel.network || kernel.kind != "ntk") {
    fail(Code::usage, "--steps trains the network of the tangent kernel; give --network with --kind ntk");
  }
  mode_options().validate();
}

ModeOptions SpectrumChoice::mode_options() const {
  ModeOptions options;
  if (width) options.width = *width;
  if (steps) options.steps = *steps;
  options.rate = rate;
  options.seed = common.seed;
  options.precision = parse_precision(common.precision);
  options.memory = common.memory_limit();
  return options;
}

nlohmann::ordered_json SpectrumChoice::settings(const KernelRequest& request, const DataRequest& data_request) const {
  nlohmann::ordered_json result;
  kernel.write_settings(request, result);
  result["labels"] = labels;
  result["epsilon"] = epsilon;
  if (rate) result["rate"] = *rate;
  if (!times.empty()) result["times"] = times_json(times);
  if (!ridges.empty()) result["ridges"] = ridges;
  if (steps) {
    result["width"] = mode_options().width;
    result["steps"] = *steps;
  }
  result["data"] = data_settings(data_request);
  return result;
}

void add_spectrum_options(CLI::App& verb, SpectrumChoice& choice) {
  add_kernel_choice(verb, choice.kernel, "Kernel");
  verb.add_option("--labels", choice.labels,
                  "true, random, random:SHARE (this share replaced by random labels), worst (±1, slow to learn)")
      ->type_name("L1,L2,…")
      ->delimiter(',')
      ->capture_default_str()
      ->group(labels_group);
  verb.add_option("--epsilon", choice.epsilon, "Target loss as a fraction of the initial loss")
      ->type_name("E")
      ->capture_default_str()
      ->group(labels_group);
  verb.add_option("--rate", choice.rate, "Learning rate of gradient descent on ½‖f - y‖²; default: a quarter of 2/λ1")
      ->type_name("R")
      ->group(labels_group);
  verb.add_option("--times", choice.times,
                  "Times of the predicted loss; default: from the fastest to the slowest decay")
      ->type_name("T1,T2,…")
      ->delimiter(',')
      ->group(labels_group);
  verb.add_option("--ridges", choice.ridges, "Ridges of the effective dimension; default: λ1 times 0.1 … 0.0001")
      ->type_name("R1,R2,…")
      ->delimiter(',')
      ->group(labels_group);
  verb.add_option("--steps", choice.steps, "Train a network for this many steps and measure its error by direction")
      ->type_name("N")
      ->group(network_group);
  verb.add_option("--width", choice.width, fmt::format("Width of its hidden layers; default {}", ModeOptions{}.width))
      ->type_name("M")
      ->group(network_group);
  verb.add_option("--modes", choice.modes,
                  "Number of directions whose rates are shown, those with the largest share of the labels")
      ->type_name("N")
      ->capture_default_str()
      ->group(network_group);
  verb.add_option("--out", choice.out, "File of eigenvalues, eigenvectors and projections")
      ->type_name("S.csv|.npz|.h5")
      ->group(labels_group);
  add_train_option(verb, choice.data);
  add_data_options(verb, choice.data, false);
  add_common_options(verb, choice.common);
}

/// Returns times on a logarithmic grid, from before any learning to three times the longest time to ε.
std::vector<double> spread_times(const SpectrumOutcome& outcome) {
  const KernelSpectrum& spectrum = *outcome.spectrum;
  const double first = 0.1 / spectrum.eigenvalues().front();
  double last = 10 * first;
  for (const NamedLabels& one : outcome.labels) {
    // Labels that never reach ε count with the loss that they reach.
    const double aim = std::max(outcome.epsilon, 1.01 * one.labels.floor());
    if (aim < 1) last = std::max(last, 3 * one.labels.time_to(aim));
  }
  std::vector<double> times{0};
  for (int k = 0; k < default_times; ++k) {
    times.push_back(first * std::pow(last / first, static_cast<double>(k) / (default_times - 1)));
  }
  return times;
}

/// Returns numeric targets as one column; empty if the data have classes.
Matrix<double> number_column(const Dataset& data) {
  Matrix<double> values(std::ssize(data.targets), 1);
  std::copy(data.targets.begin(), data.targets.end(), values.data());
  return values;
}

SpectrumOutcome analyse_spectrum(const SpectrumChoice& choice, const DataKernels& kernels, const Dataset& data,
                                 const Engine& engine) {
  ProgressBar bar(choice.common);
  SpectrumOutcome outcome;
  outcome.epsilon = choice.epsilon;
  outcome.spectrum = std::make_unique<KernelSpectrum>(
      kernels.streamed ? *kernels.streamed : GramMatrix(view_of(kernels.train), engine),
      KernelSpectrumOptions{.memory = choice.common.memory_limit(), .progress = &bar});
  const KernelSpectrum& spectrum = *outcome.spectrum;
  const auto stable = spectrum.stable_rate();
  if (!stable)
    fail(Code::input,
         "the kernel is 0 on all samples of {}, so nothing can be learned; use another network or other data",
         data.name);
  outcome.rate = choice.rate.value_or(*stable / 4);
  const Matrix<double> numbers = number_column(data);
  const GivenLabels given{.classes_of = data.labels, .classes = std::ssize(data.class_names), .values = numbers.view()};
  std::optional<Network> network;
  if (choice.steps) network = Network::parse(*choice.kernel.network);
  for (const LabelChoice& label : choice.label_choices()) {
    if (label.kind != LabelKind::worst) {
      require_one_target(data);
      if (!data.labelled())
        fail(Code::input, "{} has no labels; name their column by --label, or use --labels worst", data.name);
    }
    const Matrix<double> targets = label_targets(label, given, spectrum, choice.common.seed);
    outcome.labels.push_back({to_string(label), LabelSpectrum(spectrum, targets.view())});
    // Throws before any training if the rate diverges.
    (void)outcome.labels.back().labels.loss_after(0, outcome.rate);
    if (!network) continue;
    ModeOptions options = choice.mode_options();
    options.progress = &bar;
    outcome.networks.push_back(mode_dynamics(*network, data.view(), targets.view(), spectrum, options, engine));
    const TrainSummary& summary = outcome.networks.back().summary;
    if (!summary.finished()) fail(Code::numerical, "network on {} labels: {}", to_string(label), summary.message);
  }
  outcome.times = choice.times.empty() ? spread_times(outcome) : choice.times;
  outcome.ridges = choice.ridges;
  for (const double share : {1e-1, 1e-2, 1e-3, 1e-4}) {
    if (choice.ridges.empty()) outcome.ridges.push_back(share * spectrum.eigenvalues().front());
  }
  outcome.modes = choice.modes;
  return outcome;
}

std::string spectrum_text(const SpectrumOutcome& outcome) {
  std::string output;
  for (const std::string& line : spectrum_facts(outcome)) output += line + "\n";
  output += table_text(labels_table(outcome)) + table_text(losses_table(outcome, 9));
  if (!outcome.networks.empty()) {
    output += table_text(networks_table(outcome, 9)) + table_text(rate_table(outcome.named_networks(), outcome.modes));
  }
  return output;
}

void run_spectrum(const SpectrumChoice& choice) {
  choice.validate();
  const KernelRequest request = choice.kernel.request(choice.common);
  const DataRequest data_request = choice.data.parsed();
  const auto engine = choice.common.make_engine();
  choice.common.check_report(true);
  choice.common.check_distinct_files(choice.out, choice.data.specs());
  if (choice.out) check_series_path(*choice.out);

  const TrainTest data = load_request(choice.common, data_request);
  const DataKernels kernels = machine_kernels(choice.kernel, choice.common, request, data, *engine);
  const auto begin = Clock::now();
  const SpectrumOutcome outcome = analyse_spectrum(choice, kernels, data.train, *engine);
  Record record("spectrum");
  record.settings = choice.settings(request, data_request);
  record.settings["rate"] = outcome.rate;
  record.notes = data.notes;
  record.seed = choice.common.seed;
  record.ran_on(*engine, request.precision);
  if (kernels.seconds) record.timings.emplace_back("kernel", *kernels.seconds);
  record.timings.emplace_back("spectrum", seconds_since(begin));
  record.results = outcome_json(outcome);
  for (const std::string& remark : spectrum_remarks(outcome)) note(choice.common, remark);
  std::string output = spectrum_text(outcome);
  if (choice.out) {
    write_spectrum(*choice.out, outcome, file_settings(choice.common, record.settings, data.train.class_names));
    add_file(record, output, *choice.out);
  }
  if (choice.common.report) {
    write_spectrum_page(*choice.common.report, fmt::format("Spectrum and labels of {}", data.train.name), outcome,
                        record.page_settings());
    add_report(record, output, *choice.common.report);
  }
  print_result(choice.common, record, output);
}

}  // namespace

void add_spectrum(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "spectrum", "Eigenvalues of a kernel, and predicted learning speed of true, random and worst-case labels");
  const auto choice = std::make_shared<SpectrumChoice>();
  add_spectrum_options(*verb, *choice);
  set_example(*verb,
              "widelimit spectrum --network fc:2 --train digits --classes 3,8 --limit 200 --scale unit "
              "--labels true,random,worst --steps 200 --width 512 --report spectrum.html");
  verb->callback([choice, &program] { program.action = [choice] { run_spectrum(*choice); }; });
}

}  // namespace widelimit::app
