#pragma once

#include "widelimit/base/graphs.hpp"
#include "widelimit/base/matrix.hpp"
#include "widelimit/base/sparse.hpp"
#include "widelimit/base/types.hpp"

#include <cstddef>
#include <span>
#include <string_view>
#include <variant>

namespace widelimit {

/// A matrix whose precision is known at run time.
using AnyMatrix = std::variant<Matrix<float>, Matrix<double>>;

/// A window on numbers whose precision is known at run time.
using AnyView = std::variant<MatrixView<const float>, MatrixView<const double>>;
[[nodiscard]] AnyView view_of(const AnyMatrix& matrix);

/// Samples: a row each, dense in either precision or sparse, or graphs.
using AnySamples = std::variant<Matrix<float>, Matrix<double>, SparseMatrix, Graphs>;
/// The same, borrowed.
using SampleRows = std::variant<MatrixView<const float>, MatrixView<const double>, SparseView, GraphView>;
/// Those of them that are rows of numbers.
using NumberRows = std::variant<MatrixView<const float>, MatrixView<const double>, SparseView>;
[[nodiscard]] AnySamples samples_of(AnyMatrix matrix);

/// n samples of one shape, borrowed: row i holds sample i, positions row by row, channels last (N·H·W·C).
/// Cheap to copy; the owner of the data must outlive it.
struct SampleView {
  SampleRows values;
  Shape shape;

  SampleView(MatrixView<const float> rows, Shape sample_shape) : values(rows), shape(sample_shape) {}
  SampleView(MatrixView<const double> rows, Shape sample_shape) : values(rows), shape(sample_shape) {}
  SampleView(const SparseView& rows, Shape sample_shape) : values(rows), shape(sample_shape) {}
  SampleView(const GraphView& some, Shape sample_shape) : values(some), shape(sample_shape) {}
  explicit SampleView(const Graphs& all) : SampleView(all.view(), all.shape()) {}
  SampleView(const AnyMatrix& matrix, Shape sample_shape);
  SampleView(const AnySamples& samples, Shape sample_shape);

  [[nodiscard]] Index count() const;
  /// `size` samples from `begin` on.
  [[nodiscard]] SampleView part(Index begin, Index size) const;
  /// All numbers as rows of a matrix: for readers that know nothing else. Error{input} that names the reader, in the
  /// plural, where samples are sparse or graphs.
  [[nodiscard]] AnyView dense(std::string_view readers) const;
  /// The rows of samples that are no graphs: Error{input} names the reader, in the plural, where they are.
  [[nodiscard]] NumberRows rows(std::string_view readers) const;
  /// Null where samples are something else; else a part of this view, which must outlive the pointer.
  [[nodiscard]] const SparseView* sparse() const { return std::get_if<SparseView>(&values); }
  [[nodiscard]] const GraphView* graphs() const { return std::get_if<GraphView>(&values); }
  [[nodiscard]] std::size_t bytes() const;
  /// Numbers that the longest sample stores; all of a dense one; of graphs, the nodes of the largest.
  [[nodiscard]] Index longest() const;
  /// The same samples in the same memory.
  [[nodiscard]] bool same_memory(const SampleView& other) const;
};

/// A copy of samples, all or those chosen.
[[nodiscard]] AnySamples copy_of(const SampleView& x);
[[nodiscard]] AnySamples gather(const SampleView& x, std::span<const Index> chosen);
/// A sparse copy: the numbers that are not 0.
[[nodiscard]] SparseMatrix sparse_copy(const SampleView& x);

}  // namespace widelimit
