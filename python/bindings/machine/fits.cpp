#include "python/bindings/machine/fits.hpp"

#include "python/bindings/base/arrays.hpp"
#include "widelimit/base/error.hpp"

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

nb::object as_rows(const std::vector<Sigmoid>& sigmoids) {
  if (sigmoids.empty()) return nb::none();
  Matrix<double> rows(std::ssize(sigmoids), 2);
  for (Index i = 0; i < rows.rows(); ++i) {
    rows(i, 0) = sigmoids[static_cast<std::size_t>(i)].slope;
    rows(i, 1) = sigmoids[static_cast<std::size_t>(i)].offset;
  }
  return as_array(std::move(rows));
}

std::vector<Sigmoid> sigmoids_of(const std::optional<Table>& rows) {
  std::vector<Sigmoid> sigmoids;
  if (!rows) return sigmoids;
  const MatrixView<const double> view = view_of(*rows);
  if (view.cols != 2) fail(Code::input, "a sigmoid is a slope and an offset, not {} numbers", view.cols);
  for (Index i = 0; i < view.rows; ++i) sigmoids.push_back({view(i, 0), view(i, 1)});
  return sigmoids;
}

}  // namespace widelimit::python
