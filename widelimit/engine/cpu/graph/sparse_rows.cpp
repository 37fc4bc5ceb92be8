#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "widelimit/engine/cpu/graph/sparse_rows.cpp"
#include <hwy/foreach_target.h>
// foreach_target includes this file once for each instruction set; strip-inl.hpp must follow it.
#include "widelimit/engine/cpu/graph/sparse_rows.hpp"
#include "widelimit/engine/cpu/vector/strip-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace widelimit::cpu::HWY_NAMESPACE {

void combine_rows_f64(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> out) {
  const hn::ScalableTag<double> d;
  const auto lanes = static_cast<Index>(hn::Lanes(d));
  const SparseRows& all = *a.all;
  for (Index r = 0; r < a.rows; ++r) {
    const auto begin = usize(all.start[usize(a.begin + r)]);
    const auto end = usize(all.start[usize(a.begin + r) + 1]);
    double* to = out.row(r);
    for (Index k = 0; k < out.cols; k += 2 * lanes) {  // strips are padded to more
      auto low = hn::Zero(d);
      auto high = hn::Zero(d);
      for (std::size_t e = begin; e < end; ++e) {
        const auto weight = hn::Set(d, all.weights[e]);
        const double* from = in.row(all.columns[e] - a.first) + k;
        low = hn::MulAdd(weight, hn::LoadU(d, from), low);
        high = hn::MulAdd(weight, hn::LoadU(d, from + lanes), high);
      }
      hn::StoreU(low, d, to + k);
      hn::StoreU(high, d, to + k + lanes);
    }
  }
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
HWY_EXPORT(set_correlations_f64);

void combine_rows(const SparseBlock& a, MatrixView<const double> in, MatrixView<double> out) {
  HWY_DYNAMIC_DISPATCH(combine_rows_f64)(a, in, out);
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
