#include "widelimit/kernel/request.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/engine/device_matrices.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

const Network* network_of(const KernelRequest& request) { return std::get_if<Network>(&request.kernel); }

bool takes_monte_carlo(const KernelRequest& request) {
  const Network* network = network_of(request);
  if (network == nullptr || request.method == Method::exact) return false;
  return request.method == Method::monte_carlo || exactness(*network) == Exactness::monte_carlo;
}

/// Number of matrices for one pair of sample sets.
Index matrices_of(const KernelRequest& request) {
  const Index kinds = network_of(request) != nullptr && request.kind == Kind::both ? 2 : 1;
  // Monte Carlo holds mean and standard error of both kernels, and one draw of each per thread.
  return takes_monte_carlo(request) ? 8 : kinds;
}

void add(KernelResult& result, std::string name, AnyMatrix values, std::vector<Index> dims = {}) {
  result.matrices.push_back({std::move(name), std::move(values), std::move(dims)});
}

void add_gram(KernelResult& result, const std::string& prefix, Gram gram, Kind kind) {
  result.route = gram.route;
  result.quadrature_error = std::max(result.quadrature_error, gram.quadrature_error);
  if (gram.symmetric) result.semidefinite = gram.semidefinite();
  if (has(kind, Kind::nngp)) add(result, prefix + "nngp", std::move(gram.nngp));
  if (has(kind, Kind::ntk)) add(result, prefix + "ntk", std::move(gram.ntk));
}

double largest(const Matrix<double>& matrix) {
  double result = 0;
  for (Index k = 0; k < matrix.rows() * matrix.cols(); ++k) result = std::max(result, std::fabs(matrix.data()[k]));
  return result;
}

void add_estimate(KernelResult& result, const std::string& name, Matrix<double> mean, Matrix<double> error) {
  const double scale = largest(mean);
  if (scale > 0) result.standard_error = std::max(result.standard_error, largest(error) / scale);
  add(result, name, std::move(mean));
  add(result, name + "_error", std::move(error));
}

void sample_networks(const KernelRequest& request, const std::string& prefix, const SampleView& x1,
                     const SampleView& x2, const Engine& engine, KernelResult& result) {
  MonteCarloOptions options = request.monte_carlo;
  options.ntk = has(request.kind, Kind::ntk);
  options.progress = request.progress;
  MonteCarloGram gram = monte_carlo_gram(*network_of(request), x1, x2, options, engine);
  result.monte_carlo = true;
  result.route = fmt::format("Monte Carlo, {} random networks of width {}, double", options.draws, options.width);
  if (has(request.kind, Kind::nngp)) {
    add_estimate(result, prefix + "nngp", std::move(gram.nngp), std::move(gram.nngp_error));
  }
  if (options.ntk) add_estimate(result, prefix + "ntk", std::move(gram.ntk), std::move(gram.ntk_error));
}

/// Computes x1 × x2; without x2, x1 with itself.
void fill_gram(const KernelRequest& request, const std::string& prefix, const SampleView& x1,
               const std::optional<SampleView>& x2, const Engine& engine, KernelResult& result) {
  const auto n1 = static_cast<double>(x1.count());
  result.pairs += x2 ? n1 * static_cast<double>(x2->count()) : n1 * (n1 + 1) / 2;
  if (const auto* classical = std::get_if<ClassicalKernel>(&request.kernel)) {
    result.route = classical_route(*classical, x1.sparse() != nullptr, engine);
    add(result, prefix + "kernel", classical_gram(*classical, x1, x2, request.precision, engine, request.progress));
    return;
  }
  if (takes_monte_carlo(request)) return sample_networks(request, prefix, x1, x2.value_or(x1), engine, result);
  const GramOptions options{request.kind, request.precision, request.progress};
  const Network& network = *network_of(request);
  add_gram(result, prefix, x2 ? gram(network, x1, *x2, options, engine) : gram(network, x1, options, engine),
           request.kind);
}

void fill_diagonal(const KernelRequest& request, const SampleView& train, const Engine& engine, KernelResult& result) {
  const auto [both, error] = diagonal(*network_of(request), train, engine, request.precision, request.progress);
  result.quadrature_error = error;
  const auto row = [&, &both = both](Index k) {
    Matrix<double> values(1, both.cols());
    std::copy_n(both.view().row(k), both.cols(), values.data());
    return values;
  };
  const std::vector<Index> dims{both.cols()};
  result.pairs = static_cast<double>(train.count());
  if (has(request.kind, Kind::nngp)) add(result, "diagonal_nngp", row(0), dims);
  if (has(request.kind, Kind::ntk)) add(result, "diagonal_ntk", row(1), dims);
}

/// Concatenates the matrices of all layers, since a file stores them as one array.
template <typename T>
Matrix<T> stacked(const std::vector<AnyMatrix>& layers, Index n) {
  Matrix<T> stack(std::ssize(layers) * n, n);
  for (Index l = 0; l < std::ssize(layers); ++l) {
    const auto& layer = std::get<Matrix<T>>(layers[static_cast<std::size_t>(l)]);
    std::copy_n(layer.data(), n * n, stack.view().row(l * n));
  }
  return stack;
}

void fill_layers(const KernelRequest& request, const SampleView& train, const Engine& engine, KernelResult& result) {
  LayerContributions found =
      layer_contributions(*network_of(request), train, {Kind::ntk, request.precision, request.progress}, engine);
  const Index n = train.count();
  const std::vector<Index> dims{std::ssize(found.layers), n, n};
  result.layers = std::move(found.layers);
  result.quadrature_error = found.quadrature_error;
  AnyMatrix stack = request.precision == Precision::f32 ? AnyMatrix(stacked<float>(found.ntk, n))
                                                        : AnyMatrix(stacked<double>(found.ntk, n));
  add(result, "layer_ntk", std::move(stack), dims);
}

void fill_sweep(const KernelRequest& request, const SampleView& train, const Engine& engine, KernelResult& result) {
  Sweep found = sweep(*network_of(request), train, {Kind::ntk, request.precision, request.progress}, engine);
  const Index depths = found.hidden_layers + 1;
  result.quadrature_error = found.quadrature_error;
  add(result, "sweep", std::move(found.values), {depths, depths, found.count, found.count});
}

RecipeOutputs recipe_outputs(const KernelRequest& request) {
  if (request.quantity == KernelQuantity::sweep) return RecipeOutputs::sweep;
  return request.quantity == KernelQuantity::layers ? RecipeOutputs::per_layer : RecipeOutputs::both;
}

void fill_special(const KernelRequest& request, const SampleView& train, const Engine& engine, KernelResult& result) {
  const auto n = static_cast<double>(train.count());
  result.pairs = n * (n + 1) / 2;
  if (request.quantity == KernelQuantity::diagonal) fill_diagonal(request, train, engine, result);
  if (request.quantity == KernelQuantity::layers) fill_layers(request, train, engine, result);
  if (request.quantity == KernelQuantity::sweep) fill_sweep(request, train, engine, result);
  result.route =
      engine.kernels().route(lower(*network_of(request), train.shape, recipe_outputs(request)), request.precision);
}

}  // namespace

Method parse_method(std::string_view text) {
  if (text == "auto") return Method::automatic;
  if (text == "exact") return Method::exact;
  if (text == "monte-carlo") return Method::monte_carlo;
  fail(Code::usage, "method '{}' is unknown; choose auto, exact or monte-carlo", text);
}

void KernelRequest::validate(bool has_test) const {
  if (quantity == KernelQuantity::gram) return;
  if (network_of(*this) == nullptr) {
    fail(Code::usage, "sweep, layers and diagonal need a network, not a classical kernel");
  }
  if (has_test) fail(Code::usage, "sweep, layers and diagonal use the training set only; remove the test set");
  if (takes_monte_carlo(*this)) {
    fail(Code::usage, "sweep, layers and diagonal need closed formulas and cannot be computed by Monte Carlo");
  }
}

bool by_formulas(const KernelRequest& request) { return network_of(request) != nullptr && !takes_monte_carlo(request); }

const AnyMatrix* KernelResult::find(std::string_view name) const {
  const auto found =
      std::find_if(matrices.begin(), matrices.end(), [&](const NamedMatrix& matrix) { return matrix.name == name; });
  return found == matrices.end() ? nullptr : &found->values;
}

double result_bytes(const KernelRequest& request, Index train, Index test, const Shape& shape) {
  const double entry = request.precision == Precision::f32 && !takes_monte_carlo(request) ? 4.0 : 8.0;
  const auto n = static_cast<double>(train);
  switch (request.quantity) {
    case KernelQuantity::diagonal:
      return 4 * n * entry;
    case KernelQuantity::layers:  // the matrices of the layers and their concatenation
      return 2 * static_cast<double>(lower(*network_of(request), shape, RecipeOutputs::per_layer).outputs) * n * n *
             entry;
    case KernelQuantity::sweep: {
      const auto depths = static_cast<double>(lower(*network_of(request), shape, RecipeOutputs::sweep).channels);
      return depths * depths * n * n * entry;
    }
    case KernelQuantity::gram:
      break;
  }
  return static_cast<double>(matrices_of(request)) * n * static_cast<double>(train + test) * entry;
}

KernelResult compute_kernel(const KernelRequest& request, const Dataset& train, const std::optional<Dataset>& test,
                            const Engine& engine) {
  return compute_kernel(request, train.view(), test ? std::optional(test->view()) : std::nullopt, engine);
}

KernelResult compute_kernel(const KernelRequest& request, const SampleView& train,
                            const std::optional<SampleView>& test, const Engine& engine) {
  request.validate(test.has_value());
  require_memory(result_bytes(request, train.count(), test ? test->count() : 0, train.shape), request.memory,
                 fmt::format("this kernel of {} samples", train.count() + (test ? test->count() : 0)),
                 "write the Gram matrix of a network to an .h5 file tile by tile, use fewer samples or single "
                 "precision, or allow more");
  const DeviceMemoryLimit limit(engine, request.memory);
  const auto start = Clock::now();
  KernelResult result;
  if (request.quantity == KernelQuantity::gram) {
    fill_gram(request, "", train, std::nullopt, engine, result);
    if (test) fill_gram(request, "test_", *test, train, engine, result);
  } else {
    fill_special(request, train, engine, result);
  }
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace widelimit
