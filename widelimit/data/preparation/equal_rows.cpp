#include "widelimit/data/preparation/equal_rows.hpp"

#include "widelimit/base/interruption.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <unordered_map>
#include <variant>

namespace widelimit {

namespace {

/// Equal numbers of float and double have equal hashes, as have 0 and −0, whose sum with 0 is 0.
std::uint64_t add_to_hash(std::uint64_t hash, double value) {
  hash = hash * 0x9E3779B97F4A7C15U + std::bit_cast<std::uint64_t>(value + 0.0);
  return hash ^ hash >> 29;
}

template <typename T>
std::uint64_t row_hash(const Matrix<T>& m, Index i) {
  const T* row = m.view().row(i);
  std::uint64_t hash = 0;
  for (Index j = 0; j < m.cols(); ++j) hash = add_to_hash(hash, static_cast<double>(row[j]));
  return hash;
}

std::uint64_t row_hash(const SparseMatrix& m, Index i) {
  const SparseView::Row row = m.view().row(i);
  std::uint64_t hash = 0;
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (row.values[k] == 0) continue;
    hash = add_to_hash(hash + static_cast<std::uint64_t>(row.columns[k]), row.values[k]);
  }
  return hash;
}

template <typename A, typename B>
bool equal_rows(const Matrix<A>& a, Index i, const Matrix<B>& b, Index j) {
  return std::equal(a.view().row(i), a.view().row(i) + a.cols(), b.view().row(j),
                    [](A x, B y) { return static_cast<double>(x) == static_cast<double>(y); });
}
bool equal_rows(const SparseMatrix& a, Index i, const SparseMatrix& b, Index j) {
  bool same = true;
  each_of_both(a.view().row(i), b.view().row(j), [&](double x, double y) { same &= x == y; });
  return same;
}

/// Rows of a matrix by their hash.
template <typename Rows>
class RowIndex {
 public:
  explicit RowIndex(const Rows& rows) : rows_(rows) {}

  void add(Index i, std::uint64_t hash) { places_.emplace(hash, i); }

  template <typename Other>
  [[nodiscard]] bool contains(const Other& m, Index i, std::uint64_t hash) const {
    const auto alike = places_.equal_range(hash);
    return std::any_of(alike.first, alike.second,
                       [&](const auto& entry) { return equal_rows(m, i, rows_, entry.second); });
  }

 private:
  const Rows& rows_;
  std::unordered_multimap<std::uint64_t, Index> places_;
};

template <typename Rows>
Index repeated_rows(const Rows& m) {
  RowIndex index(m);
  Index count = 0;
  interruptible_rows(m.rows(), m.cols(), [&](Index i) {
    const std::uint64_t hash = row_hash(m, i);
    const bool repeated = index.contains(m, i, hash);
    count += repeated ? 1 : 0;
    if (!repeated) index.add(i, hash);
  });
  return count;
}
Index repeated_rows(const Graphs& /*graphs*/) { return 0; }

template <typename Rows, typename Others>
Index rows_also_in(const Rows& m, const Others& others) {
  if constexpr (requires { equal_rows(m, Index{0}, others, Index{0}); }) {
    RowIndex index(others);
    interruptible_rows(others.rows(), others.cols(), [&](Index i) {
      const std::uint64_t hash = row_hash(others, i);
      if (!index.contains(others, i, hash)) index.add(i, hash);
    });
    Index count = 0;
    interruptible_rows(m.rows(), m.cols(), [&](Index i) { count += index.contains(m, i, row_hash(m, i)) ? 1 : 0; });
    return count;
  } else {
    return 0;
  }
}

}  // namespace

Index repeated_samples(const AnySamples& samples) {
  return std::visit([](const auto& m) { return repeated_rows(m); }, samples);
}

Index samples_also_in(const AnySamples& samples, const AnySamples& others) {
  return std::visit([](const auto& m, const auto& n) { return rows_also_in(m, n); }, samples, others);
}

}  // namespace widelimit
