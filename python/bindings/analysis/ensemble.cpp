#include "widelimit/analysis/dynamics/ensemble.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

/// Returns (mean, variance, covariance or None, quadrature error, summary) with shapes times × points × outputs,
/// times × points and times × points × points.
nb::tuple ensemble_of(const Network& network, const SampleArray& x, const Table& targets, const SampleArray& test,
                      const Numbers& times, const nb::dict& given) {
  const OptionReader reader(given);
  EnsembleOptions options;
  options.times.assign(times.data(), times.data() + times.size());
  reader.parse("kind", options.kind, parse_kind);
  reader.parse("precision", options.precision, parse_precision);
  reader.take("lam", options.lambda);
  reader.take("diag_reg", options.diag_reg);
  reader.take("covariance", options.covariance);
  reader.parse("memory", options.memory, parse_bytes);
  const Engine& engine = engine_of(given);
  Ensemble found = unlocked([&](Progress* progress) {
    options.progress = progress;
    return ensemble(network, view_samples(x), view_of(targets), view_samples(test), options, engine);
  });
  const Index count = std::ssize(found.times);
  const Index points = found.variance.cols();
  const nb::object covariance =
      options.covariance ? as_array(std::move(found.covariance), {count, points, points}) : nb::none();
  return nb::make_tuple(as_array(std::move(found.mean), {count, points, found.outputs}),
                        as_array(std::move(found.variance)), covariance, found.quadrature_error,
                        as_tuple(found.summary));
}

}  // namespace

void bind_ensemble(nb::module_& module) {
  module.def("ensemble", &ensemble_of, "network"_a, "x"_a, "targets"_a, "test"_a, "times"_a, "options"_a,
             "(mean, variance, covariance or None, quadrature error, summary) of an ensemble of infinitely wide "
             "networks trained by gradient flow.");
}

}  // namespace widelimit::python
