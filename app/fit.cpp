#include "app/fit_options.hpp"
#include "app/interrupt.hpp"
#include "app/kernel_file.hpp"
#include "app/machine_pages.hpp"
#include "app/outcome.hpp"
#include "app/program.hpp"
#include "app/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file.hpp"
#include "widelimit/kernel/stored_gram.hpp"
#include "widelimit/machine/model_file.hpp"

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

/// Kernels of the training samples, and of the test samples with them.
struct Kernels {
  AnyMatrix train;
  std::optional<AnyMatrix> test;
  double seconds = 0;
};

/// The name of the one matrix that a request computes.
std::string matrix_name(const KernelRequest& request) {
  if (std::holds_alternative<ClassicalKernel>(request.kernel)) return "kernel";
  return request.kind == Kind::nngp ? "nngp" : "ntk";
}

/// A kernel file says what it is of: another network would give a model that predicts nonsense.
void check_origin(const StoredGram& gram, const std::string& path, const KernelRequest& request) {
  const Json settings = Json::parse(gram.settings(), nullptr, false);
  const auto* network = std::get_if<Network>(&request.kernel);
  if (!settings.is_object() || network == nullptr || !settings.contains("network")) return;
  const auto stored = settings["network"].get<std::string>();
  if (stored != network->to_text()) {
    fail(Code::input, "{} is the kernel of '{}', not of '{}'; compute it for this network", path, stored,
         network->to_text());
  }
}

AnyMatrix read_gram(const std::string& path, const std::string& name, Index rows, Index cols,
                    const KernelRequest& request) {
  const StoredGram gram(path, name);
  check_origin(gram, path, request);
  if (gram.rows() != rows || gram.cols() != cols) {
    fail(Code::input, "'{}' of {} is {} by {}; the data need {} by {}: give the options it was computed with", name,
         path, gram.rows(), gram.cols(), rows, cols);
  }
  return gram.read(0, 0, rows, cols);
}

Kernels read_kernels(const FitOptions& options, const KernelRequest& request, const TrainTest& data) {
  const std::string name = matrix_name(request);
  const Index n = data.train.count();
  Kernels kernels{.train = read_gram(*options.gram, name, n, n, request), .test = std::nullopt};
  if (data.test) kernels.test = read_gram(*options.gram, "test_" + name, data.test->count(), n, request);
  return kernels;
}

Kernels compute_kernels(const FitOptions& options, KernelRequest request, const TrainTest& data,
                        const Backend& backend) {
  ProgressBar bar(options.common);
  request.progress = &bar;
  KernelAnswer answer = compute_kernel(request, data.train, data.test, backend);
  stop_if_interrupted();
  Kernels kernels{.seconds = answer.seconds};
  for (NamedMatrix& matrix : answer.matrices) {
    if (matrix.name.starts_with("test_")) {
      kernels.test = std::move(matrix.values);
    } else {
      kernels.train = std::move(matrix.values);
    }
  }
  return kernels;
}

Trained train(const FitOptions& options, const AnyMatrix& kernel, const Dataset& data) {
  MachineOptions how = options.machine_options();
  ProgressBar bar(options.common);
  how.progress = &bar;
  const AnyView k = view_of(kernel);
  if (!data.labels.empty() && how.machine != Machine::svr) {
    return train_classes(k, data.labels, std::ssize(data.class_names), how);
  }
  if (data.targets.empty()) {
    fail(Code::input, "{} has no {}; a machine needs them (--label names their column)", data.name,
         how.machine == Machine::svr ? "numbers to fit" : "labels");
  }
  return train_values(k, {data.targets.data(), data.count(), 1, 1}, how);
}

Model model_of(const FitOptions& options, const KernelRequest& request, const TrainTest& data, const Trained& trained,
               const Json& settings) {
  Model model;
  model.kernel = request.kernel;
  model.kind = request.kind;
  model.precision = request.precision;
  model.shape = data.train.shape;
  model.scaling = data.scaling;
  model.machine = trained.machine;
  model.scheme = trained.scheme;
  if (trained.classes > 0) model.classes = data.train.class_names;
  model.lambda = options.lambda;
  model.epsilon = options.epsilon;
  model.has_bias = options.bias;
  model.calibration = trained.calibration;
  set_support(model, trained.fit, data.train.view());
  model.record = settings.dump(-1, ' ', false, Json::error_handler_t::replace);
  model.version = version();
  return model;
}

/// A fit that ended badly says so by its status; the model is written all the same where it is the best so far.
void check_ending(const Summary& summary) {
  if (summary.ending == Ending::converged) return;
  fail(Code::numerical, "{}: {}", text(summary.ending), summary.message);
}

void run(const FitOptions& options) {
  const KernelRequest request = options.kernel_request();
  (void)options.machine_options();
  const DataRequest data_request = options.data.parsed();
  const auto backend = options.common.make_backend();
  options.common.check_report(true);
  check_writable(options.out, 0);

  ProgressBar bar(options.common);
  DataRequest loading = data_request;
  loading.progress = &bar;
  const TrainTest data = load_train_test(loading);
  const Kernels kernels =
      options.gram ? read_kernels(options, request, data) : compute_kernels(options, request, data, *backend);
  const Trained trained = train(options, kernels.train, data.train);
  const Summary& summary = trained.fit.summary;
  if (summary.ending == Ending::not_positive_definite || summary.ending == Ending::not_separable) check_ending(summary);

  const Json settings = fit_settings(options, request, data_request);
  const Model model = model_of(options, request, data, trained, settings);
  save_model(options.out, model);
  Record record("fit");
  record.settings = settings;
  record.seed = options.common.seed;
  record.ran_on(*backend, request.precision);
  if (!options.gram) record.timings.emplace_back("kernel", kernels.seconds);
  record.timings.emplace_back("fit", summary.seconds);
  record.results["machine"] = to_string(trained.machine);
  record.results["scheme"] = to_string(trained.scheme);
  record.results["samples"] = data.train.count();
  record.results["support"] = model.supports();
  record.results["summary"] = summary_json(summary);
  std::string words = table_text(summary_table(summary));
  words += fmt::format("{} of {} samples support it\n", model.supports(), data.train.count());
  std::vector<NamedScore> scores;
  const auto add_score = [&](const char* name, const AnyMatrix& k, const Dataset& part) {
    if (const auto found = score(trained.scheme, trained.classes, decision(trained.fit, view_of(k)), part)) {
      record.results[name] = score_json(*found);
      words += fmt::format("{:<5} {}\n", name, score_text(*found));
      scores.emplace_back(name, *found);
    }
  };
  add_score("train", kernels.train, data.train);
  if (kernels.test) add_score("test", *kernels.test, *data.test);
  record.results["file"] = options.out;
  if (options.common.report) {
    write_fit_page(*options.common.report, fmt::format("{} on {}", to_string(trained.machine), data.train.name),
                   summary, scores, model.classes, settings);
    record.results["report"] = *options.common.report;
  }
  deliver(options.common, record, words + files_text(options.common, options.out));
  check_ending(summary);
}

}  // namespace

void add_fit(Program& program) {
  auto* verb = program.cli.add_subcommand("fit", "A kernel machine fitted to data, as a model file");
  const auto options = std::make_shared<FitOptions>();
  add_fit_options(*verb, *options);
  set_example(*verb,
              "widelimit fit --network fc:3 --train digits --split 0.8 --machine svm --lambda 0.1 --out model.h5");
  verb->callback([options, &program] { program.action = [options] { run(*options); }; });
}

}  // namespace widelimit::app
