#include "widelimit/analysis/scores.hpp"

#include "python/bindings/base/arrays.hpp"
#include "python/bindings/machine/fits.hpp"
#include "python/bindings/rooms.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace widelimit::python {

namespace {

nb::dict numbers(const Table& targets, const Table& predicted) {
  const ValueScores scores = value_scores(view_of(targets), view_of(predicted));
  nb::dict found;
  found["samples"] = scores.samples;
  found["r2"] = scores.r2;
  found["squared_error"] = scores.squared_error;
  found["root_squared_error"] = scores.root_squared_error();
  found["absolute_error"] = scores.absolute_error;
  found["notes"] = missing_scores(scores, {});
  return found;
}

/// Returns (support, predicted, precision, recall, F1) of each class.
nb::list each_class(const ClassScores& scores) {
  nb::list list;
  for (const ClassScore& one : scores.classes) {
    list.append(nb::make_tuple(one.support, one.predicted, one.precision(), one.recall(), one.f1()));
  }
  return list;
}

/// Returns (samples, confidence, accuracy) of each non-empty bin.
nb::list each_bin(const ProbabilityScores& scores) {
  nb::list list;
  for (const ReliabilityBin& bin : scores.bins) {
    if (bin.samples > 0) list.append(nb::make_tuple(bin.samples, bin.confidence, bin.accuracy));
  }
  return list;
}

nb::dict classes(const Labels& labels, const Labels& predicted, const std::vector<std::string>& names,
                 const std::optional<Table>& probabilities, const std::optional<Table>& decisions,
                 std::optional<Index> bins) {
  PredictionDetails details;
  if (probabilities) details.probabilities = view_of(*probabilities);
  if (decisions) details.decisions = view_of(*decisions);
  if (bins) details.bins = *bins;
  const ClassScores scores = class_scores(span_of(labels), span_of(predicted), std::ssize(names), details);
  nb::dict found;
  found["samples"] = scores.samples;
  found["accuracy"] = scores.accuracy();
  found["balanced_accuracy"] = scores.balanced_accuracy;
  found["precision"] = scores.precision;
  found["recall"] = scores.recall;
  found["f1"] = scores.f1;
  found["auc"] = scores.auc;
  const std::optional<ProbabilityScores>& likely = scores.probability;
  found["log_loss"] = likely ? likely->log_loss : std::nullopt;
  found["brier"] = likely ? std::optional(likely->brier) : std::nullopt;
  found["calibration_error"] = likely ? std::optional(likely->calibration_error) : std::nullopt;
  found["reliability"] = likely ? nb::object(each_bin(*likely)) : nb::object(nb::none());
  found["by_class"] = each_class(scores);
  found["confusion"] = scores.confusion;
  found["notes"] = missing_scores(scores, names);
  return found;
}

}  // namespace

void bind_scores(nb::module_& module) {
  module.def("value_scores", &numbers, "targets"_a, "predicted"_a, "Regression scores, one column per target.");
  module.def("class_scores", &classes, "labels"_a, "predicted"_a, "names"_a, "probabilities"_a.none(),
             "decisions"_a.none(), "bins"_a.none(), "Classification scores of classes 0 … len(names) − 1.");
}

}  // namespace widelimit::python
