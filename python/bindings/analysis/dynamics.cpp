#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/analysis/dynamics/descend.hpp"
#include "widelimit/analysis/dynamics/flow.hpp"
#include "widelimit/finite/training/targets.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

using OptionalTable = std::optional<Table>;

/// The arrays that flow and descend share; each may be None.
struct DynamicsArrays {
  const std::optional<DenseArray>& test;
  const OptionalTable& alpha;
  const OptionalTable& offset;
  const OptionalTable& test_offset;
};

/// Reads the options that flow and descend share. The arrays must outlive the result.
template <typename Options>
Options dynamics_options(const DynamicsArrays& arrays, const OptionReader& reader) {
  Options options;
  reader.parse_required("loss", options.loss.kind, parse_loss);
  reader.take("epsilon", options.loss.epsilon);
  reader.take("lam", options.lambda);
  if (arrays.test) options.record.test = view_kernel(*arrays.test);
  if (arrays.alpha) options.start.alpha = view_of(*arrays.alpha);
  if (arrays.offset) options.start.offset = view_of(*arrays.offset);
  if (arrays.test_offset) options.start.test_offset = view_of(*arrays.test_offset);
  reader.take("record", options.record.samples);
  reader.take("coefficients", options.record.coefficients);
  reader.take("check_definite", options.check_definite);
  return options;
}

/// Reshapes times × (points·outputs) to times × points × outputs.
nb::object stacked(Matrix<double> rows, Index outputs) {
  const Index times = rows.rows();
  const Index points = outputs == 0 ? 0 : rows.cols() / outputs;
  return as_array(std::move(rows), {times, points, outputs});
}

/// Returns the fields of widelimit.Trajectory in order.
nb::tuple trajectory_tuple(Trajectory path) {
  nb::list events;
  for (const FlowEvent& event : path.events) {
    events.append(nb::make_tuple(event.time, event.sample, event.output, text(event.meeting)));
  }
  const RateCheck& rate = path.rate;
  const auto check = nb::make_tuple(rate.holds, rate.optimum, rate.largest_ratio, rate.at, rate.note);
  return nb::make_tuple(as_array(std::move(path.times)), stacked(std::move(path.train), path.outputs),
                        stacked(std::move(path.test), path.outputs),
                        stacked(std::move(path.coefficients), path.outputs), as_array(std::move(path.objective)),
                        as_array(std::move(path.loss)), as_array(std::move(path.alpha)),
                        as_array(std::move(path.samples)), events, path.event_count, check, path.recursion_error,
                        path.stable_step, path.step, as_tuple(path.summary));
}

FlowMethod method_of(const std::string& name) {
  if (name != "runge-kutta") fail(Code::usage, "method '{}'; leave it out, or give 'runge-kutta'", name);
  return FlowMethod::runge_kutta;
}

nb::tuple flow_of(const KernelArray& k, const Table& targets, const Numbers& times,
                  const std::optional<DenseArray>& test, const OptionalTable& alpha, const OptionalTable& offset,
                  const OptionalTable& test_offset, const nb::dict& given) {
  const OptionReader reader(given);
  auto options = dynamics_options<FlowOptions>({test, alpha, offset, test_offset}, reader);
  options.times.assign(times.data(), times.data() + times.size());
  reader.parse("method", options.method, method_of);
  reader.take("tolerance", options.tolerance);
  reader.take("max_events", options.most_events);
  reader.take("max_steps", options.most_steps);
  const std::optional<int> threads = threads_of(given);
  return trajectory_tuple(unlocked([&](Progress* progress) {
    options.progress = progress;
    return flow(gram_of(k, threads), view_of(targets), options);
  }));
}

nb::tuple descend_of(const KernelArray& k, const Table& targets, const std::optional<DenseArray>& test,
                     const OptionalTable& alpha, const OptionalTable& offset, const OptionalTable& test_offset,
                     const nb::dict& given) {
  const OptionReader reader(given);
  auto options = dynamics_options<DescendOptions>({test, alpha, offset, test_offset}, reader);
  reader.take("rate", options.rate);
  reader.parse("schedule", options.schedule, parse_schedule);
  reader.take("steps", options.steps);
  reader.take("batch", options.batch);
  reader.take("seed", options.seed);
  reader.take("record_every", options.record_every);
  const std::optional<int> threads = threads_of(given);
  return trajectory_tuple(unlocked([&](Progress* progress) {
    options.progress = progress;
    return descend(gram_of(k, threads), view_of(targets), options);
  }));
}

nb::object targets_of(const std::string& loss, const Labels& labels, Index classes) {
  return as_array(class_targets(span_of(labels), classes, {parse_loss(loss)}));
}

}  // namespace

void bind_dynamics(nb::module_& module) {
  module.def("flow", &flow_of, "k"_a, "targets"_a, "times"_a, "test"_a.none(), "alpha"_a.none(), "offset"_a.none(),
             "test_offset"_a.none(), "options"_a,
             "Gradient flow; returns the fields of widelimit.Trajectory in order.");
  module.def("descend", &descend_of, "k"_a, "targets"_a, "test"_a.none(), "alpha"_a.none(), "offset"_a.none(),
             "test_offset"_a.none(), "options"_a,
             "Gradient descent; returns the fields of widelimit.Trajectory in order.");
  module.def("loss_targets", &targets_of, "loss"_a, "labels"_a, "classes"_a,
             "Targets of a loss for labels 0 … classes − 1: samples × outputs.");
}

}  // namespace widelimit::python
