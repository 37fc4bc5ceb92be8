#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/option_reader.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/analysis/bounds/label_bound.hpp"
#include "widelimit/analysis/bounds/rademacher_bound.hpp"
#include "widelimit/base/error.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

/// Returns the fields of widelimit.BoundTerms in order.
nb::tuple terms_tuple(const BoundTerms& terms) {
  return nb::make_tuple(terms.value(), terms.empirical, terms.complexity, terms.confidence);
}

nb::object uniform_tuple(const std::optional<UniformBound>& bound) {
  return bound ? nb::object(terms_tuple(bound->terms)) : nb::none();
}

/// Returns the fields of widelimit.RademacherBound in order.
nb::tuple bound_tuple(const RademacherBound& bound) {
  return nb::make_tuple(terms_tuple(bound.textbook), uniform_tuple(bound.uniform), bound.size.norm, bound.size.trace,
                        bound.size.offset, bound.size.samples, std::string(to_string(bound.loss.loss.kind)),
                        bound.setting.lipschitz, bound.setting.range, bound.setting.delta);
}

Fit fit_of_arrays(const Table& alpha, const Numbers& bias) {
  if (bias.size() != alpha.shape(1)) fail(Code::input, "{} biases for {} outputs", bias.size(), alpha.shape(1));
  Fit fit{
      .alpha = Matrix<double>(static_cast<Index>(alpha.shape(0)), static_cast<Index>(alpha.shape(1)), Content::unset),
      .bias = {bias.data(), bias.data() + bias.size()},
      .summary = {}};
  std::copy_n(alpha.data(), alpha.size(), fit.alpha.data());
  return fit;
}

RademacherOptions bound_options(const nb::dict& given) {
  const OptionReader reader(given);
  RademacherOptions options;
  reader.take("delta", options.delta);
  reader.parse("loss", options.loss, [](const std::string& name) { return Loss{.kind = parse_loss(name)}; });
  if (options.loss) reader.take("epsilon", options.loss->epsilon);
  reader.take("clip", options.clip);
  reader.take("check_definite", options.check_definite);
  return options;
}

nb::tuple class_bound(const KernelArray& k, const Table& alpha, const Numbers& bias, const std::string& machine,
                      const std::string& scheme, Index classes, const Labels& labels, const nb::dict& given) {
  RademacherOptions options = bound_options(given);
  return bound_tuple(unlocked([&](Progress* progress) {
    options.progress = progress;
    const FittedMachine trained{.machine = parse_machine(machine),
                                .scheme = parse_scheme(scheme),
                                .classes = classes,
                                .fit = fit_of_arrays(alpha, bias)};
    return rademacher_bound(gram_of(k, std::nullopt), trained, span_of(labels), options);
  }));
}

nb::tuple value_bound(const KernelArray& k, const Table& alpha, const Numbers& bias, const Numbers& targets,
                      const nb::dict& given) {
  RademacherOptions options = bound_options(given);
  return bound_tuple(unlocked([&](Progress* progress) {
    options.progress = progress;
    return rademacher_bound(gram_of(k, std::nullopt), fit_of_arrays(alpha, bias), {targets.data(), targets.size()},
                            options);
  }));
}

/// Returns the fields of widelimit.LabelBound in order.
nb::tuple bound_of_labels(const KernelArray& h, const Numbers& y, const nb::dict& given) {
  LabelBoundOptions options;
  const OptionReader reader(given);
  reader.take("delta", options.delta);
  std::optional<int> threads;
  reader.take("threads", threads);
  const LabelBound bound = unlocked([&](Progress* progress) {
    options.progress = progress;
    return label_bound(gram_of(h, threads), {y.data(), y.size()}, options);
  });
  return nb::make_tuple(bound.norm.square, bound.a_priori, bound.scaled, bound.absolute, uniform_tuple(bound.uniform),
                        bound.trace, bound.samples, bound.delta, bound.norm.condition, bound.norm.message);
}

double shape(double flip, double norm_square, Index samples, double lambda) {
  return noisy_label_shape({flip}, norm_square, samples, lambda);
}

double clean_error(double noisy_bound, double flip) { return clean_error_bound({flip}, noisy_bound); }

}  // namespace

void bind_bounds(nb::module_& module) {
  module.def("class_bound", &class_bound, "k"_a, "alpha"_a, "bias"_a, "machine"_a, "scheme"_a, "classes"_a, "labels"_a,
             "options"_a, "Rademacher bound of a classifier.");
  module.def("value_bound", &value_bound, "k"_a, "alpha"_a, "bias"_a, "targets"_a, "options"_a,
             "Rademacher bound of a regressor.");
  module.def("label_bound", &bound_of_labels, "h"_a, "y"_a, "options"_a,
             "Generalisation bounds of kernel regression, computed from the labels and the kernel alone.");
  module.def("noisy_label_shape", &shape, "flip"_a, "norm_square"_a, "samples"_a, "lam"_a,
             "The bound of NT-L Theorem 6 with all constants set to 1.");
  module.def("clean_error_bound", &clean_error, "bound"_a, "flip"_a,
             "Error bound on clean labels, from a bound on flipped labels.");
}

}  // namespace widelimit::python
