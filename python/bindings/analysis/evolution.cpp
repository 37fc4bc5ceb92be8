#include "widelimit/analysis/evolution/evolution.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/finite/train_options.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/report/figures/evolution_figures.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

EvolutionOptions evolution_options(const nb::dict& given) {
  const OptionReader reader(given);
  EvolutionOptions options;
  options.train = train_options(given);
  reader.parse("memory", options.train.memory, parse_bytes);
  reader.take("at", options.at);
  reader.take("at_epochs", options.at_epochs);
  reader.take("checkpoints", options.checkpoints);
  reader.parse("outputs", options.kernel.outputs, parse_kernel_outputs);
  reader.take("projections", options.kernel.projections);
  reader.take("keep_kernels", options.keep_kernels);
  reader.take("branch_at", options.branch_at);
  bool tangent = false;
  reader.take("tangent", tangent);
  TangentOptions tangent_options;
  reader.take("tangent_samples", tangent_options.samples);
  reader.take("tangent_time", tangent_options.time);
  reader.parse("tangent_kernel", tangent_options.kernel, parse_tangent_kernel);
  reader.take("linearised_descent", tangent_options.descent);
  if (tangent || tangent_options.descent) options.tangent = tangent_options;
  bool barriers = false;
  reader.take("barriers", barriers);
  BarrierOptions barrier_options;
  reader.take("barrier_points", barrier_options.points);
  if (barriers) options.barrier = barrier_options;
  return options;
}

/// Returns checkpoints × probe × probe, or checkpoints × outputs × probe × probe if there are several kernels each.
nb::object kernels_of(const Evolution& found) {
  if (found.kernels.empty()) return nb::none();
  const Index count = std::ssize(found.kernels);
  const Index each = std::ssize(found.kernels.front());
  const Index n = found.kernels.front().front().rows();
  Matrix<double> all(count * each * n, n, Content::unset);
  double* to = all.data();
  for (const std::vector<Matrix<double>>& kernels : found.kernels) {
    for (const Matrix<double>& kernel : kernels) to = std::copy_n(kernel.data(), n * n, to);
  }
  return each == 1 ? as_array(std::move(all), {count, n, n}) : as_array(std::move(all), {count, each, n, n});
}

nb::tuple evolution_of(const Network& network, const SampleArray& x, const Table& y,
                       const std::optional<SampleArray>& test, const std::optional<Table>& test_y,
                       const SampleArray& probe, const Table& probe_y, const std::optional<Labels>& classes,
                       const nb::dict& given) {
  EvolutionOptions options = evolution_options(given);
  const Engine& engine = engine_of(given);
  TrainData data{view_samples(x), view_of(y)};
  if (test) data.test = view_samples(*test);
  if (test_y) data.test_y = view_of(*test_y);
  Probe probe_data{.x = view_samples(probe), .y = view_of(probe_y)};
  if (classes) probe_data.classes = span_of(*classes);
  Evolution found = unlocked([&](Progress* progress) {
    options.train.progress = progress;
    return evolution(network, data, probe_data, options, engine);
  });
  const std::string numbers = evolution_json(found).dump();
  nb::object kernels = kernels_of(found);
  nb::object distances = as_array(std::move(found.distances));
  const double seconds = found.seconds;
  return nb::make_tuple(numbers, distances, kernels, nb::cast(std::move(found.trained)), seconds);
}

std::vector<Index> probe_of(const std::optional<Labels>& classes, Index samples, Index count) {
  return probe_samples(classes ? span_of(*classes) : std::span<const Index>(), samples, count);
}

}  // namespace

void bind_evolution(nb::module_& module) {
  module.def("evolution", &evolution_of, "network"_a, "x"_a, "y"_a, "test"_a.none(), "test_y"_a.none(), "probe"_a,
             "probe_y"_a, "classes"_a.none(), "options"_a,
             "(numbers as JSON, distances, kernels or None, trained network, seconds).");
  module.def("probe_samples", &probe_of, "classes"_a.none(), "samples"_a, "count"_a,
             "Indices of a probe set with equally many samples of each class.");
}

}  // namespace widelimit::python
