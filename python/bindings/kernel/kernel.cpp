#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/kernel/gram.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

using Text = std::optional<std::string>;

GramOptions gram_options(const nb::dict& given) {
  const OptionReader reader(given);
  GramOptions options;
  reader.parse("kind", options.kind, parse_kind);
  reader.parse("precision", options.precision, parse_precision);
  return options;
}

/// Returns the fields of Gram in order; a matrix that was not requested is None.
nb::tuple grams(const Network& network, const SampleArray& x1, const std::optional<SampleArray>& x2,
                const nb::dict& given) {
  GramOptions options = gram_options(given);
  const Engine& engine = engine_of(given);
  Gram result = unlocked([&](Progress* progress) {
    options.progress = progress;
    if (!x2) return gram(network, view_samples(x1), options, engine);
    return gram(network, view_samples(x1), view_samples(*x2), options, engine);
  });
  return nb::make_tuple(has(options.kind, Kind::nngp) ? as_array(std::move(result.nngp)) : nb::none(),
                        has(options.kind, Kind::ntk) ? as_array(std::move(result.ntk)) : nb::none(), result.symmetric,
                        result.route, result.quadrature_error, result.seconds);
}

/// Like grams, but the matrices stay on the device.
nb::tuple device_grams(const Network& network, const SampleArray& x1, const std::optional<SampleArray>& x2,
                       const nb::dict& given) {
  GramOptions options = gram_options(given);
  const Engine& engine = engine_of(given);
  const EngineGram found = unlocked([&](Progress* progress) {
    if (device_matrices(engine) == nullptr) {
      fail(Code::input, "out='device' needs a back end with device memory, e.g. cuda:0; {} uses host memory",
           engine.name());
    }
    options.progress = progress;
    const std::optional<SampleView> second = x2 ? std::optional(view_samples(*x2)) : std::nullopt;
    return engine_gram(network, view_samples(x1), second, options, engine);
  });
  const auto array = [&](const EngineMatrix& k) { return k.empty() ? nb::none() : nb::cast(DeviceArray(k, engine)); };
  return nb::make_tuple(array(found.nngp), array(found.ntk), found.symmetric, found.route, found.quadrature_error,
                        found.seconds);
}

nb::tuple diagonals(const Network& network, const SampleArray& x, const nb::dict& given) {
  const Precision precision = gram_options(given).precision;
  const Engine& engine = engine_of(given);
  Diagonal result =
      unlocked([&](Progress* progress) { return diagonal(network, view_samples(x), engine, precision, progress); });
  return nb::make_tuple(as_array(std::move(result.values)), result.quadrature_error);
}

nb::tuple contributions(const Network& network, const SampleArray& x, const nb::dict& given) {
  GramOptions options = gram_options(given);
  const Engine& engine = engine_of(given);
  LayerContributions result = unlocked([&](Progress* progress) {
    options.progress = progress;
    return layer_contributions(network, view_samples(x), options, engine);
  });
  nb::list arrays;
  for (AnyMatrix& matrix : result.ntk) arrays.append(as_array(std::move(matrix)));
  return nb::make_tuple(result.layers, arrays, result.quadrature_error);
}

nb::tuple sweeps(const Network& network, const SampleArray& x, const nb::dict& given) {
  GramOptions options = gram_options(given);
  const Engine& engine = engine_of(given);
  Sweep result = unlocked([&](Progress* progress) {
    options.progress = progress;
    return sweep(network, view_samples(x), options, engine);
  });
  const Index depths = result.hidden_layers + 1;
  return nb::make_tuple(as_array(std::move(result.values), {depths, depths, result.count, result.count}),
                        result.quadrature_error);
}

std::string zero_warning(const Network& network, const Text& kind) {
  return zero_kernel_warning(network, kind ? parse_kind(*kind) : GramOptions{}.kind);
}

std::string warning(double error, const Text& precision) {
  return quadrature_warning(error, precision ? parse_precision(*precision) : GramOptions{}.precision);
}

}  // namespace

void bind_kernel(nb::module_& module) {
  module.def("gram", &grams, "network"_a, "x1"_a, "x2"_a.none(), "options"_a,
             "(nngp, ntk, symmetric, route, quadrature_error, seconds); a matrix that kind does not request is None.");
  module.def("device_gram", &device_grams, "network"_a, "x1"_a, "x2"_a.none(), "options"_a,
             "Like gram, but the matrices stay on the device.");
  module.def("diagonal", &diagonals, "network"_a, "x"_a, "options"_a,
             "(diagonals of nngp and ntk, 2 × n; quadrature_error).");
  module.def("layer_contributions", &contributions, "network"_a, "x"_a, "options"_a,
             "(texts of the weight layers, contribution of each layer to the NTK, quadrature_error).");
  module.def("sweep", &sweeps, "network"_a, "x"_a, "options"_a,
             "(NTK by depth and number of frozen layers, (L+1) × (L+1) × n × n; quadrature_error).");
  module.def("zero_kernel_warning", &zero_warning, "network"_a, "kind"_a.none(),
             "Warning for a network without trained layers, whose NTK is 0; empty otherwise.");
  module.def("quadrature_warning", &warning, "error"_a, "precision"_a.none(),
             "Warning for this quadrature error; empty if it is below the guarantee of the precision.");
}

}  // namespace widelimit::python
