#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/machine/ridge/marginal_likelihood.hpp"
#include "widelimit/network/weight_std.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

void take_range(const OptionReader& reader, const char* name, ParameterRange& range) {
  std::pair<double, double> ends{range.lower, range.upper};
  reader.take(name, ends);
  range = {ends.first, ends.second};
}

nb::tuple triple(const ProcessParameters& p) { return nb::make_tuple(p.w_std, p.b_std, p.noise); }

/// Returns (value, gradient, quadrature error, summary).
nb::tuple likelihood_of(const Network& network, const SampleArray& x, const Table& targets, const nb::dict& given) {
  const OptionReader reader(given);
  MarginalLikelihoodOptions options;
  reader.parse("kind", options.kind, parse_kind);
  reader.take("noise", options.noise);
  reader.take("gradient", options.gradient);
  reader.parse("memory", options.memory, parse_bytes);
  const Engine& engine = engine_of(given);
  const MarginalLikelihood found = unlocked([&](Progress* progress) {
    options.progress = progress;
    return marginal_likelihood(network, view_samples(x), view_of(targets), options, engine);
  });
  return nb::make_tuple(found.value, std::vector<double>(found.gradient.begin(), found.gradient.end()),
                        found.quadrature_error, as_tuple(found.summary));
}

/// Returns (network, parameters, value, gradient, starts, quadrature error, summary).
nb::tuple optimum_of(const Network& network, const SampleArray& x, const Table& targets, const nb::dict& given) {
  const OptionReader reader(given);
  LikelihoodSearchOptions options;
  reader.parse("kind", options.kind, parse_kind);
  reader.take("w_std", options.w_std);
  reader.take("b_std", options.b_std);
  reader.take("noise", options.noise);
  take_range(reader, "w_std_range", options.w_std_range);
  take_range(reader, "b_std_range", options.b_std_range);
  if (given.contains("noise_range") && !given["noise_range"].is_none()) {
    take_range(reader, "noise_range", options.noise_range.emplace());
  }
  reader.take("starts", options.starts);
  reader.take("seed", options.seed);
  reader.take("tolerance", options.tolerance);
  reader.take("max_iterations", options.max_iterations);
  reader.parse("memory", options.memory, parse_bytes);
  const Engine& engine = engine_of(given);
  const LikelihoodOptimum found = unlocked([&](Progress* progress) {
    options.progress = progress;
    return optimise_marginal_likelihood(network, view_samples(x), view_of(targets), options, engine);
  });
  nb::list starts;
  for (const LikelihoodStart& start : found.starts) {
    starts.append(nb::make_tuple(triple(start.from), triple(start.to), start.from_value, start.value, start.gradient,
                                 start.iterations, text(start.ending)));
  }
  return nb::make_tuple(found.network, triple(found.parameters), found.value,
                        std::vector<double>(found.gradient.begin(), found.gradient.end()), starts,
                        found.quadrature_error, as_tuple(found.summary));
}

}  // namespace

void bind_likelihood(nb::module_& module) {
  module.def("marginal_likelihood", &likelihood_of, "network"_a, "x"_a, "targets"_a, "options"_a,
             "(value, gradient, quadrature error, summary) of the log marginal likelihood of a network.");
  module.def("optimise_marginal_likelihood", &optimum_of, "network"_a, "x"_a, "targets"_a, "options"_a,
             "(network, parameters, value, gradient, starts, quadrature error, summary).");
  module.def(
      "with_std",
      [](const Network& network, double w_std, double b_std) {
        return with_std(network, {w_std, b_std});
      },
      "network"_a, "w_std"_a, "b_std"_a, "The network with these standard deviations in all weight layers.");
}

}  // namespace widelimit::python
