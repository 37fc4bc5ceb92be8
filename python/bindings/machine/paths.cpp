#include "python/bindings/base/arrays.hpp"
#include "python/bindings/base/engines.hpp"
#include "python/bindings/base/unlocked.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"
#include "widelimit/machine/multiclass.hpp"
#include "widelimit/machine/ridge/ridge_path.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

/// Returns (points, best, best_classifier); a point is ((alpha, bias, summary), left_out, loo_error,
/// loo_misclassified).
nb::tuple ridge(const KernelArray& k, const Table& targets, const Numbers& lambdas,
                const std::optional<Numbers>& weights, const nb::dict& given) {
  RidgePathOptions options;
  OptionReader(given).take("bias", options.bias);
  options.weights = span_of(weights);
  const std::optional<int> threads = threads_of(given);
  RidgePath path = unlocked([&](Progress* progress) {
    options.progress = progress;
    return ridge_path(gram_of(k, threads), view_of(targets), span_of(lambdas), options);
  });
  const std::optional<Index> best = path.best();
  const std::optional<Index> best_classifier = path.best_classifier();
  nb::list points;
  for (RidgePoint& point : path.points) {
    points.append(nb::make_tuple(as_tuple(std::move(point.fit)), as_array(std::move(point.left_out)), point.loo_error,
                                 point.loo_misclassified));
  }
  return nb::make_tuple(points, best, best_classifier);
}

SvmLoss loss_of(const std::string& machine) {
  switch (parse_machine(machine)) {
    case Machine::svm:
      return SvmLoss::hinge;
    case Machine::svm2:
      return SvmLoss::squared_hinge;
    default:
      fail(Code::usage, "no regularisation path for machine {}; choose svm or svm2", machine);
  }
}

Scheme scheme_of(const std::optional<Scheme>& scheme, Index classes) {
  const Scheme several = scheme.value_or(Scheme::one_vs_one);
  if (!is_pairwise(several) && several != Scheme::one_vs_rest) {
    fail(Code::usage, "a support vector machine has no scheme '{}'; choose one-vs-one, one-vs-one-first or one-vs-rest",
         to_string(several));
  }
  return classes == 2 ? Scheme::sign : several;
}

std::vector<Fit> fit_path(const GramMatrix& k, std::span<const Index> labels, Index classes,
                          std::span<const double> lambdas, Scheme scheme, const SvmOptions& options, SvmLoss loss) {
  if (is_pairwise(scheme)) return one_vs_one_path(k, labels, classes, lambdas, options, loss);
  if (scheme == Scheme::one_vs_rest) return one_vs_rest_path(k, labels, classes, lambdas, options, loss);
  const Matrix<double> signs = class_targets(labels, classes);
  return svm_path(k, {signs.data(), labels.size()}, lambdas, options, loss);
}

/// Returns (scheme, [(alpha, bias, summary) of each λ]).
nb::tuple svm(const KernelArray& k, const Labels& labels, Index classes, const Numbers& lambdas,
              const std::optional<Numbers>& weights, const nb::dict& given) {
  const OptionReader reader(given);
  SvmOptions options;
  reader.take("bias", options.bias);
  reader.take("tolerance", options.tolerance);
  reader.take("check_definite", options.check_definite);
  options.weights = span_of(weights);
  SvmLoss loss = SvmLoss::hinge;
  reader.parse_required("machine", loss, loss_of);
  std::optional<Scheme> scheme;
  reader.parse("scheme", scheme, parse_scheme);
  const Scheme used = scheme_of(scheme, classes);
  const std::optional<int> threads = threads_of(given);
  std::vector<Fit> fits = unlocked([&](Progress* progress) {
    options.progress = progress;
    return fit_path(gram_of(k, threads), span_of(labels), classes, span_of(lambdas), used, options, loss);
  });
  nb::list list;
  for (Fit& fit : fits) list.append(as_tuple(std::move(fit)));
  return nb::make_tuple(std::string(to_string(used)), list);
}

}  // namespace

void bind_paths(nb::module_& module) {
  module.def("ridge_path", &ridge, "k"_a, "targets"_a, "lams"_a, "weights"_a.none(), "options"_a,
             "([((alpha, bias, summary), left_out, loo_error, loo_misclassified) of each λ], best, best_classifier).");
  module.def("svm_path", &svm, "k"_a, "labels"_a, "classes"_a, "lams"_a, "weights"_a.none(), "options"_a,
             "(scheme, [(alpha, bias, summary) of each λ]) for labels 0 … classes − 1.");
}

}  // namespace widelimit::python
