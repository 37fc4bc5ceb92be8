#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/graph/sparse_rows.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once per instruction set; strip-inl.hpp must follow it.
#include "widelimit/engine/cpu/graph/sparse_rows.hpp"
#include "widelimit/engine/cpu/vector/strip-inl.hpp"

#include <algorithm>
#include <array>

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

/// The entries of one row of a sparse matrix and the rows that they multiply.
struct Terms {
  const double* weights;
  const std::int32_t* columns;
  std::size_t count;
  MatrixView<const double> in;
  Index first;

  [[nodiscard]] const double* row(std::size_t e) const { return in.row(columns[e] - first); }
};

/// A row of N ≤ 5 entries: weights stay in registers over all columns.
template <std::size_t N, class Store>
HWY_INLINE void combine_few(const Terms& terms, const Store& store) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  const auto weight = [&](std::size_t e) HWY_ATTR { return hn::Set(d, terms.weights[std::min(e, N - 1)]); };
  const auto w0 = weight(0);
  const auto w1 = weight(1);
  const auto w2 = weight(2);
  const auto w3 = weight(3);
  const auto w4 = weight(4);
  std::array<const double*, N> from;
  for (std::size_t e = 0; e < N; ++e) from[e] = terms.row(e);
  for (std::size_t k = 0; k < usize(terms.in.cols); k += lanes) {
    const auto value = [&](std::size_t e) HWY_ATTR { return hn::LoadU(d, from[e] + k); };
    auto sum = hn::Mul(w0, value(0));
    if constexpr (N > 1) sum = hn::MulAdd(w1, value(1), sum);
    if constexpr (N > 2) sum = hn::MulAdd(w2, value(2), sum);
    if constexpr (N > 3) sum = hn::MulAdd(w3, value(3), sum);
    if constexpr (N > 4) sum = hn::MulAdd(w4, value(4), sum);
    store(k, sum);
  }
}

/// A row with any number of entries, two vectors at a time.
template <class Store>
HWY_INLINE void combine_many(const Terms& terms, const Store& store) {
  const hn::ScalableTag<double> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t k = 0; k < usize(terms.in.cols); k += 2 * lanes) {  // strips are padded further than that
    auto low = hn::Zero(d);
    auto high = hn::Zero(d);
    for (std::size_t e = 0; e < terms.count; ++e) {
      const auto weight = hn::Set(d, terms.weights[e]);
      const double* from = terms.row(e) + k;
      low = hn::MulAdd(weight, hn::LoadU(d, from), low);
      high = hn::MulAdd(weight, hn::LoadU(d, from + lanes), high);
    }
    store(k, low);
    store(k + lanes, high);
  }
}

/// `store_to(row)` returns the function that stores the vectors of that row. Specialised for few entries, since most
/// nodes have few neighbours.
template <class StoreTo>
HWY_INLINE void combine_with(const SparseBlock& a, MatrixView<const double> in, const StoreTo& store_to) {
  const SparseRows& all = *a.all;
  for (Index r = 0; r < a.rows; ++r) {
    const auto begin = usize(all.start[usize(a.begin + r)]);
    const auto end = usize(all.start[usize(a.begin + r) + 1]);
    const Terms terms{all.weights.data() + begin, all.columns.data() + begin, end - begin, in, a.first};
    const auto store = store_to(r);
    switch (terms.count) {
      case 1:
        combine_few<1>(terms, store);
        break;
      case 2:
        combine_few<2>(terms, store);
        break;
      case 3:
        combine_few<3>(terms, store);
        break;
      case 4:
        combine_few<4>(terms, store);
        break;
      case 5:
        combine_few<5>(terms, store);
        break;
      default:
        combine_many(terms, store);
        break;
    }
  }
}

void combine_rows_f64(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> out) {
  const hn::ScalableTag<double> d;
  combine_with(a, in, [&](Index r) {
    double* const to = out.row(r);
    return [d, to](std::size_t k, auto sum) HWY_ATTR { hn::StoreU(sum, d, to + k); };
  });
}

void combine_correlations_f64(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> rho,
                              MatrixView<double> t) {
  const hn::ScalableTag<double> d;
  combine_with(a, in, [&](Index r) {
    const Strip<double> strip{.size = rho.cols, .rho = rho.row(r), .t = t.row(r)};
    return [d, strip](std::size_t k, auto sum) HWY_ATTR { store_correlation(d, sum, strip, k); };
  });
}

void set_correlations_f64(MatrixView<double> rho, MatrixView<double> t) {
  const hn::ScalableTag<double> d;
  for (Index r = 0; r < rho.rows; ++r) {
    const Strip<double> strip{.size = rho.cols, .rho = rho.row(r), .t = t.row(r)};
    each_vector(d, strip, [&](std::size_t k) HWY_ATTR { store_correlation(d, hn::LoadU(d, strip.rho + k), strip, k); });
  }
}

}  // namespace widelimit::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace widelimit::cpu {

HWY_EXPORT(combine_rows_f64);
HWY_EXPORT(combine_correlations_f64);
HWY_EXPORT(set_correlations_f64);

void combine_rows(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> out) {
  HWY_DYNAMIC_DISPATCH(combine_rows_f64)(a, in, out);
}

void combine_correlations(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> rho,
                          MatrixView<double> t) {
  HWY_DYNAMIC_DISPATCH(combine_correlations_f64)(a, in, rho, t);
}

void set_correlations(MatrixView<double> rho, MatrixView<double> t) {
  HWY_DYNAMIC_DISPATCH(set_correlations_f64)(rho, t);
}

void SparseRows::append(const SparseRows& more, Index first) {
  const Index before = std::ssize(columns);
  for (std::size_t r = 1; r < more.start.size(); ++r) start.push_back(before + more.start[r]);
  for (const std::int32_t column : more.columns) columns.push_back(static_cast<std::int32_t>(column + first));
  weights.insert(weights.end(), more.weights.begin(), more.weights.end());
}

}  // namespace widelimit::cpu
#endif
