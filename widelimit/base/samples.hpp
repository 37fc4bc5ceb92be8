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

/// Matrix with run-time precision.
using AnyMatrix = std::variant<Matrix<float>, Matrix<double>>;

/// Matrix view with run-time precision.
using AnyView = std::variant<MatrixView<const float>, MatrixView<const double>>;
[[nodiscard]] AnyView view_of(const AnyMatrix& matrix);

/// Owning samples: dense rows of either precision, sparse rows, or graphs.
using AnySamples = std::variant<Matrix<float>, Matrix<double>, SparseMatrix, Graphs>;
/// Non-owning counterpart.
using SampleRows = std::variant<MatrixView<const float>, MatrixView<const double>, SparseView, GraphView>;
/// Non-owning rows of numbers, i.e. without graphs.
using NumberRows = std::variant<MatrixView<const float>, MatrixView<const double>, SparseView>;
[[nodiscard]] AnySamples samples_of(AnyMatrix matrix);

/// Subject of the message of code that cannot read samples of some kind.
struct SampleReader {
  std::string_view plural;  ///< "classical kernels", as the subject of a sentence
  /// What to do with graphs instead.
  std::string_view for_graphs = "give samples of numbers";

  SampleReader(const char* subject) : plural(subject) {}
  SampleReader(std::string_view subject, std::string_view advice) : plural(subject), for_graphs(advice) {}
};

/// Non-owning view of n samples of one shape: row i holds sample i, positions in row-major order, channels last
/// (N·H·W·C). Cheap to copy; the data must outlive it.
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
  /// Returns `size` samples, starting at `begin`.
  [[nodiscard]] SampleView part(Index begin, Index size) const;
  /// Returns the samples as a dense matrix. Throws Error{input} if they are sparse or graphs.
  [[nodiscard]] AnyView dense(const SampleReader& reader) const;
  /// Returns dense or sparse rows. Throws Error{input} if samples are graphs.
  [[nodiscard]] NumberRows rows(const SampleReader& reader) const;
  /// Null if samples are of another kind; else points into this view, which must outlive the pointer.
  [[nodiscard]] const SparseView* sparse() const { return std::get_if<SparseView>(&values); }
  [[nodiscard]] const GraphView* graphs() const { return std::get_if<GraphView>(&values); }
  [[nodiscard]] std::size_t bytes() const;
  /// Largest number of stored entries per sample: the columns of dense rows, the stored entries of the longest sparse
  /// row, or the nodes of the largest graph.
  [[nodiscard]] Index longest() const;
  /// Returns whether both views have the same memory and shape.
  [[nodiscard]] bool same_memory(const SampleView& other) const;
};

/// Returns a copy of all samples, or of the chosen ones.
[[nodiscard]] AnySamples copy_of(const SampleView& x);
[[nodiscard]] AnySamples gather(const SampleView& x, std::span<const Index> chosen);
/// Returns a sparse copy without zeros.
[[nodiscard]] SparseMatrix sparse_copy(const SampleView& x);

}  // namespace widelimit
