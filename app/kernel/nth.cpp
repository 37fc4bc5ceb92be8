#include "app/kernel/kernel_file.hpp"
#include "app/kernel/kernel_report.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"
#include "app/shell/remedies.hpp"

#include "widelimit/analysis/hierarchy/nth_kernel.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/training/network_targets.hpp"

namespace widelimit::app {

namespace {

/// Values of the options of `nth`.
struct NthChoice {
  CommonOptions common;
  DataChoice data;
  std::string activation = "erf";
  Index samples = NthOptions{}.samples;
  std::optional<Index> max_samples;
  std::optional<double> tolerance;
  double width = NthOptions{}.width;
  std::string out;

  [[nodiscard]] NthOptions options(Progress* progress) const;
  [[nodiscard]] nlohmann::ordered_json settings(const DataRequest& request) const;
};

NthOptions NthChoice::options(Progress* progress) const {
  NthOptions result{.samples = samples,
                    .tolerance = tolerance,
                    .max_samples = max_samples,
                    .width = width,
                    .seed = common.seed,
                    .memory = common.memory_limit(),
                    .progress = progress};
  result.validate();
  if (parse_precision(common.precision) != Precision::f64) {
    fail(Code::usage, "--precision {}: this kernel is computed in f64; leave it out", common.precision);
  }
  return result;
}

nlohmann::ordered_json NthChoice::settings(const DataRequest& request) const {
  nlohmann::ordered_json settings;
  settings["activation"] = activation;
  settings["samples"] = samples;
  if (tolerance) {
    settings["tolerance"] = *tolerance;
    settings["max_samples"] = max_samples.value_or(NthOptions::default_max_samples);
  }
  settings["width"] = width;
  settings["data"] = data_settings(request);
  return settings;
}

void add_matrices(const std::string& prefix, NthMatrix matrix, KernelResult& answer) {
  answer.matrices.push_back({prefix + "kernel", std::move(matrix.values), {}});
  answer.matrices.push_back({prefix + "kernel_error", std::move(matrix.error), {}});
  answer.matrices.push_back({prefix + "theta", std::move(matrix.ntk), {}});
}

/// Converts the result to the form of the other kernels.
KernelResult answer_of(NthKernel found) {
  KernelResult answer;
  answer.monte_carlo = true;
  answer.route = fmt::format("neural tangent hierarchy over {} quasi-random directions", found.samples);
  answer.quadrature_error = found.quadrature_error;
  answer.standard_error = found.relative_error;
  answer.seconds = found.seconds;
  const auto n = static_cast<double>(found.train.values.rows());
  answer.pairs = n * (n + 1) / 2 + (found.test ? n * static_cast<double>(found.test->values.rows()) : 0.0);
  add_matrices("", std::move(found.train), answer);
  if (found.test) add_matrices("test_", std::move(*found.test), answer);
  return answer;
}

void run_nth(const NthChoice& choice, const CLI::App& verb) {
  const CommonOptions& common = choice.common;
  (void)choice.options(nullptr);
  const Activation activation = parse_activation(choice.activation);
  common.check_report(true);
  const DataRequest request = choice.data.parsed();
  check_kernel_path(choice.out, 0);
  const auto engine = common.make_engine();
  const TrainTest data = load_request(common, request);
  require_one_target(data.train);
  const Matrix<double> targets = training_targets(data.train, data.train.class_names, {.kind = LossKind::squared});
  if (targets.cols() != 1) {
    fail(Code::input, "{} has {} classes, but this kernel needs labels ±1; select two classes by --classes",
         data.train.name, targets.cols());
  }
  ProgressBar bar(common);
  const std::optional<SampleView> test = data.test ? std::optional(data.test->view()) : std::nullopt;
  NthKernel found = nth_kernel(activation, data.train.view(), {targets.data(), usize(targets.rows())}, test,
                               choice.options(&bar), *engine);
  std::vector<std::string> remarks;
  for (const NthRemark& remark : found.remarks) remarks.push_back(remark.text + options_of(remark.remedies, verb));
  for (const std::string& remark : remarks) note(common, remark);
  warn_quadrature(common, found.quadrature_error, Precision::f64);
  Record record("nth");
  record.settings = choice.settings(request);
  record.notes = data.notes;
  record.seed = common.seed;
  record.ran_on(*engine, Precision::f64);
  record.timings.emplace_back("nth", found.seconds);
  const nlohmann::ordered_json more{{"directions", found.samples},
                                    {"relative_error", found.relative_error},
                                    {"relative_correction", found.relative_correction},
                                    {"remarks", remarks}};
  const KernelResult answer = answer_of(std::move(found));
  record.results = kernel_json(answer);
  record.results.update(more);
  write_kernel(choice.out, answer, data, file_settings(common, record.settings, data.train.class_names));
  record.results["file"] = choice.out;
  if (common.report) {
    record.results["analysis"] = write_kernel_page(*common.report, fmt::format("NTH of {}", choice.activation), answer,
                                                   data.train, record.page_settings(), common.seed);
    record.results["report"] = *common.report;
  }
  std::string output = table_text(array_table(array_facts(answer)));
  output += fmt::format("correction at most {:.3g} of the NTK, standard error {:.2g} of the correction; {:.3g} s\n",
                        more["relative_correction"].get<double>(), answer.standard_error, answer.seconds);
  print_result(common, record, output + files_text(common, choice.out));
}

}  // namespace

void add_nth(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "nth", "Compute the kernel of the neural tangent hierarchy: the NTK after training, with standard errors");
  const auto choice = std::make_shared<NthChoice>();
  constexpr const char* group = "Tangent hierarchy";
  verb->add_option("--activation", choice->activation, "Activation of the hidden layer; prefer smooth ones")
      ->type_name("PHI")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--samples", choice->samples,
                   "Number of hidden weight vectors for the expectations; powers of 2 are best")
      ->type_name("S")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--tolerance", choice->tolerance,
                   "Double the samples until the largest standard error is this fraction of the largest correction")
      ->type_name("E")
      ->group(group);
  verb->add_option("--max-samples", choice->max_samples, "With --tolerance: largest number of samples")
      ->type_name("S")
      ->default_str(std::to_string(NthOptions::default_max_samples))
      ->group(group);
  verb->add_option("--width", choice->width, "Number m of hidden units; the correction is of order 1/m")
      ->type_name("M")
      ->capture_default_str()
      ->group(group);
  verb->add_option("--out", choice->out, "File of the arrays and settings")
      ->type_name("K.npz|K.h5")
      ->required()
      ->group(group);
  add_train_option(*verb, choice->data);
  add_data_options(*verb, choice->data, true);
  add_common_options(*verb, choice->common);
  set_example(*verb,
              "widelimit nth --train digits --classes 3,8 --limit 100 --split 0.8 --scale unit --activation erf "
              "--width 1000 --out nth.npz");
  verb->callback([choice, verb, &program] { program.action = [choice, verb] { run_nth(*choice, *verb); }; });
}

}  // namespace widelimit::app
