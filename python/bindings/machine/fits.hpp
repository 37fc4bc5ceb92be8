#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/machine/machine.hpp"

#include <nanobind/ndarray.h>

#include <optional>
#include <string>

/// Conversion of fitted machines and of their inputs between C++ and Python.
namespace widelimit::python {

using Numbers = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Table = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Labels = nanobind::ndarray<const Index, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// Return views; the array must outlive them.
[[nodiscard]] std::span<const double> span_of(const std::optional<Numbers>& numbers);
[[nodiscard]] std::span<const Index> span_of(const Labels& labels);
[[nodiscard]] MatrixView<const double> view_of(const Table& table);

/// Returns the fields of widelimit.Summary in order.
[[nodiscard]] nanobind::tuple as_tuple(const Summary& summary);
/// Returns (alpha, bias, summary), whose arrays own the memory of the fit.
[[nodiscard]] nanobind::tuple as_tuple(Fit fit);

/// Convert between sigmoids and rows (slope, offset); None stands for no sigmoids.
[[nodiscard]] nanobind::object as_rows(const std::vector<Sigmoid>& sigmoids);
[[nodiscard]] std::vector<Sigmoid> sigmoids_of(const std::optional<Table>& rows);

}  // namespace widelimit::python
