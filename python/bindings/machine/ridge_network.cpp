#include "widelimit/machine/ridge/ridge_network.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

using Text = std::optional<std::string>;

/// Returns ((alpha, bias, summary), decisions on the samples, residual after each iteration).
nb::tuple ridge_network(const Network& network, const SampleArray& x, const Table& targets,
                        std::optional<double> lambda, std::optional<bool> bias, const std::optional<Numbers>& weights,
                        std::optional<double> tolerance, std::optional<Index> rank, const Text& memory,
                        const Text& kind, const Text& precision, const std::string& backend,
                        std::optional<int> threads) {
  ConjugateGradientFit found = unlocked([&](Progress* progress) {
    RidgeNetworkOptions options;
    if (kind) options.kind = parse_kind(*kind);
    if (precision) options.precision = parse_precision(*precision);
    if (memory) options.memory = parse_bytes(*memory);
    if (lambda) options.solver.lambda = *lambda;
    if (bias) options.solver.bias = *bias;
    if (tolerance) options.solver.tolerance = *tolerance;
    options.solver.weights = span_of(weights);
    options.solver.rank = rank;
    options.solver.progress = progress;
    return fit_ridge(network, view_samples(x), view_of(targets), options, engine_of(backend, threads));
  });
  return nb::make_tuple(as_tuple(std::move(found.fit)), as_array(std::move(found.decisions)), found.residuals);
}

}  // namespace

void bind_ridge_network(nb::module_& module) {
  module.def("ridge_network", &ridge_network, "network"_a, "x"_a, "targets"_a, "lam"_a.none(), "bias"_a.none(),
             "weights"_a.none(), "tolerance"_a.none(), "rank"_a.none(), "memory"_a.none(), "kind"_a.none(),
             "precision"_a.none(), "backend"_a, "threads"_a.none(),
             "((alpha, bias, summary), decisions, residuals) of matrix-free ridge regression.");
}

}  // namespace widelimit::python
