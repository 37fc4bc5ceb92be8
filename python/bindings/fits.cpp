#include "fits.hpp"

#include "arrays.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;

namespace widelimit::python {

std::span<const double> span_of(const std::optional<Numbers>& numbers) {
  if (!numbers) return {};
  return {numbers->data(), numbers->size()};
}

std::span<const Index> span_of(const Labels& labels) { return {labels.data(), labels.size()}; }

MatrixView<const double> view_of(const Table& table) {
  const auto cols = static_cast<Index>(table.shape(1));
  return {table.data(), static_cast<Index>(table.shape(0)), cols, cols};
}

nb::tuple as_tuple(const Summary& summary) {
  return nb::make_tuple(text(summary.ending), summary.message, summary.method, summary.primal, summary.dual,
                        summary.gap, summary.gradient, summary.condition, summary.iterations, summary.seconds,
                        summary.memory);
}

nb::tuple as_tuple(Fit fit) {
  return nb::make_tuple(as_array(std::move(fit.alpha)), as_array(std::move(fit.bias)), as_tuple(fit.summary));
}

}  // namespace widelimit::python
