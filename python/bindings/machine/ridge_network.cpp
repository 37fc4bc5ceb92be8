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

/// Returns ((alpha, bias, summary), decisions on the samples, residual after each iteration).
nb::tuple ridge_network(const Network& network, const SampleArray& x, const Table& targets,
                        const std::optional<Numbers>& weights, const nb::dict& given) {
  const OptionReader reader(given);
  RidgeNetworkOptions options;
  reader.parse("kind", options.kind, parse_kind);
  reader.parse("precision", options.precision, parse_precision);
  reader.parse("memory", options.memory, parse_bytes);
  reader.take("lam", options.solver.lambda);
  reader.take("bias", options.solver.bias);
  reader.take("tolerance", options.solver.tolerance);
  reader.take("rank", options.solver.rank);
  options.solver.weights = span_of(weights);
  const Engine& engine = engine_of(given);
  ConjugateGradientFit found = unlocked([&](Progress* progress) {
    options.solver.progress = progress;
    return fit_ridge(network, view_samples(x), view_of(targets), options, engine);
  });
  return nb::make_tuple(as_tuple(std::move(found.fit)), as_array(std::move(found.decisions)), found.residuals);
}

}  // namespace

void bind_ridge_network(nb::module_& module) {
  module.def("ridge_network", &ridge_network, "network"_a, "x"_a, "targets"_a, "weights"_a.none(), "options"_a,
             "((alpha, bias, summary), decisions, residuals) of matrix-free ridge regression.");
}

}  // namespace widelimit::python
