#include "app/fit/fit_options.hpp"
#include "app/fit/machine_pages.hpp"
#include "app/kernel/kernel_file.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/model_file.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"
#include "widelimit/report/fit_summary.hpp"
#include "widelimit/report/scores.hpp"

#include <numeric>
#include <optional>
#include <vector>

namespace widelimit::app {

namespace {

/// A machine, and what it says of the samples it was fitted to and of others.
struct Fitted {
  Trained trained;
  Matrix<double> train;                  ///< decisions
  std::optional<Matrix<double>> test;    ///< where there are test samples
  std::optional<double> kernel_seconds;  ///< where a Gram matrix was computed
  std::optional<double> likelihood;      ///< log p(y) of the Gaussian process, all outputs together, with --posterior
  std::vector<double> residuals;         ///< of conjugate gradients, after each iteration
};

/// Whether classes are fitted, rather than numbers. Error{input} where there is neither.
bool fits_classes(const FitOptions& options, const Dataset& data) {
  const bool numbers = parse_machine(options.machine) == Machine::svr;
  if (!data.labels.empty() && !numbers) return true;
  if (!data.targets.empty()) return false;
  fail(Code::input, "{} has no {}; a machine needs them (--label names their column)", data.name,
       numbers ? "numbers to fit" : "labels");
}

/// What ridge fits, and what its outputs mean.
std::pair<Matrix<double>, Trained> ridge_targets(const FitOptions& options, const Dataset& data) {
  Trained trained{.machine = Machine::ridge};
  if (!fits_classes(options, data)) {
    Matrix<double> y(data.count(), 1);
    std::copy(data.targets.begin(), data.targets.end(), y.data());
    return {std::move(y), std::move(trained)};
  }
  trained.classes = std::ssize(data.class_names);
  if (trained.classes < 2) fail(Code::input, "all samples are of one class; a classifier needs two");
  trained.scheme = trained.classes == 2 ? Scheme::sign : Scheme::one_hot;
  return {class_targets(data.labels, trained.classes), std::move(trained)};
}

Trained train(const FitOptions& options, const GramMatrix& k, bool semidefinite, const Dataset& data, Progress* progress) {
  MachineOptions how = options.machine_options();
  how.check_definite = !semidefinite;
  how.progress = progress;
  if (fits_classes(options, data)) return train_classes(k, data.labels, std::ssize(data.class_names), how);
  return train_values(k, {data.targets.data(), data.count(), 1, 1}, how);
}

Fitted fit_on_gram(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                   const Engine& engine) {
  const MachineKernels kernels = machine_kernels(options.kernel, options.common, request, data, engine);
  const GramMatrix k(view_of(kernels.train), engine);
  ProgressBar bar(options.common);
  Fitted fitted;
  fitted.kernel_seconds = kernels.seconds;
  if (options.posterior) {
    auto [targets, trained] = ridge_targets(options, data.train);
    GaussianProcess process(k, targets.view(),
                            {.noise = options.lambda / 2,
                             .check_definite = !kernels.semidefinite,
                             .progress = &bar});
    fitted.trained = std::move(trained);
    const std::vector<double>& each = process.log_marginal_likelihood();
    if (!each.empty()) fitted.likelihood = std::accumulate(each.begin(), each.end(), 0.0);
    fitted.trained.fit = std::move(process).fit();
  } else {
    fitted.trained = train(options, k, kernels.semidefinite, data.train, &bar);
  }
  fitted.train = decision(fitted.trained.fit, k.matrix(), engine);
  if (kernels.test) fitted.test = decision(fitted.trained.fit, view_of(*kernels.test), engine);
  return fitted;
}

/// Bytes besides the samples.
std::size_t memory_left(const FitOptions& options, const TrainTest& data) {
  const auto limit = options.common.memory_limit();
  const std::size_t whole = limit ? *limit : available_memory().value_or(RidgeNetworkOptions{}.memory);
  const auto size = [](const Dataset& part) {
    return std::visit([](const auto& m) { return static_cast<std::size_t>(m.rows() * m.cols()) * sizeof(*m.data()); },
                      part.values);
  };
  const std::size_t held = size(data.train) + (data.test ? size(*data.test) : 0);
  if (held >= whole) {
    fail(Code::resource, "the samples alone take {} of {}; allow more (--memory)",
         bytes_text(static_cast<double>(held)), bytes_text(static_cast<double>(whole)));
  }
  return limit ? whole - held : whole;
}

bool goes_by_products(const FitOptions& options, const KernelRequest& request, const TrainTest& data) {
  if (options.solver != "auto") return options.solver == "cg";
  if (parse_machine(options.machine) != Machine::ridge || options.posterior || options.kernel.gram ||
      !std::holds_alternative<Network>(request.kernel) || options.lambda == 0) {
    return false;
  }
  const double dense =
      dense_ridge_bytes(data.train.count(), std::max<Index>(1, std::ssize(data.train.class_names)), request.precision);
  const std::size_t memory = memory_left(options, data);
  if (dense <= static_cast<double>(memory)) return false;
  note(options.common, fmt::format("the Gram matrix and its factor would take {}, of {} allowed: --solver cg",
                                   bytes_text(dense), bytes_text(static_cast<double>(memory))));
  return true;
}

Fitted fit_by_products(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                       const Engine& engine) {
  auto [targets, trained] = ridge_targets(options, data.train);
  ProgressBar bar(options.common);
  RidgeNetworkOptions how{
      .kind = request.kind, .precision = request.precision, .memory = memory_left(options, data), .solver = {}};
  how.solver.lambda = options.lambda;
  how.solver.bias = options.bias;
  if (options.tolerance) how.solver.tolerance = *options.tolerance;
  how.solver.progress = &bar;
  const auto& network = std::get<Network>(request.kernel);
  ConjugateGradientFit found = fit_ridge(network, data.train.view(), targets.view(), how, engine);
  Fitted fitted{.trained = std::move(trained), .train = std::move(found.decisions), .residuals = found.residuals};
  fitted.trained.fit = std::move(found.fit);
  if (!data.test) return fitted;
  Model model = fitted_model(network, data.train, fitted.trained, options.lambda);
  model.kind = request.kind;
  model.precision = request.precision;
  fitted.test = predict_decisions(model, data.test->view(), engine, {.progress = &bar});
  return fitted;
}

/// On a Gram matrix, or, where it does not fit into memory or --solver says so, by products with its tiles.
Fitted fitted_machine(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                      const Engine& engine) {
  return goes_by_products(options, request, data) ? fit_by_products(options, request, data, engine)
                                                  : fit_on_gram(options, request, data, engine);
}

using Json = nlohmann::ordered_json;

Model model_of(const FitOptions& options, const KernelRequest& request, const TrainTest& data, const Trained& trained,
               const Json& settings) {
  Model model = fitted_model(request.kernel, data.train, trained, options.lambda, options.posterior);
  model.kind = request.kind;
  model.precision = request.precision;
  model.scaling = data.scaling;
  model.epsilon = options.epsilon;
  model.has_bias = options.bias;
  model.record = settings.dump(-1, ' ', false, Json::error_handler_t::replace);
  model.version = version();
  return model;
}

/// A fit that ended badly says so by its status; the model is written all the same where it is the best so far.
void check_ending(const Summary& summary) {
  if (summary.ending == Ending::converged) return;
  fail(Code::numerical, "{}: {}", text(summary.ending), summary.message);
}

/// Records and prints the scores on the training and the test set.
std::vector<NamedScore> scores_of(const Fitted& fitted, const TrainTest& data, Record& record, std::string& words) {
  std::vector<NamedScore> scores;
  const auto add = [&](const char* name, const Matrix<double>& decisions, const Dataset& part) {
    if (const auto found = score(fitted.trained.scheme, fitted.trained.classes, decisions, part)) {
      record.results[name] = score_json(*found);
      words += fmt::format("{:<5} {}\n", name, score_text(*found));
      scores.emplace_back(name, *found);
    }
  };
  add("train", fitted.train, data.train);
  if (fitted.test) add("test", *fitted.test, *data.test);
  return scores;
}

void run(const FitOptions& options) {
  const KernelRequest request = options.kernel.request(options.common);
  (void)options.machine_options();
  const DataRequest data_request = options.data.parsed();
  const auto engine = options.common.make_engine();
  options.common.check_report(true);
  options.common.check_apart(options.out, options.data.specs({options.kernel.gram.value_or("")}));
  check_writable(options.out, 0);

  const TrainTest data = load_within(options.common, data_request);
  const Fitted fitted = fitted_machine(options, request, data, *engine);
  const Trained& trained = fitted.trained;
  const Summary& summary = trained.fit.summary;
  if (summary.ending == Ending::not_positive_definite || summary.ending == Ending::not_separable) check_ending(summary);

  const Json settings = fit_settings(options, request, data_request);
  const Model model = model_of(options, request, data, trained, settings);
  save_model(options.out, model);
  Record record("fit");
  record.settings = settings;
  record.seed = options.common.seed;
  record.ran_on(*engine, request.precision);
  if (fitted.kernel_seconds) record.timings.emplace_back("kernel", *fitted.kernel_seconds);
  record.timings.emplace_back("fit", summary.seconds);
  record.results["machine"] = to_string(trained.machine);
  record.results["scheme"] = to_string(trained.scheme);
  record.results["samples"] = data.train.count();
  record.results["support"] = model.supports();
  record.results["summary"] = summary_json(summary);
  std::string words = table_text(summary_table(summary));
  words += fmt::format("{} of {} samples support it\n", model.supports(), data.train.count());
  if (!fitted.residuals.empty()) record.results["residuals"] = fitted.residuals;
  if (fitted.likelihood) {
    record.results["log_marginal_likelihood"] = *fitted.likelihood;
    words += fmt::format("log marginal likelihood {:.6g}\n", *fitted.likelihood);
  }
  const std::vector<NamedScore> scores = scores_of(fitted, data, record, words);
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
