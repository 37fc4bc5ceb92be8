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

/// Options from Python; None keeps the default of the library.
struct KernelArguments {
  Text kind;
  Text precision;
  std::string backend;
  std::optional<int> threads;

  [[nodiscard]] GramOptions options(Progress* progress) const {
    GramOptions result;
    if (kind) result.kind = parse_kind(*kind);
    if (precision) result.precision = parse_precision(*precision);
    result.progress = progress;
    return result;
  }
  [[nodiscard]] const Engine& engine() const { return engine_of(backend, threads); }
};

/// Returns the fields of Gram in order; a matrix that was not requested is None.
nb::tuple grams(const Network& network, const SampleArray& x1, const std::optional<SampleArray>& x2, const Text& kind,
                const Text& precision, const std::string& backend, std::optional<int> threads) {
  const KernelArguments arguments{kind, precision, backend, threads};
  Kind kinds{};
  Gram result = unlocked([&](Progress* progress) {
    const GramOptions options = arguments.options(progress);
    kinds = options.kind;
    if (!x2) return gram(network, view_samples(x1), options, arguments.engine());
    return gram(network, view_samples(x1), view_samples(*x2), options, arguments.engine());
  });
  return nb::make_tuple(has(kinds, Kind::nngp) ? as_array(std::move(result.nngp)) : nb::none(),
                        has(kinds, Kind::ntk) ? as_array(std::move(result.ntk)) : nb::none(), result.symmetric,
                        result.route, result.quadrature_error, result.seconds);
}

/// Like grams, but the matrices stay on the device.
nb::tuple device_grams(const Network& network, const SampleArray& x1, const std::optional<SampleArray>& x2,
                       const Text& kind, const Text& precision, const std::string& backend,
                       std::optional<int> threads) {
  const KernelArguments arguments{kind, precision, backend, threads};
  const EngineGram found = unlocked([&](Progress* progress) {
    if (device_matrices(arguments.engine()) == nullptr) {
      fail(Code::input, "out='device' needs a back end with device memory, e.g. cuda:0; {} uses host memory",
           arguments.engine().name());
    }
    const std::optional<SampleView> second = x2 ? std::optional(view_samples(*x2)) : std::nullopt;
    return engine_gram(network, view_samples(x1), second, arguments.options(progress), arguments.engine());
  });
  const auto array = [&](const EngineMatrix& k) {
    return k.empty() ? nb::none() : nb::cast(DeviceArray(k, arguments.engine()));
  };
  return nb::make_tuple(array(found.nngp), array(found.ntk), found.symmetric, found.route, found.quadrature_error,
                        found.seconds);
}

nb::tuple diagonals(const Network& network, const SampleArray& x, const Text& precision, const std::string& backend,
                    std::optional<int> threads) {
  const KernelArguments arguments{std::nullopt, precision, backend, threads};
  Diagonal result = unlocked([&](Progress* progress) {
    return diagonal(network, view_samples(x), arguments.engine(), arguments.options(progress).precision, progress);
  });
  return nb::make_tuple(as_array(std::move(result.values)), result.quadrature_error);
}

nb::tuple contributions(const Network& network, const SampleArray& x, const Text& precision, const std::string& backend,
                        std::optional<int> threads) {
  const KernelArguments arguments{std::nullopt, precision, backend, threads};
  LayerContributions result = unlocked([&](Progress* progress) {
    return layer_contributions(network, view_samples(x), arguments.options(progress), arguments.engine());
  });
  nb::list arrays;
  for (AnyMatrix& matrix : result.ntk) arrays.append(as_array(std::move(matrix)));
  return nb::make_tuple(result.layers, arrays, result.quadrature_error);
}

nb::tuple sweeps(const Network& network, const SampleArray& x, const Text& precision, const std::string& backend,
                 std::optional<int> threads) {
  const KernelArguments arguments{std::nullopt, precision, backend, threads};
  Sweep result = unlocked([&](Progress* progress) {
    return sweep(network, view_samples(x), arguments.options(progress), arguments.engine());
  });
  const Index depths = result.hidden_layers + 1;
  return nb::make_tuple(as_array(std::move(result.values), {depths, depths, result.count, result.count}),
                        result.quadrature_error);
}

std::string zero_warning(const Network& network, const Text& kind) {
  return zero_kernel_warning(network, KernelArguments{kind, std::nullopt, "", std::nullopt}.options(nullptr).kind);
}

std::string warning(double error, const Text& precision) {
  return quadrature_warning(error,
                            KernelArguments{std::nullopt, precision, "", std::nullopt}.options(nullptr).precision);
}

}  // namespace

void bind_kernel(nb::module_& module) {
  module.def("gram", &grams, "network"_a, "x1"_a, "x2"_a.none(), "kind"_a.none(), "precision"_a.none(), "backend"_a,
             "threads"_a.none(),
             "(nngp, ntk, symmetric, route, quadrature_error, seconds); a matrix that kind does not request is None.");
  module.def("device_gram", &device_grams, "network"_a, "x1"_a, "x2"_a.none(), "kind"_a.none(), "precision"_a.none(),
             "backend"_a, "threads"_a.none(), "Like gram, but the matrices stay on the device.");
  module.def("diagonal", &diagonals, "network"_a, "x"_a, "precision"_a.none(), "backend"_a, "threads"_a.none(),
             "(diagonals of nngp and ntk, 2 × n; quadrature_error).");
  module.def("layer_contributions", &contributions, "network"_a, "x"_a, "precision"_a.none(), "backend"_a,
             "threads"_a.none(),
             "(texts of the weight layers, contribution of each layer to the NTK, quadrature_error).");
  module.def("sweep", &sweeps, "network"_a, "x"_a, "precision"_a.none(), "backend"_a, "threads"_a.none(),
             "(NTK by depth and number of frozen layers, (L+1) × (L+1) × n × n; quadrature_error).");
  module.def("zero_kernel_warning", &zero_warning, "network"_a, "kind"_a.none(),
             "Warning for a network without trained layers, whose NTK is 0; empty otherwise.");
  module.def("quadrature_warning", &warning, "error"_a, "precision"_a.none(),
             "Warning for this quadrature error; empty if it is below the guarantee of the precision.");
}

}  // namespace widelimit::python
