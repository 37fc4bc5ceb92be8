#include "app/fit/fit_machine.hpp"

#include "app/shell/outcome.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"

#include <numeric>

namespace widelimit::app {

namespace {

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

Trained train(const FitOptions& options, const GramMatrix& k, bool semidefinite, const Dataset& data,
              Progress* progress) {
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
                            {.noise = options.lambda / 2, .check_definite = !kernels.semidefinite, .progress = &bar});
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

}  // namespace

Fitted fitted_machine(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                      const Engine& engine) {
  return goes_by_products(options, request, data) ? fit_by_products(options, request, data, engine)
                                                  : fit_on_gram(options, request, data, engine);
}

}  // namespace widelimit::app
