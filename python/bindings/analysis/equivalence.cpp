#include "widelimit/analysis/equivalence/equivalence.hpp"
#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/finite/train_options.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

/// Returns (slope, interval), or (None, None) without a fit.
nb::tuple slope_tuple(const std::optional<LineFit>& fit) {
  if (!fit) return nb::make_tuple(nb::none(), nb::none());
  return nb::make_tuple(fit->slope, fit->interval);
}

nb::dict results_of(Equivalence result) {
  nb::list runs;
  for (const EquivalenceRun& run : result.runs) {
    runs.append(nb::make_tuple(run.width, run.seed, run.trouble, run.difference, run.train_difference,
                               run.test_difference, run.final_difference, run.kernel_part, run.movement_part, run.loss,
                               run.machine_loss, run.weight_distance, run.seconds));
  }
  nb::list paths;
  for (EquivalencePath& path : result.paths) {
    paths.append(nb::make_tuple(path.width, as_array(std::move(path.difference)), as_array(std::move(path.loss)),
                                as_array(std::move(path.machine_loss)), as_array(std::move(path.outputs)),
                                as_array(std::move(path.machine_outputs))));
  }
  nb::list local;
  for (const WidthSlope& slope : result.local_slopes) {
    local.append(nb::make_tuple(slope.from, slope.to, slope.slope, slope.error));
  }
  nb::dict named;
  named["trouble"] = result.trouble();
  named["rate"] = result.rate;
  named["settled"] = result.straightness ? nb::object(nb::bool_(result.settled())) : nb::object(nb::none());
  named["slope"] = slope_tuple(result.slope);
  named["final_slope"] = slope_tuple(result.final_slope);
  named["kernel_slope"] = slope_tuple(result.kernel_slope);
  named["movement_slope"] = slope_tuple(result.movement_slope);
  named["runs"] = runs;
  named["paths"] = paths;
  named["local_slopes"] = local;
  named["steps"] = as_array(std::move(result.steps));
  named["watched"] = as_array(std::move(result.watched));
  named["difference"] = as_array(std::move(result.difference));
  named["kernel_part"] = as_array(std::move(result.kernel_part));
  named["movement_part"] = as_array(std::move(result.movement_part));
  return named;
}

nb::dict compared(const Network& network, const SampleArray& x, const Table& y, const std::optional<SampleArray>& test,
                  const std::vector<Index>& widths, const nb::dict& given) {
  const OptionReader reader(given);
  EquivalenceOptions options;
  options.train = train_options(given);
  const Engine& engine = engine_of(given);
  options.widths = widths;
  reader.take("seeds", options.seeds);
  reader.parse("machine_kernel", options.kernel, parse_machine_kernel);
  reader.take("parts", options.parts);
  TrainData data{view_samples(x), view_of(y)};
  if (test) data.test = view_samples(*test);
  return results_of(unlocked([&](Progress* progress) {
    options.train.progress = progress;
    return equivalence(network, data, options, engine);
  }));
}

}  // namespace

void bind_equivalence(nb::module_& module) {
  module.def("equivalence", &compared, "network"_a, "x"_a, "y"_a, "test"_a.none(), "widths"_a, "options"_a,
             "Compares finite networks with their kernel machine; results as a dict. Options as a dict, None for a "
             "default.");
}

}  // namespace widelimit::python
