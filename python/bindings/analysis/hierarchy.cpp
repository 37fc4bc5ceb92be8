#include "widelimit/analysis/hierarchy/kernel_at_time.hpp"
#include "widelimit/analysis/hierarchy/nth_kernel.hpp"
#include "widelimit/analysis/local_elasticity.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/remedies.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/finite/tangent/step_kernel.hpp"

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
  const OptionReader reader(given);
  NthOptions options;
  reader.take("samples", options.samples);
  reader.take("tolerance", options.tolerance);
  reader.take("max_samples", options.max_samples);
  reader.take("width", options.width);
  reader.take("seed", options.seed);
  reader.parse("memory", options.memory, parse_bytes);
  const Engine& engine = engine_of(given);
  NthKernel found = unlocked([&](Progress* progress) {
    options.progress = progress;
    return nth_kernel(parse_activation(activation), view_samples(x), {y.data(), y.size()},
                      test ? std::optional(view_samples(*test)) : std::nullopt, options, engine);
  });
  nb::dict result;
  result["train"] = as_arrays(std::move(found.train));
  result["test"] = found.test ? nb::object(as_arrays(std::move(*found.test))) : nb::none();
  result["samples"] = found.samples;
  result["relative_error"] = found.relative_error;
  result["relative_correction"] = found.relative_correction;
  result["quadrature_error"] = found.quadrature_error;
  std::vector<std::string> remarks;
  for (const NthRemark& remark : found.remarks) remarks.push_back(remark.text + arguments_of(remark.remedies));
  result["remarks"] = remarks;
  result["seconds"] = found.seconds;
  return result;
}

nb::tuple as_arrays(TimedKernel kernel) {
  const nb::object trained = kernel.trained.rows() > 0 ? as_array(std::move(kernel.trained)) : nb::none();
  return nb::make_tuple(as_array(std::move(kernel.values)), as_array(std::move(kernel.start)),
                        as_array(std::move(kernel.first)), as_array(std::move(kernel.second)), trained);
}

nb::dict kernel_in_time(const TrainedNetwork& network, const SampleArray& x, const Numbers& y,
                        const std::optional<SampleArray>& test, const nb::dict& given) {
  const OptionReader reader(given);
  KernelAtTimeOptions options;
  reader.take("time", options.time);
  reader.take("trained", options.trained);
  reader.take("tolerance", options.tolerance);
  const Engine& engine = processor(given);
  KernelAtTime found = unlocked([&](Progress* progress) {
    options.progress = progress;
    return kernel_at_time(network, view_samples(x), {y.data(), y.size()},
                          test ? std::optional(view_samples(*test)) : std::nullopt, options, engine);
  });
  nb::dict result;
  result["train"] = as_arrays(std::move(found.train));
  result["test"] = found.test ? nb::object(as_arrays(std::move(*found.test))) : nb::none();
  result["remarks"] = found.remarks;
  result["seconds"] = found.seconds;
  return result;
}

nb::tuple as_tuple(const LocalElasticity& found) { return nb::make_tuple(found.ratio, found.same, found.different); }

/// `kernel`: k must be symmetric; changes by training steps are not.
nb::tuple elasticity_of(const DenseArray& k, const Labels& labels, bool self_pairs, bool kernel) {
  return as_tuple(unlocked([&](Progress*) {
    const AnyView view = view_kernel(k);
    if (kernel) (void)GramMatrix(view).check();
    return local_elasticity(view, span_of(labels), self_pairs);
  }));
}

nb::tuple test_elasticity_of(const DenseArray& k_test, const Labels& test_labels,
                             const std::optional<Numbers>& test_diagonal, const Labels& labels,
                             const Numbers& diagonal) {
  return as_tuple(unlocked([&](Progress*) {
    return local_elasticity(view_kernel(k_test), span_of(test_labels), span_of(test_diagonal), span_of(labels),
                            {diagonal.data(), diagonal.size()});
  }));
}

nb::object steps_of(const TrainedNetwork& network, bool start, const SampleArray& x, const SampleArray& points,
                    double rate, std::optional<int> threads) {
  return as_array(unlocked([&](Progress* progress) {
    return step_kernel(network, start, view_samples(x), view_samples(points), rate, processor(threads), progress);
  }));
}

}  // namespace

void bind_hierarchy(nb::module_& module) {
  module.def("nth_kernel", &nth_of, "activation"_a, "x"_a, "y"_a, "test"_a.none(), "options"_a,
             "Kernel of the neural tangent hierarchy: a dict with (values, errors, NTK) of train and test.");
  module.def("kernel_at_time", &kernel_in_time, "network"_a, "x"_a, "y"_a, "test"_a.none(), "options"_a,
             "A dict with (values, start, first, second, trained or None) of train and test.");
  module.def("local_elasticity", &elasticity_of, "k"_a, "labels"_a, "self_pairs"_a, "kernel"_a,
             "(ratio, same, different); with kernel=True, k must be symmetric.");
  module.def("test_local_elasticity", &test_elasticity_of, "k_test"_a, "test_labels"_a, "test_diagonal"_a.none(),
             "labels"_a, "diagonal"_a, "(ratio, same, different) of test points against training samples.");
  module.def("step_kernel", &steps_of, "network"_a, "start"_a, "x"_a, "points"_a, "rate"_a, "threads"_a.none(),
             "Changes of the outputs by one step on each sample, divided by the rate: samples × points.");
}

}  // namespace widelimit::python
