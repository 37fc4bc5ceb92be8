#include "widelimit/kernel/inputs.hpp"

#include "widelimit/base/error.hpp"

#include <cmath>

namespace widelimit {

namespace {

/// 0·x is 0 if x is finite, else NaN; unlike a test with a branch, this sum is vectorised.
template <typename T>
bool all_finite(const T* values, Index size) {
  T sum = 0;
#pragma omp simd reduction(+ : sum)
  for (Index k = 0; k < size; ++k) sum += T(0) * values[k];
  return sum == 0;
}

[[noreturn]] void refuse(std::string_view one, Index i, double value, Index j) {
  fail(Code::input, "{} {} has {} at value {}; remove or replace it first", one, i, value, j);
}

template <typename T>
void check_finite(const MatrixView<const T>& rows, std::string_view one) {
  for (Index i = 0; i < rows.rows; ++i) {
    if (all_finite(rows.row(i), rows.cols)) continue;
    for (Index j = 0; j < rows.cols; ++j) {
      if (!std::isfinite(rows(i, j))) refuse(one, i, static_cast<double>(rows(i, j)), j);
    }
  }
}
void check_finite(const SparseView& rows, std::string_view one) {
  for (Index i = 0; i < rows.rows; ++i) {
    const SparseView::Row row = rows.row(i);
    if (all_finite(row.values.data(), std::ssize(row.values))) continue;
    for (std::size_t k = 0; k < row.size(); ++k) {
      if (!std::isfinite(row.values[k])) refuse(one, i, row.values[k], row.columns[k]);
    }
  }
}

}  // namespace

void check_samples(const SampleView& x, std::string_view one) {
  if (const GraphView* graphs = x.graphs()) {
    if (x.shape != graphs->graphs->shape()) {
      fail(Code::input, "graphs have the shape {}, not {}", to_string(graphs->graphs->shape()), to_string(x.shape));
    }
    return;  // graphs are validated on construction
  }
  std::visit(
      [&](const auto& rows) {
        if (rows.cols != x.shape.size()) {
          fail(Code::input, "samples have {} values each, but shape {} needs {}", rows.cols, to_string(x.shape),
               x.shape.size());
        }
        check_finite(rows, one);
      },
      x.rows("checks of numbers"));
}

SameKind::SameKind(const SampleView& x1, const SampleView& x2) : x1_(x1), x2_(x2) {
  if ((x1.sparse() != nullptr) == (x2.sparse() != nullptr)) return;
  SampleView& dense = x1.sparse() != nullptr ? x2_ : x1_;
  copy_ = sparse_copy(dense);
  dense = SampleView(copy_.view(), dense.shape);
}

void check_same_shape(const SampleView& x1, const SampleView& x2) {
  if (x1.shape != x2.shape) {
    fail(Code::input, "the two sets have samples of different shape, {} and {}", to_string(x1.shape),
         to_string(x2.shape));
  }
  if (x1.graphs() != nullptr && x1.graphs()->graphs->tagged() != x2.graphs()->graphs->tagged()) {
    fail(Code::input, "the nodes of one set of graphs have tags, those of the other have features");
  }
}

RecipeOutputs recipe_outputs(Kind kind) {
  if (kind == Kind::both) return RecipeOutputs::both;
  return kind == Kind::nngp ? RecipeOutputs::nngp : RecipeOutputs::ntk;
}

}  // namespace widelimit
