#include "widelimit/engine/cpu/algebra/bunch_kaufman.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"

#include <algorithm>

namespace widelimit::cpu {

namespace {

/// Number of rows eliminated together.
constexpr int panel = 64;

class BunchKaufman final : public IndefiniteFactor {
 public:
  /// Factors panel by panel, as LAPACK's dsytrf. LAPACK's column-major lower triangle is the row-major upper one.
  explicit BunchKaufman(Matrix<double> a) : factor_(std::move(a)), pivots_(usize(factor_.rows())) {
    const int n = lapack_size(factor_.rows());
    std::vector<double> work(usize(n) * panel);
    for (int begin = 0, done = 0; begin < n; begin += done) {
      interruption_point();
      const int rest = n - begin;
      int* own = pivots_.data() + begin;
      int info = 0;  // nonzero for a zero pivot, which inertia() reports
      done = rest;
      if (rest > panel) {
        dlasyf_("L", &rest, &panel, &done, &factor_(begin, begin), &n, own, work.data(), &rest, &info);
      } else {
        dsytf2_("L", &rest, &factor_(begin, begin), &n, own, &info);
      }
      // Converts to row indices of the whole matrix; negative for pivots of two rows.
      std::for_each_n(own, done, [&](int& row) { row += row > 0 ? begin : -begin; });
    }
  }

  [[nodiscard]] Index size() const override { return factor_.rows(); }

  /// From the pivots by Sylvester's law of inertia.
  [[nodiscard]] Inertia inertia() const override {
    Inertia result;
    for (Index k = 0; k < size(); ++k) {
      if (pivots_[usize(k)] < 0) {  // a 2 × 2 pivot, whose determinant is negative
        ++result.negative;
        ++result.positive;
        ++k;
        continue;
      }
      const double pivot = factor_(k, k);
      ++(pivot > 0 ? result.positive : pivot < 0 ? result.negative : result.zero);
    }
    return result;
  }

  void solve(MatrixView<double> b) const override {
    if (b.rows == 0 || b.cols == 0) return;
    const int n = lapack_size(size());
    const int columns = lapack_size(b.cols);
    int info = 0;
    Matrix<double> turned(b.cols, b.rows, Content::unset);  // column-major
    transpose(b, turned.view());
    dsytrs_("L", &n, &columns, factor_.data(), &n, pivots_.data(), turned.data(), &n, &info);
    transpose(turned.view(), b);
  }

 private:
  Matrix<double> factor_;
  std::vector<int> pivots_;
};

}  // namespace

std::unique_ptr<IndefiniteFactor> bunch_kaufman(Matrix<double> a) {
  return std::make_unique<BunchKaufman>(std::move(a));
}

}  // namespace widelimit::cpu
