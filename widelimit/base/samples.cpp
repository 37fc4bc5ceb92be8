#include "widelimit/base/samples.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"

#include <algorithm>
#include <type_traits>
#include <utility>

namespace widelimit {

namespace {

// Overloads per kind of rows, for the visitors in SampleView.

template <typename T>
MatrixView<const T> part_of(const MatrixView<const T>& rows, Index begin, Index size) {
  return rows.block(begin, 0, size, rows.cols);
}
SparseView part_of(const SparseView& rows, Index begin, Index size) { return rows.part(begin, size); }
GraphView part_of(const GraphView& some, Index begin, Index size) {
  return {some.graphs, some.begin + begin, size, some.apart};
}

template <typename T>
std::size_t bytes_of(const MatrixView<const T>& rows) {
  return usize(rows.rows * rows.cols) * sizeof(T);
}
std::size_t bytes_of(const SparseView& rows) {
  return usize(rows.stored()) * sparse_entry_bytes + usize(rows.rows + 1) * sizeof(std::int64_t);
}
std::size_t bytes_of(const GraphView& some) {
  const Graphs& all = *some.graphs;
  const double share =
      static_cast<double>(some.node_count()) / static_cast<double>(std::max<Index>(1, all.node_count()));
  return static_cast<std::size_t>(share * static_cast<double>(all.bytes()));
}

template <typename T>
bool same_rows(const MatrixView<const T>& a, const MatrixView<const T>& b) {
  return a.data == b.data && a.rows == b.rows && a.stride == b.stride;
}
bool same_rows(const SparseView& a, const SparseView& b) {
  return a.values == b.values && a.offsets == b.offsets && a.rows == b.rows;
}
bool same_rows(const GraphView& a, const GraphView& b) {
  return a.graphs == b.graphs && a.begin == b.begin && a.rows == b.rows && a.apart == b.apart;
}

template <typename T>
Index longest_of(const MatrixView<const T>& rows) {
  return rows.cols;
}
Index longest_of(const SparseView& rows) { return rows.longest_row(); }
Index longest_of(const GraphView& samples) {
  const GraphView some = samples.whole();
  Index most = 0;
  for (Index g = 0; g < some.rows; ++g) most = std::max(most, some.nodes(g));
  return most;
}

template <typename T>
Matrix<T> rows_of(const MatrixView<const T>& rows, std::span<const Index> chosen) {
  Matrix<T> result(std::ssize(chosen), rows.cols, Content::unset);
  for (std::size_t i = 0; i < chosen.size(); ++i) {
    std::copy_n(rows.row(chosen[i]), rows.cols, result.view().row(static_cast<Index>(i)));
  }
  return result;
}
SparseMatrix rows_of(const SparseView& rows, std::span<const Index> chosen) {
  return SparseMatrix::gather(rows, chosen);
}
Graphs rows_of(const GraphView& some, std::span<const Index> chosen) { return gather_graphs(some, chosen); }

template <typename T>
Matrix<T> all_of(const MatrixView<const T>& rows) {
  Matrix<T> copy(rows.rows, rows.cols, Content::unset);
  interruptible_rows(rows.rows, rows.cols, [&](Index i) { std::copy_n(rows.row(i), rows.cols, copy.view().row(i)); });
  return copy;
}
SparseMatrix all_of(const SparseView& rows) { return SparseMatrix::copy(rows); }
Graphs all_of(const GraphView& some) { return copy_graphs(some); }

template <typename T>
AnyView dense_view(const MatrixView<const T>& rows, const SampleReader& /*reader*/) {
  return rows;
}
AnyView dense_view(const SparseView& /*rows*/, const SampleReader& reader) {
  fail(Code::input,
       "{} do not take sparse samples; make the samples dense, or use a network of dense layers or a classical "
       "kernel, which accept sparse samples",
       reader.plural);
}
[[noreturn]] void refuse_graphs(const SampleReader& reader) {
  fail(Code::input, "{} do not take graphs; {}", reader.plural, reader.for_graphs);
}
AnyView dense_view(const GraphView& /*some*/, const SampleReader& reader) { refuse_graphs(reader); }

template <typename Rows>
NumberRows number_rows(const Rows& rows, const SampleReader& /*reader*/) {
  return rows;
}
NumberRows number_rows(const GraphView& /*some*/, const SampleReader& reader) { refuse_graphs(reader); }

}  // namespace

AnyView view_of(const AnyMatrix& matrix) {
  return std::visit([](const auto& m) { return AnyView(m.view()); }, matrix);
}

SampleView::SampleView(const AnyMatrix& matrix, Shape sample_shape)
    : SampleView(std::visit([&](const auto& m) { return SampleView(m.view(), sample_shape); }, matrix)) {}

SampleView::SampleView(const AnySamples& samples, Shape sample_shape)
    : SampleView(std::visit([&](const auto& m) { return SampleView(m.view(), sample_shape); }, samples)) {}

Index SampleView::count() const {
  return std::visit([](const auto& rows) { return rows.rows; }, values);
}

AnySamples samples_of(AnyMatrix matrix) {
  return std::visit([](auto& m) { return AnySamples(std::move(m)); }, matrix);
}

SampleView SampleView::part(Index begin, Index size) const {
  return std::visit([&](const auto& rows) { return SampleView(part_of(rows, begin, size), shape); }, values);
}

AnyView SampleView::dense(const SampleReader& reader) const {
  return std::visit([&](const auto& rows) { return dense_view(rows, reader); }, values);
}

NumberRows SampleView::rows(const SampleReader& reader) const {
  return std::visit([&](const auto& some) { return number_rows(some, reader); }, values);
}

std::size_t SampleView::bytes() const {
  return std::visit([](const auto& rows) { return bytes_of(rows); }, values);
}

Index SampleView::longest() const {
  return std::visit([](const auto& rows) { return longest_of(rows); }, values);
}

bool SampleView::same_memory(const SampleView& other) const {
  return shape == other.shape && values.index() == other.values.index() &&
         std::visit(
             [&](const auto& mine) { return same_rows(mine, std::get<std::decay_t<decltype(mine)>>(other.values)); },
             values);
}

AnySamples copy_of(const SampleView& x) {
  return std::visit([](const auto& rows) { return AnySamples(all_of(rows)); }, x.values);
}

AnySamples gather(const SampleView& x, std::span<const Index> chosen) {
  return std::visit([&](const auto& rows) { return AnySamples(rows_of(rows, chosen)); }, x.values);
}

SparseMatrix sparse_copy(const SampleView& x) {
  if (const SparseView* rows = x.sparse()) return SparseMatrix::copy(*rows);
  return std::visit([](const auto& rows) { return SparseMatrix::of(rows); }, x.dense("sparse copies"));
}

}  // namespace widelimit
