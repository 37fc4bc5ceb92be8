#include "widelimit/analysis/hierarchy/nth_kernel.hpp"

#include "arrays.hpp"
#include "asked_options.hpp"
#include "fits.hpp"
#include "rooms.hpp"
#include "unlocked.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/engine/select.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

nb::tuple as_arrays(NthMatrix matrix) {
  return nb::make_tuple(as_array(std::move(matrix.values)), as_array(std::move(matrix.error)),
                        as_array(std::move(matrix.ntk)));
}

nb::dict nth_of(const std::string& activation, const SampleArray& x, const Numbers& y,
                const std::optional<SampleArray>& test, const nb::dict& given) {
  const AskedOptions asked(given);
  NthOptions options;
  asked.take("samples", options.samples);
  asked.take("tolerance", options.tolerance);
  asked.take("max_samples", options.max_samples);
  asked.take("width", options.width);
  asked.take("seed", options.seed);
  asked.parse("memory", options.memory, [](const std::string& text) { return parse_bytes(text); });
  std::string backend = "cpu";
  EngineOptions how;
  asked.take("backend", backend);
  asked.take("threads", how.threads);
  NthKernel found = unlocked([&](Progress* progress) {
    options.progress = progress;
    return nth_kernel(parse_activation(activation), view_samples(x), {y.data(), y.size()},
                      test ? std::optional(view_samples(*test)) : std::nullopt, options, *make_engine(backend, how));
  });
  nb::dict result;
  result["train"] = as_arrays(std::move(found.train));
  result["test"] = found.test ? nb::object(as_arrays(std::move(*found.test))) : nb::none();
  result["samples"] = found.samples;
  result["relative_error"] = found.relative_error;
  result["relative_correction"] = found.relative_correction;
  result["quadrature_error"] = found.quadrature_error;
  result["remarks"] = found.remarks;
  result["seconds"] = found.seconds;
  return result;
}

}  // namespace

void bind_hierarchy(nb::module_& module) {
  module.def("nth_kernel", &nth_of, "activation"_a, "x"_a, "y"_a, "test"_a.none(), "options"_a,
             "Kernel of the neural tangent hierarchy: (values, errors, NTK) of train and test by name.");
}

}  // namespace widelimit::python
