#pragma once

#include "widelimit/base/samples.hpp"
#include "widelimit/machine/machine.hpp"

#include <nanobind/ndarray.h>

#include <optional>
#include <string>

/// Fitted machines and what they are made from, between C++ and Python.
namespace widelimit::python {

using Numbers = nanobind::ndarray<const double, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;
using Table = nanobind::ndarray<const double, nanobind::ndim<2>, nanobind::c_contig, nanobind::device::cpu>;
using Labels = nanobind::ndarray<const Index, nanobind::ndim<1>, nanobind::c_contig, nanobind::device::cpu>;

/// These borrow: the array must outlive what is returned.
[[nodiscard]] std::span<const double> span_of(const std::optional<Numbers>& numbers);
[[nodiscard]] std::span<const Index> span_of(const Labels& labels);
[[nodiscard]] MatrixView<const double> view_of(const Table& table);

/// The fields of widelimit.Summary in order.
[[nodiscard]] nanobind::tuple as_tuple(const Summary& summary);
/// (alpha, bias, summary), on the memory of the fit.
[[nodiscard]] nanobind::tuple as_tuple(Fit fit);

/// Sigmoids as rows (slope, offset), None where there are none; and back.
[[nodiscard]] nanobind::object as_rows(const std::vector<Sigmoid>& sigmoids);
[[nodiscard]] std::vector<Sigmoid> sigmoids_of(const std::optional<Table>& rows);

}  // namespace widelimit::python
