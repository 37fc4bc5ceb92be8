#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"

#include <cstddef>
#include <span>
#include <variant>

namespace widelimit {

/// A matrix whose precision is known at run time.
using AnyMatrix = std::variant<Matrix<float>, Matrix<double>>;

/// A window on numbers whose precision is known at run time.
using AnyView = std::variant<MatrixView<const float>, MatrixView<const double>>;
[[nodiscard]] inline AnyView view_of(const AnyMatrix& matrix) {
  return std::visit([](const auto& m) { return AnyView(m.view()); }, matrix);
}

/// n samples of one shape, borrowed: row i holds sample i, positions row by row, channels last (N·H·W·C).
/// Cheap to copy; the owner of the data must outlive it.
struct SampleView {
  AnyView values;
  Shape shape;

  SampleView(MatrixView<const float> rows, Shape sample_shape) : values(rows), shape(sample_shape) {}
  SampleView(MatrixView<const double> rows, Shape sample_shape) : values(rows), shape(sample_shape) {}
  SampleView(const AnyMatrix& matrix, Shape sample_shape)
      : SampleView(std::visit([&](const auto& m) { return SampleView(m.view(), sample_shape); }, matrix)) {}

  [[nodiscard]] Index count() const {
    return std::visit([](const auto& rows) { return rows.rows; }, values);
  }
  /// `size` samples from `begin` on.
  [[nodiscard]] SampleView part(Index begin, Index size) const;
  /// All numbers as rows of a matrix: for readers that know nothing else.
  [[nodiscard]] const AnyView& dense() const { return values; }
  [[nodiscard]] std::size_t bytes() const;
  /// The same samples in the same memory.
  [[nodiscard]] bool same_memory(const SampleView& other) const;
};

/// A copy of the chosen samples.
[[nodiscard]] AnyMatrix gather(const SampleView& x, std::span<const Index> chosen);

}  // namespace widelimit
