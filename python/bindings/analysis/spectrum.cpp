#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/analysis/spectrum/label_choice.hpp"
#include "widelimit/analysis/spectrum/label_spectrum.hpp"
#include "widelimit/analysis/spectrum/mode_dynamics.hpp"
#include "widelimit/base/memory.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

KernelSpectrum decomposed(const KernelArray& k, std::optional<int> threads) {
  return unlocked(
      [&](Progress* progress) { return KernelSpectrum(gram_of(k, threads), {.memory = {}, .progress = progress}); });
}

nb::object targets_of(const std::string& choice, const std::optional<Labels>& classes_of, Index classes,
                      const std::optional<Table>& values, const KernelSpectrum& spectrum,
                      std::optional<std::uint64_t> seed) {
  GivenLabels given;
  if (classes_of) given.classes_of = span_of(*classes_of);
  given.classes = classes;
  if (values) given.values = view_of(*values);
  return as_array(label_targets(parse_label_choice(choice), given, spectrum, seed.value_or(0)));
}

nb::object losses_at(const LabelSpectrum& labels, const Numbers& times) {
  std::vector<double> losses;
  for (std::size_t i = 0; i < times.size(); ++i) losses.push_back(labels.loss(times.data()[i]));
  return as_array(std::move(losses));
}

nb::object losses_after(const LabelSpectrum& labels, const Labels& steps, double rate) {
  std::vector<double> losses;
  for (const Index step : span_of(steps)) losses.push_back(labels.loss_after(step, rate));
  return as_array(std::move(losses));
}

nb::dict trained_modes(const Network& network, const SampleArray& x, const Table& y, const KernelSpectrum& spectrum,
                       const nb::dict& given) {
  const OptionReader reader(given);
  ModeOptions options;
  reader.take("width", options.width);
  reader.take("steps", options.steps);
  reader.take("rate", options.rate);
  reader.take("records", options.records);
  reader.take("fitted_to", options.fitted_to);
  reader.take("seed", options.seed);
  reader.parse("precision", options.precision, [](const std::string& text) { return parse_precision(text); });
  reader.parse("memory", options.memory, parse_bytes);
  const Engine& engine = engine_of(given);
  ModeDynamics found = unlocked([&](Progress* progress) {
    options.progress = progress;
    return mode_dynamics(network, view_samples(x), view_of(y), spectrum, options, engine);
  });
  nb::list rates;
  for (const ModeRate& rate : found.rates) {
    rates.append(nb::make_tuple(rate.mode, rate.share, rate.eigenvalue, rate.fitted, rate.interval, rate.points));
  }
  nb::dict result;
  result["trouble"] = found.summary.finished() ? std::string() : found.summary.message;
  result["width"] = found.width;
  result["rate"] = found.rate;
  result["steps"] = as_array(std::move(found.steps));
  result["measured"] = as_array(std::move(found.measured));
  result["predicted"] = as_array(std::move(found.predicted));
  result["loss"] = as_array(std::move(found.loss));
  result["predicted_loss"] = as_array(std::move(found.predicted_loss));
  result["distance"] = as_array(std::move(found.distance));
  result["rates"] = rates;
  result["largest_difference"] = found.largest_difference;
  return result;
}

}  // namespace

void bind_spectrum(nb::module_& module) {
  nb::class_<KernelSpectrum>(module, "KernelSpectrum", "Eigendecomposition K = Σ λᵢ vᵢ vᵢᵀ of a Gram matrix.")
      .def_prop_ro("samples", &KernelSpectrum::samples)
      .def_prop_ro("rank", &KernelSpectrum::rank)
      .def_prop_ro("noise", &KernelSpectrum::noise)
      .def_prop_ro("condition", &KernelSpectrum::condition)
      .def_prop_ro("stable_rate", &KernelSpectrum::stable_rate)
      .def("eigenvalues", [](const KernelSpectrum& self) { return as_array(self.eigenvalues()); })
      .def(
          "eigenvectors", [](const KernelSpectrum& self) { return as_array(self.eigenvectors()); },
          "Eigenvector vᵢ in row i.")
      .def("effective_dimension", &KernelSpectrum::effective_dimension, "ridge"_a);
  nb::class_<LabelSpectrum>(module, "LabelSpectrum", "Labels in the eigenbasis of a kernel.")
      .def_static(
          "of", [](const KernelSpectrum& spectrum, const Table& y) { return LabelSpectrum(spectrum, view_of(y)); },
          "spectrum"_a, "y"_a)
      .def_prop_ro("floor", &LabelSpectrum::floor)
      .def_prop_ro("total", &LabelSpectrum::total)
      .def_prop_ro("norm", &LabelSpectrum::norm)
      .def("projections",
           [](const LabelSpectrum& self) {
             Matrix<double> copy(self.projections().rows(), self.projections().cols(), Content::unset);
             std::copy_n(self.projections().data(), copy.rows() * copy.cols(), copy.data());
             return as_array(std::move(copy));
           })
      .def("energy", [](const LabelSpectrum& self) { return as_array(self.energy()); })
      .def("cumulative_energy", [](const LabelSpectrum& self) { return as_array(self.cumulative_energy()); })
      .def("loss", &losses_at, "times"_a)
      .def("loss_after", &losses_after, "steps"_a, "rate"_a)
      .def("time_to", &LabelSpectrum::time_to, "epsilon"_a)
      .def("steps_to", &LabelSpectrum::steps_to, "epsilon"_a, "rate"_a);
  module.def("kernel_spectrum", &decomposed, "k"_a, "threads"_a.none());
  module.def("label_targets", &targets_of, "choice"_a, "classes_of"_a.none(), "classes"_a, "values"_a.none(),
             "spectrum"_a, "seed"_a.none(), "Targets for the label choice true, random, random:SHARE or worst.");
  module.def("mode_dynamics", &trained_modes, "network"_a, "x"_a, "y"_a, "spectrum"_a, "options"_a,
             "Errors of a network along each eigendirection, as a dict.");
}

}  // namespace widelimit::python
