#include "widelimit/machine/fit_data.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/machine/model.hpp"
#include "widelimit/machine/ridge/gaussian_process.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 3> solver_names{"auto", "dense", "cg"};
/// Bytes for blocks of a matrix in a file.
constexpr std::size_t file_blocks = std::size_t{256} << 20;

/// What ridge fits, and what its outputs mean.
std::pair<Matrix<double>, Trained> ridge_targets(const Dataset& data) {
  Trained trained{.machine = Machine::ridge};
  if (!fits_classes(Machine::ridge, data)) {
    Matrix<double> y(data.count(), 1);
    std::copy(data.targets.begin(), data.targets.end(), y.data());
    return {std::move(y), std::move(trained)};
  }
  trained.classes = std::ssize(data.class_names);
  if (trained.classes < 2) fail(Code::input, "all samples are of one class; a classifier needs two");
  trained.scheme = trained.classes == 2 ? Scheme::sign : Scheme::one_hot;
  return {class_targets(data.labels, trained.classes), std::move(trained)};
}

/// Bytes besides the samples.
std::size_t memory_left(const FitDataOptions& options, const TrainTest& data) {
  const std::size_t whole =
      options.memory ? *options.memory : available_memory().value_or(RidgeNetworkOptions{}.memory);
  const auto size = [](const Dataset& part) {
    return std::visit([](const auto& m) { return static_cast<std::size_t>(m.rows() * m.cols()) * sizeof(*m.data()); },
                      part.values);
  };
  const std::size_t held = size(data.train) + (data.test ? size(*data.test) : 0);
  if (held >= whole) {
    fail(Code::resource, "the samples alone take {} of {}; allow more memory", bytes_text(static_cast<double>(held)),
         bytes_text(static_cast<double>(whole)));
  }
  return options.memory ? whole - held : whole;
}

ConjugateGradientOptions product_options(const FitDataOptions& options) {
  ConjugateGradientOptions result{.lambda = options.machine.lambda,
                                  .bias = options.machine.bias,
                                  .weights = options.machine.weights,
                                  .progress = options.machine.progress};
  if (options.machine.tolerance) result.tolerance = *options.machine.tolerance;
  return result;
}

FittedData fitted_by(ConjugateGradientFit found, Trained trained) {
  FittedData fitted{.trained = std::move(trained), .train = std::move(found.decisions), .residuals = found.residuals};
  fitted.trained.fit = std::move(found.fit);
  return fitted;
}

FittedData fit_by_products(const KernelRequest& request, const TrainTest& data, const FitDataOptions& options,
                           std::size_t memory, const Engine& engine) {
  auto [targets, trained] = ridge_targets(data.train);
  const RidgeNetworkOptions how{
      .kind = request.kind, .precision = request.precision, .memory = memory, .solver = product_options(options)};
  const auto& network = std::get<Network>(request.kernel);
  FittedData fitted = fitted_by(fit_ridge(network, data.train.view(), targets.view(), how, engine), std::move(trained));
  if (!data.test) return fitted;
  Model model = fitted_model(network, data.train, fitted.trained, options.machine.lambda);
  model.kind = request.kind;
  model.precision = request.precision;
  fitted.test = predict_decisions(model, data.test->view(), engine, {.progress = options.machine.progress});
  return fitted;
}

/// The name of the one matrix that a request computes.
std::string matrix_name(const KernelRequest& request) {
  if (std::holds_alternative<ClassicalKernel>(request.kernel)) return "kernel";
  return request.kind == Kind::nngp ? "nngp" : "ntk";
}

/// A kernel file says what it is of: another network would give a model that predicts nonsense.
void check_origin(const GramFile& gram, const std::string& path, const KernelRequest& request) {
  const auto settings = nlohmann::ordered_json::parse(gram.settings(), nullptr, false);
  const auto* network = std::get_if<Network>(&request.kernel);
  if (!settings.is_object() || network == nullptr || !settings.contains("network")) return;
  const auto stored = settings["network"].get<std::string>();
  if (stored != network->to_text()) {
    fail(Code::input, "{} is the kernel of '{}', not of '{}'; compute it for this network", path, stored,
         network->to_text());
  }
}

GramFile open_gram(const std::string& path, const std::string& name, Index rows, Index cols,
                   const KernelRequest& request) {
  GramFile gram(path, name);
  check_origin(gram, path, request);
  if (gram.rows() != rows || gram.cols() != cols) {
    fail(Code::input, "'{}' of {} is {} by {}; the data need {} by {}: give the options it was computed with", name,
         path, gram.rows(), gram.cols(), rows, cols);
  }
  return gram;
}

AnyMatrix read_all(const GramFile& gram, const std::string& path, const KernelRequest& request) {
  const double entry = gram.precision() == Precision::f32 ? sizeof(float) : sizeof(double);
  require_memory(entry * static_cast<double>(gram.rows()) * static_cast<double>(gram.cols()), request.memory,
                 fmt::format("'{}' of {}", gram.name(), path),
                 "take fewer samples or allow more memory; ridge by conjugate gradients needs less");
  return gram.read(0, 0, gram.rows(), gram.cols());
}

}  // namespace

Solver parse_solver(std::string_view text) { return parse_choice<Solver>("solver", solver_names, text); }

void FitDataOptions::validate() const {
  if (posterior) {
    if (machine.machine != Machine::ridge) {
      fail(Code::usage, "a posterior is of ridge, not of {}", to_string(machine.machine));
    }
    if (machine.bias) fail(Code::usage, "a Gaussian process has no bias");
    if (solver == Solver::conjugate_gradients) fail(Code::usage, "a posterior needs the factor of the Gram matrix");
  }
  if (solver != Solver::conjugate_gradients) return;
  if (machine.machine != Machine::ridge) {
    fail(Code::usage, "conjugate gradients are of ridge, not of {}", to_string(machine.machine));
  }
}

bool fits_classes(Machine machine, const Dataset& data) {
  const bool numbers = machine == Machine::svr;
  if (!data.labels.empty() && !numbers) return true;
  if (!data.targets.empty()) return false;
  fail(Code::input, "{} has no {}; a machine needs them: name their column", data.name,
       numbers ? "numbers to fit" : "labels");
}

Solver chosen_solver(const FitDataOptions& options, bool network, Index samples, Index outputs, Precision precision,
                     std::size_t memory) {
  if (options.solver != Solver::automatic) return options.solver;
  const bool possible =
      options.machine.machine == Machine::ridge && !options.posterior && network && options.machine.lambda > 0;
  const bool fits = dense_ridge_bytes(samples, outputs, precision) <= static_cast<double>(memory);
  return possible && !fits ? Solver::conjugate_gradients : Solver::dense;
}

DataKernels file_kernels(const std::filesystem::path& path, const KernelRequest& request, const TrainTest& data,
                         const FitDataOptions& options, const Engine& engine) {
  options.validate();
  const std::string name = matrix_name(request);
  const Index n = data.train.count();
  GramFile train = open_gram(path.string(), name, n, n, request);
  const std::size_t memory = memory_left(options, data);
  const Index outputs = std::max<Index>(1, std::ssize(data.train.class_names));
  DataKernels kernels;
  if (chosen_solver(options, true, n, outputs, train.precision(), memory) == Solver::conjugate_gradients) {
    kernels.unheld = file_gram(std::move(train), engine, std::min(memory / 2, file_blocks), options.machine.progress);
  } else {
    kernels.train = read_all(train, path.string(), request);
  }
  if (data.test) {
    kernels.test =
        read_all(open_gram(path.string(), "test_" + name, data.test->count(), n, request), path.string(), request);
  }
  return kernels;
}

DataKernels data_kernels(const KernelRequest& request, const TrainTest& data, const Engine& engine,
                         double& quadrature_error) {
  KernelAnswer answer = compute_kernel(request, data.train, data.test, engine);
  quadrature_error = answer.quadrature_error;
  DataKernels kernels;
  kernels.seconds = answer.seconds;
  kernels.semidefinite = answer.semidefinite;
  for (NamedMatrix& matrix : answer.matrices) {
    if (matrix.name.starts_with("test_")) {
      kernels.test = std::move(matrix.values);
    } else {
      kernels.train = std::move(matrix.values);
    }
  }
  return kernels;
}

FittedData fit_data(const KernelRequest& request, const TrainTest& data, const FitDataOptions& options,
                    const Engine& engine) {
  const bool network = std::holds_alternative<Network>(request.kernel);
  options.validate();
  if (!network && options.solver == Solver::conjugate_gradients) {
    fail(Code::usage, "conjugate gradients need the kernel of a network");
  }
  const Index outputs = std::max<Index>(1, std::ssize(data.train.class_names));
  const bool ridge = options.machine.machine == Machine::ridge && !options.posterior && network;
  const std::size_t memory = ridge ? memory_left(options, data) : 0;
  const Solver solver =
      ridge ? chosen_solver(options, network, data.train.count(), outputs, request.precision, memory) : Solver::dense;
  if (solver == Solver::conjugate_gradients) {
    FittedData fitted = fit_by_products(request, data, options, memory, engine);
    if (options.solver == Solver::automatic) {
      fitted.note = fmt::format("the Gram matrix and its factor would take {}, of {} allowed: by conjugate gradients",
                                bytes_text(dense_ridge_bytes(data.train.count(), outputs, request.precision)),
                                bytes_text(static_cast<double>(memory)));
    }
    return fitted;
  }
  double error = 0;
  FittedData fitted = fit_data(data_kernels(request, data, engine, error), data, options, engine);
  fitted.quadrature_error = error;
  return fitted;
}

FittedData fit_data(const DataKernels& kernels, const TrainTest& data, const FitDataOptions& options,
                    const Engine& engine) {
  options.validate();
  const GramMatrix k = kernels.unheld ? *kernels.unheld : GramMatrix(view_of(kernels.train), engine);
  if (options.solver == Solver::conjugate_gradients || !k.held()) {
    auto [targets, trained] = ridge_targets(data.train);
    FittedData fitted = fitted_by(conjugate_gradients(k, targets.view(), product_options(options)), std::move(trained));
    if (kernels.test) fitted.test = decision(fitted.trained.fit, view_of(*kernels.test), engine);
    return fitted;
  }
  MachineOptions machine = options.machine;
  machine.check_definite = machine.check_definite && !kernels.semidefinite;
  FittedData fitted;
  fitted.kernel_seconds = kernels.seconds;
  if (options.posterior) {
    auto [targets, trained] = ridge_targets(data.train);
    GaussianProcess process(
        k, targets.view(),
        {.noise = machine.lambda / 2, .check_definite = machine.check_definite, .progress = machine.progress});
    fitted.trained = std::move(trained);
    const std::vector<double>& each = process.log_marginal_likelihood();
    if (!each.empty()) fitted.likelihood = std::accumulate(each.begin(), each.end(), 0.0);
    fitted.trained.fit = std::move(process).fit();
  } else if (fits_classes(machine.machine, data.train)) {
    fitted.trained = train_classes(k, data.train.labels, std::ssize(data.train.class_names), machine);
  } else {
    fitted.trained = train_values(k, {data.train.targets.data(), data.train.count(), 1, 1}, machine);
  }
  fitted.train = decision(fitted.trained.fit, k.matrix(), engine);
  if (kernels.test) fitted.test = decision(fitted.trained.fit, view_of(*kernels.test), engine);
  return fitted;
}

}  // namespace widelimit
