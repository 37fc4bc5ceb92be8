#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/kernel/classical/classical.hpp"
#include "widelimit/kernel/monte_carlo.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

nb::object classical(const std::string& kernel, const SampleArray& x1, const std::optional<SampleArray>& x2,
                     const nb::dict& given) {
  Precision precision = Precision::f64;
  OptionReader(given).parse("precision", precision, parse_precision);
  const Engine& engine = engine_of(given);
  return as_array(unlocked([&](Progress* progress) {
    std::optional<SampleView> second;
    if (x2) second = view_samples(*x2);
    return classical_gram(ClassicalKernel::parse(kernel), view_samples(x1), second, precision, engine, progress);
  }));
}

/// Returns (nngp, nngp_error, ntk, ntk_error); ntk and ntk_error are None if not requested.
nb::tuple monte_carlo(const Network& network, const SampleArray& x1, const std::optional<SampleArray>& x2,
                      const nb::dict& given) {
  const OptionReader reader(given);
  MonteCarloOptions options;
  reader.take("width", options.width);
  reader.take("draws", options.draws);
  reader.take("seed", options.seed);
  reader.take("ntk", options.ntk);
  const Engine& engine = engine_of(given);
  MonteCarloGram result = unlocked([&](Progress* progress) {
    options.progress = progress;
    return monte_carlo_gram(network, view_samples(x1), view_samples(x2 ? *x2 : x1), options, engine);
  });
  const auto tangent = [&](Matrix<double>& matrix) {
    return options.ntk ? as_array(std::move(matrix)) : nb::object(nb::none());
  };
  return nb::make_tuple(as_array(std::move(result.nngp)), as_array(std::move(result.nngp_error)), tangent(result.ntk),
                        tangent(result.ntk_error));
}

}  // namespace

void bind_comparison(nb::module_& module) {
  module.def("classical_kernel", &classical, "kernel"_a, "x1"_a, "x2"_a.none(), "options"_a,
             "Gram matrix of a classical kernel.");
  module.def("monte_carlo_kernel", &monte_carlo, "network"_a, "x1"_a, "x2"_a.none(), "options"_a,
             "(nngp, nngp_error, ntk, ntk_error) of random finite networks.");
}

}  // namespace widelimit::python
