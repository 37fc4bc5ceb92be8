#include "widelimit/machine/fit_data.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>

namespace widelimit {

namespace {

/// Targets of ridge and the meaning of its outputs.
struct RidgeTargets {
  Matrix<double> of_classes;  ///< empty for numeric targets
  MatrixView<const double> targets;
  FittedMachine machine{.machine = Machine::ridge};
};

RidgeTargets ridge_targets(const FitTargets& y) {
  RidgeTargets task;
  task.targets = y.values;
  if (y.labels.empty()) return task;
  if (y.classes < 2) fail(Code::input, "all samples are of one class; a classifier needs two");
  task.machine.classes = y.classes;
  task.machine.scheme = y.classes == 2 ? Scheme::sign : Scheme::one_hot;
  task.of_classes = class_targets(y.labels, y.classes);
  task.targets = task.of_classes.view();
  return task;
}

/// Returns the memory in bytes for a Gram matrix and its factor, which are stored in device memory if the engine has
/// its own.
std::size_t matrix_memory(const FitDataOptions& options, std::size_t held, const Engine& engine) {
  const std::size_t host = options.memory_left(held);
  const DeviceMatrices* const device = device_matrices(engine);
  if (device == nullptr) return host;
  const std::size_t free = device->memory_use().free;
  return options.memory ? std::min(host, free) : free;
}

ConjugateGradientOptions product_options(const FitDataOptions& options) {
  ConjugateGradientOptions result{.lambda = options.machine.lambda,
                                  .bias = options.machine.bias,
                                  .weights = options.machine.weights,
                                  .progress = options.machine.progress};
  if (options.machine.tolerance) result.tolerance = *options.machine.tolerance;
  return result;
}

FittedData fitted_by(ConjugateGradientFit found, FittedMachine machine) {
  FittedData fitted{.machine = std::move(machine), .train = std::move(found.decisions), .residuals = found.residuals};
  fitted.machine.fit = std::move(found.fit);
  return fitted;
}

/// Options with class weights converted to sample weights; owns the weights.
class WeightedOptions {
 public:
  WeightedOptions(const FitDataOptions& requested, const FitTargets& y) : options_(requested) {
    if (requested.machine.class_weights.empty()) return;
    if (y.labels.empty()) fail(Code::usage, "weights of classes need classes; these targets are numbers");
    weights_ = sample_weights(requested.machine, y.labels, y.classes);
    options_.machine.weights = weights_;
    options_.machine.class_weights = {};
  }
  WeightedOptions(const WeightedOptions&) = delete;
  WeightedOptions& operator=(const WeightedOptions&) = delete;

  [[nodiscard]] const FitDataOptions& get() const { return options_; }

 private:
  FitDataOptions options_;
  std::vector<double> weights_;
};

/// Fits to an existing Gram matrix.
FittedData fit_on(const GramMatrix& k, bool semidefinite, const FitTargets& y, const FitDataOptions& options) {
  MachineOptions machine = options.machine;
  machine.check_definite = machine.check_definite && !semidefinite;
  if (options.solver == Solver::conjugate_gradients || !k.held()) {
    RidgeTargets task = ridge_targets(y);
    FittedData fitted =
        fitted_by(conjugate_gradients(k, task.targets, product_options(options)), std::move(task.machine));
    if (options.solver == Solver::automatic) {
      fitted.note =
          "the Gram matrix and its factor do not fit into memory: using conjugate gradients that read its file";
    }
    return fitted;
  }
  FittedData fitted;
  if (options.posterior) {
    RidgeTargets task = ridge_targets(y);
    GaussianProcess process(
        k, task.targets,
        {.noise = machine.lambda / 2, .check_definite = machine.check_definite, .progress = machine.progress});
    fitted.machine = std::move(task.machine);
    const std::vector<double>& each = process.log_marginal_likelihood();
    if (!each.empty()) fitted.likelihood = std::accumulate(each.begin(), each.end(), 0.0);
    fitted.machine.fit = std::move(process).fit();
  } else if (!y.labels.empty()) {
    fitted.machine = train_classes(k, y.labels, y.classes, machine);
  } else {
    fitted.machine = train_values(k, y.values, machine);
  }
  fitted.train = decision(fitted.machine.fit, k.matrix(), k.engine());
  return fitted;
}

/// Fits to a label-aware kernel, built in place from the kernels of train and test (if any). Decisions and coefficients
/// refer to K^HR before its repair, as evaluated by a model: a shift is removed again, and the projection of clipping
/// is moved from the kernel to the coefficients.
FittedData fit_label_aware_on(AnyMatrix& train, AnyMatrix* test, const PairSources& sources, const FitTargets& y,
                              const FitDataOptions& options, const Engine& engine) {
  if (y.labels.empty()) fail(Code::usage, "a label-aware kernel needs classes; these targets are numbers");
  LabelAwareKernels made = make_label_aware(train, test, sources, y.labels, y.classes, *options.label_aware, engine,
                                            options.machine.progress);
  const bool repaired = made.repair.psd == Psd::clip || made.repair.psd == Psd::shift;
  FitDataOptions own = options;
  own.machine.indefinite = made.repair.psd == Psd::none;
  FittedData fitted = fit_on({view_of(train), engine}, repaired, y, own);
  if (Summary& summary = fitted.machine.fit.summary; summary.ending == Ending::not_positive_definite) {
    summary.message += repaired ? "; a clipped or shifted kernel is singular: add a ridge term"
                                : "; a label-aware kernel has negative eigenvalues, which may be clipped or shifted";
  }
  Matrix<double>& alpha = fitted.machine.fit.alpha;
  for (Index i = 0; made.repair.shift != 0 && i < alpha.rows(); ++i) {
    for (Index j = 0; j < alpha.cols(); ++j) fitted.train(i, j) -= made.repair.shift * alpha(i, j);
  }
  if (test != nullptr) fitted.test = decision(fitted.machine.fit, view_of(*test), engine);
  project_coefficients(made.repair, alpha.view(), engine);
  made.repair.kept = {};
  fitted.label_aware = std::move(made);
  return fitted;
}

/// Fits without storing the Gram matrix of a network, if requested or if automatic selection chooses so; otherwise
/// returns std::nullopt.
std::optional<FittedData> fit_by_products(const KernelRequest& request, const SampleView& x, const FitTargets& y,
                                          const FitDataOptions& options, const Engine& engine, std::size_t held) {
  const auto* network = std::get_if<Network>(&request.kernel);
  if (network == nullptr && options.solver == Solver::conjugate_gradients) {
    fail(Code::usage, "conjugate gradients need the kernel of a network");
  }
  if (options.machine.machine != Machine::ridge || options.posterior || network == nullptr) return std::nullopt;
  if (options.label_aware) return std::nullopt;
  const std::size_t memory = matrix_memory(options, held, engine);
  const Solver solver = chosen_solver(options, true, x.count(), y.outputs(), request.precision, memory);
  if (solver != Solver::conjugate_gradients) return std::nullopt;
  RidgeTargets task = ridge_targets(y);
  const RidgeNetworkOptions how{
      .kind = request.kind, .precision = request.precision, .memory = memory, .solver = product_options(options)};
  FittedData fitted = fitted_by(fit_ridge(*network, x, task.targets, how, engine), std::move(task.machine));
  if (options.solver == Solver::automatic) {
    fitted.note =
        fmt::format("the Gram matrix and its factor need {}, but the memory limit is {}: using conjugate gradients",
                    bytes_text(dense_ridge_bytes(x.count(), y.outputs(), request.precision)),
                    bytes_text(static_cast<double>(memory)));
  }
  return fitted;
}

/// Fits on an engine with its own memory, for a network kernel that is not sampled: the Gram matrix stays on the
/// device. Otherwise returns std::nullopt.
std::optional<FittedData> fit_on_device(const KernelRequest& request, const SampleView& x, const FitTargets& y,
                                        const FitDataOptions& options, const Engine& engine) {
  if (device_matrices(engine) == nullptr || !by_formulas(request) || options.label_aware) return std::nullopt;
  const DeviceMemoryLimit limit(engine, request.memory);
  const EngineGram gram = engine_gram(std::get<Network>(request.kernel), x, std::nullopt,
                                      {request.kind, request.precision, request.progress}, engine);
  FittedData fitted =
      fit_on({request.kind == Kind::nngp ? gram.nngp : gram.ntk, engine}, gram.semidefinite(), y, options);
  fitted.kernel_seconds = gram.seconds;
  fitted.quadrature_error = gram.quadrature_error;
  return fitted;
}

}  // namespace

bool fits_classes(Machine machine, const Dataset& data) {
  const bool numbers = machine == Machine::svr;
  if (!data.labels.empty() && !numbers) return true;
  if (!data.targets.empty() || data.outputs.rows() > 0) return false;
  if (!data.labels.empty()) {
    fail(Code::input, {Remedy::choose_task}, "{}: its labels are classes, and {} fits numbers", data.name,
         to_string(machine));
  }
  fail(Code::input, "{} has no {}; a machine needs them: name their column", data.name,
       numbers ? "numbers to fit" : "labels");
}

FitTargets fit_targets(Machine machine, const Dataset& data) {
  if (fits_classes(machine, data)) return {.labels = data.labels, .classes = std::ssize(data.class_names)};
  if (data.outputs.rows() > 0) return {.labels = {}, .values = data.outputs.view()};
  return {.labels = {}, .values = {data.targets.data(), data.count(), 1, 1}};
}

FittedData fit_samples(const KernelRequest& request, const SampleView& x, const FitTargets& targets,
                       const FitDataOptions& requested, const Engine& engine) {
  requested.validate();
  require_trained_kernel(request);
  const WeightedOptions weighted(requested, targets);
  const FitDataOptions& options = weighted.get();
  if (auto fitted = fit_by_products(request, x, targets, options, engine, x.bytes())) return std::move(*fitted);
  if (auto fitted = fit_on_device(request, x, targets, options, engine)) return std::move(*fitted);
  KernelResult kernel = compute_kernel(request, x, std::nullopt, engine);
  AnyMatrix& k = kernel.matrices.front().values;
  FittedData fitted = options.label_aware ? fit_label_aware_on(k, nullptr, {.train = x, .own = options.pair_features},
                                                               targets, options, engine)
                                          : fit_on({view_of(k), engine}, kernel.semidefinite, targets, options);
  fitted.kernel_seconds = kernel.seconds;
  fitted.quadrature_error = kernel.quadrature_error;
  return fitted;
}

FittedData fit_kernel(AnyMatrix& k, const FitTargets& targets, const FitDataOptions& requested, const Engine& engine) {
  requested.validate();
  if (requested.label_aware && reads_samples(requested.label_aware->method)) {
    fail(Code::usage,
         "{} compares the samples, which a precomputed kernel does not contain; choose kr1 or kr2, or give samples",
         to_string(requested.label_aware->method));
  }
  const WeightedOptions weighted(requested, targets);
  const FitDataOptions& options = weighted.get();
  return options.label_aware ? fit_label_aware_on(k, nullptr, {}, targets, options, engine)
                             : fit_on({view_of(k), engine}, false, targets, options);
}

FittedData fit_data(const KernelRequest& request, const TrainTest& data, const FitDataOptions& requested,
                    const Engine& engine) {
  requested.validate();
  const FitTargets targets = fit_targets(requested.machine.machine, data.train);
  const WeightedOptions weighted(requested, targets);
  const FitDataOptions& options = weighted.get();
  auto fitted = fit_by_products(request, data.train.view(), targets, options, engine, sample_bytes(data));
  if (!fitted) fitted = fit_on_device(request, data.train.view(), targets, options, engine);
  if (fitted) {
    if (!data.test) return std::move(*fitted);
    Model model = fitted_model(request.kernel, data.train, fitted->machine, options.machine.lambda);
    model.kind = request.kind;
    model.precision = request.precision;
    fitted->test = predict_decisions(model, data.test->view(), engine, {.progress = options.machine.progress});
    return std::move(*fitted);
  }
  return fit_data(data_kernels(request, data, engine), data, options, engine);
}

FittedData fit_data(DataKernels kernels, const TrainTest& data, const FitDataOptions& requested, const Engine& engine) {
  requested.validate();
  const FitTargets targets = fit_targets(requested.machine.machine, data.train);
  const WeightedOptions weighted(requested, targets);
  if (requested.label_aware) {
    PairSources sources{.train = data.train.view(), .own = requested.pair_features};
    if (data.test) sources.test = data.test->view();
    FittedData fitted = fit_label_aware_on(kernels.train, kernels.test ? &*kernels.test : nullptr, sources, targets,
                                           weighted.get(), engine);
    fitted.kernel_seconds = kernels.seconds;
    fitted.quadrature_error = kernels.quadrature_error;
    return fitted;
  }
  const GramMatrix k = kernels.streamed ? *kernels.streamed : GramMatrix(view_of(kernels.train), engine);
  FittedData fitted = fit_on(k, kernels.semidefinite, targets, weighted.get());
  fitted.kernel_seconds = kernels.seconds;
  fitted.quadrature_error = kernels.quadrature_error;
  if (kernels.test) fitted.test = decision(fitted.machine.fit, view_of(*kernels.test), engine);
  return fitted;
}

}  // namespace widelimit
