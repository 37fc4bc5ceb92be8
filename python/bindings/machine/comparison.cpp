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
                     const std::optional<std::string>& precision, const std::string& backend,
                     std::optional<int> threads) {
  return as_array(unlocked([&](Progress* progress) {
    std::optional<SampleView> second;
    if (x2) second = view_samples(*x2);
    return classical_gram(ClassicalKernel::parse(kernel), view_samples(x1), second,
                          precision ? parse_precision(*precision) : Precision::f64, engine_of(backend, threads),
                          progress);
  }));
}

/// Returns (nngp, nngp_error, ntk, ntk_error); ntk and ntk_error are None if not requested.
nb::tuple monte_carlo(const Network& network, const SampleArray& x1, const std::optional<SampleArray>& x2,
                      std::optional<Index> width, std::optional<Index> draws, std::optional<std::uint64_t> seed,
                      std::optional<bool> ntk, const std::string& backend, std::optional<int> threads) {
  MonteCarloOptions options;
  if (width) options.width = *width;
  if (draws) options.draws = *draws;
  if (seed) options.seed = *seed;
  if (ntk) options.ntk = *ntk;
  MonteCarloGram result = unlocked([&](Progress* progress) {
    options.progress = progress;
    return monte_carlo_gram(network, view_samples(x1), view_samples(x2 ? *x2 : x1), options,
                            engine_of(backend, threads));
  });
  const auto tangent = [&](Matrix<double>& matrix) {
    return options.ntk ? as_array(std::move(matrix)) : nb::object(nb::none());
  };
  return nb::make_tuple(as_array(std::move(result.nngp)), as_array(std::move(result.nngp_error)), tangent(result.ntk),
                        tangent(result.ntk_error));
}

}  // namespace

void bind_comparison(nb::module_& module) {
  module.def("classical_kernel", &classical, "kernel"_a, "x1"_a, "x2"_a.none(), "precision"_a.none(), "backend"_a,
             "threads"_a.none(), "Gram matrix of a classical kernel.");
  module.def("monte_carlo_kernel", &monte_carlo, "network"_a, "x1"_a, "x2"_a.none(), "width"_a.none(), "draws"_a.none(),
             "seed"_a.none(), "ntk"_a.none(), "backend"_a, "threads"_a.none(),
             "(nngp, nngp_error, ntk, ntk_error) of random finite networks.");
}

}  // namespace widelimit::python
