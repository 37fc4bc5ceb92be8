#include "widelimit/engine/host/sparse_product.hpp"

#include <bit>
#include <vector>

namespace widelimit::host {

namespace {

/// Number of entries of b per block; with the hash table a few megabytes, which fit in cache.
constexpr Index entries_at_once = Index{1} << 18;

/// Maps a column to the rows that contain it: a hash table over the columns that occur. Its size is that of the
/// entries; an array over all columns would be too large for text with millions of columns.
class ColumnIndex {
 public:
  explicit ColumnIndex(const SparseView& rows);

  struct Entries {
    const std::int32_t* rows;
    const double* values;
    Index count;
  };
  [[nodiscard]] Entries at(std::int32_t column) const {
    const Slot& slot = slots_[place(column)];
    return {rows_.data() + slot.begin, values_.data() + slot.begin, slot.end - slot.begin};
  }

 private:
  struct Slot {
    std::int32_t column = -1;
    std::int32_t begin = 0;
    std::int32_t end = 0;
  };

  /// Returns the slot of the column, or the free slot for it (Fibonacci hashing, linear probing). An empty slot ends
  /// the search.
  [[nodiscard]] std::size_t place(std::int32_t column) const {
    std::size_t at = (static_cast<std::uint64_t>(column) * 0x9E3779B97F4A7C15U) >> shift_;
    while (slots_[at].column != column && slots_[at].column >= 0) at = (at + 1) & (slots_.size() - 1);
    return at;
  }

  int shift_;
  std::vector<Slot> slots_;
  std::vector<std::int32_t> rows_;
  std::vector<double> values_;
};

ColumnIndex::ColumnIndex(const SparseView& rows)
    : shift_(64 - static_cast<int>(std::bit_width(2 * usize(rows.stored()) + 1))),  // load factor of at most 1/2
      slots_(std::size_t{1} << (64 - shift_)),
      rows_(usize(rows.stored())),
      values_(usize(rows.stored())) {
  for (Index i = 0; i < rows.rows; ++i) {
    for (const std::int32_t column : rows.row(i).columns) {
      Slot& slot = slots_[place(column)];
      slot.column = column;
      ++slot.end;
    }
  }
  std::int32_t begin = 0;
  for (Slot& slot : slots_) {
    const std::int32_t count = slot.end;
    slot.begin = slot.end = begin;
    begin += count;
  }
  for (Index i = 0; i < rows.rows; ++i) {
    const SparseView::Row row = rows.row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      const auto at = static_cast<std::size_t>(slots_[place(row.columns[k])].end++);
      rows_[at] = static_cast<std::int32_t>(i);
      values_[at] = row.values[k];
    }
  }
}

/// Returns the number of rows of b, from `begin` on, that form a block: at least one.
Index rows_at_once(const SparseView& b, Index begin) {
  Index end = begin + 1;
  while (end < b.rows && b.offsets[end + 1] - b.offsets[begin] <= entries_at_once) ++end;
  return end - begin;
}

}  // namespace

template <std::floating_point T>
void sparse_product(const SparseView& a, const SparseView& b, MatrixView<T> out) {
  std::vector<double> sums;
  for (Index begin = 0, size = 0; begin < b.rows; begin += size) {
    size = rows_at_once(b, begin);
    const ColumnIndex index(b.part(begin, size));
    for (Index i = 0; i < a.rows; ++i) {
      sums.assign(usize(size), 0.0);
      const SparseView::Row row = a.row(i);
      for (std::size_t k = 0; k < row.size(); ++k) {
        const ColumnIndex::Entries found = index.at(row.columns[k]);
        const double value = row.values[k];
        for (Index e = 0; e < found.count; ++e) sums[usize(found.rows[e])] += value * found.values[e];
      }
      for (Index j = 0; j < size; ++j) out(i, begin + j) = static_cast<T>(sums[usize(j)]);
    }
  }
}

template void sparse_product(const SparseView&, const SparseView&, MatrixView<float>);
template void sparse_product(const SparseView&, const SparseView&, MatrixView<double>);

double half_squared_distance(const SparseView::Row& a, const SparseView::Row& b, double sign) {
  double sum = 0;
  each_of_both(a, b, [&](double x, double y) {
    const double difference = x - sign * y;
    sum += difference * difference;
  });
  return sum / 2;
}

}  // namespace widelimit::host
