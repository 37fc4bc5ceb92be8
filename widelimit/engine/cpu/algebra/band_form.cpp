#include "widelimit/engine/cpu/algebra/band_form.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

namespace widelimit::cpu {

namespace {

constexpr Index band_width = BandForm::width;
/// Number of block reflections that are merged before they are applied to Q.
constexpr Index joined_count = 4;

/// One block reflection I − V T Vᵀ on the rows from `row` on: V is (n − row) × count, column-major and contiguous.
struct Reflection {
  Index row = 0;
  Index count = 0;
  double* v = nullptr;
  double* t = nullptr;  ///< width × count, column-major, upper triangular
};

/// Works on A in LAPACK's layout: column-major, lower triangle.
class Reduction {
 public:
  Reduction(Matrix<double> a, int threads, Progress* progress)
      : a_(std::move(a)),
        n_(a_.rows()),
        reflectors_(n_, std::max<Index>(n_ - band_width, 0), Content::unset),
        triangles_(n_, band_width),
        product_(n_, band_width, Content::unset),
        square_(band_width, band_width),
        work_(band_width, band_width),
        threads_(team_size(threads)),
        progress_(progress) {}

  BandForm run() {
    ProgressTicker ticker(progress_, 2 * n_, "rows");
    eliminate(0);
    for (std::size_t k = 0; k < reflections_.size(); ++k) {
      transform(Reflection(reflections_[k]));
      ticker.at(static_cast<Index>(k) * band_width);
    }
    BandForm form{{}, Matrix<double>(n_, band_width), Matrix<double>(n_, band_width)};
    for (Index begin = 0; begin < n_; begin += band_width) copy_block(begin, form);
    accumulate(ticker);
    form.q = std::move(a_);
    return form;
  }

 private:
  double* at(Index i, Index j) { return a_.data() + j * n_ + i; }

  /// QR factorisation of the part below the band in the columns from `column` on, if there is any.
  void eliminate(Index column) {
    const Index row = column + band_width;
    if (row >= n_) return;
    const Index rows = n_ - row;
    Reflection next{row, std::min(band_width, rows), reflectors_.data() + column * n_,
                    triangles_.data() + column * band_width};
    const int m = lapack_size(rows);
    const int width = static_cast<int>(band_width);
    const int count = static_cast<int>(next.count);
    const int stride = lapack_size(n_);
    int info = 0;
    dgeqrt_(&m, &width, &count, at(row, column), &stride, next.t, &width, work_.data(), &info);
    for (Index j = 0; j < next.count; ++j) {
      double* v = next.v + j * rows;
      std::fill_n(v, j, 0.0);
      v[j] = 1;
      std::copy_n(at(row + j + 1, column + j), rows - j - 1, v + j + 1);
    }
    reflections_.push_back(next);
  }

  /// V and T in row-major view: V is count × m, T lower triangular.
  [[nodiscard]] MatrixView<const double> reflector(const Reflection& h) const {
    return {h.v, h.count, n_ - h.row, n_ - h.row};
  }
  [[nodiscard]] static MatrixView<const double> triangle(const Reflection& h) {
    return {h.t, h.count, h.count, band_width};
  }
  [[nodiscard]] MatrixView<double> rest_of_a(const Reflection& h) {
    return a_.view().block(h.row, h.row, n_ - h.row, n_ - h.row);
  }

  /// A ← (I − V Tᵀ Vᵀ) A (I − V T Vᵀ) = A − V Wᵀ − W Vᵀ,  W = X − ½ V Tᵀ Vᵀ X,  X = A V T; the row-major code computes
  /// the transposes.
  void transform(const Reflection& h) {
    const MatrixView<const double> v = reflector(h);
    const MatrixView<double> a = rest_of_a(h);
    const MatrixView<double> x{product_.data(), v.rows, v.cols, v.cols};
    const MatrixView<double> s{square_.data(), v.rows, v.rows, band_width};
    tiled_symmetric_product(v, a, x, threads_);
    multiply_lower(triangle(h), Transpose::no, x);
    gemm<double>(1, Transpose::no, x, Transpose::yes, v, 0, s);
    multiply_lower_right(triangle(h), Transpose::yes, s);
    gemm<double>(-0.5, Transpose::no, s, Transpose::no, v, 1, x);
    // The sequential QR factorisation of the next panel overlaps with the update.
    const auto next = [&] { eliminate(h.row); };
    tiled_rank_two_update(-1, v, x, a, threads_, std::min(band_width, a.rows), next);
  }

  void copy_block(Index begin, BandForm& form) {
    const Index rows = std::min(band_width, n_ - begin);
    for (Index i = 0; i < rows; ++i) {
      for (Index j = 0; j < rows; ++j) {
        form.diagonal(begin + i, j) = *at(begin + std::max(i, j), begin + std::min(i, j));
      }
      if (begin == 0) continue;
      for (Index j = i; j < band_width; ++j) form.below(begin + i, j) = *at(begin + i, begin - band_width + j);
    }
  }

  /// Merges several reflections, first to last, into one, I − V T Vᵀ, with row-major V and T as above. For (I −
  /// V₁T₁V₁ᵀ)(I − V₂T₂V₂ᵀ), T grows by the block T₁₂ = −T₁ V₁ᵀV₂ T₂ (Schreiber and Van Loan 1989).
  void join(std::span<const Reflection> parts) {
    const Index m = n_ - parts.front().row;
    joined_v_ = Matrix<double>(joined_count * band_width, m);
    joined_t_ = Matrix<double>(joined_count * band_width, joined_count * band_width);
    Matrix<double> work(2 * band_width, joined_count * band_width);
    joined_rows_ = 0;
    for (const Reflection& part : parts) {
      const Index before = joined_rows_;
      const MatrixView<const double> v = reflector(part);
      const Index skip = part.row - parts.front().row;
      for (Index i = 0; i < v.rows; ++i) std::copy_n(v.row(i), v.cols, joined_v_.view().row(before + i) + skip);
      const MatrixView<double> corner = joined_t_.view().block(before, before, part.count, part.count);
      for (Index i = 0; i < part.count; ++i) std::copy_n(triangle(part).row(i), i + 1, corner.row(i));
      if (before > 0) {
        const MatrixView<double> s = work.view().block(0, 0, part.count, before);
        const MatrixView<double> st = work.view().block(band_width, 0, part.count, before);
        gemm<double>(1, Transpose::no, v, Transpose::yes, joined_v_.view().block(0, skip, before, v.cols), 0, s);
        gemm<double>(1, Transpose::no, s, Transpose::no, joined_t_.view().block(0, 0, before, before), 0, st);
        gemm<double>(-1, Transpose::no, corner, Transpose::no, st, 0,
                     joined_t_.view().block(before, 0, part.count, before));
      }
      joined_rows_ += part.count;
    }
  }

  /// Q by rows is Qᵀ by columns: from the last reflection to the first, Qᵀ ← Qᵀ (I − V Tᵀ Vᵀ), each restricted to its
  /// trailing square. Several are merged at a time, since reading that square is memory-bound.
  void accumulate(ProgressTicker& ticker) {
    std::fill_n(a_.data(), n_ * n_, 0.0);
    for (Index i = 0; i < n_; ++i) a_(i, i) = 1;
    product_ = Matrix<double>(n_, joined_count * band_width, Content::unset);
    for (auto end = static_cast<Index>(reflections_.size()); end > 0;) {
      const Index begin = std::max<Index>(0, end - joined_count);
      const std::span<const Reflection> parts(reflections_.data() + begin, usize(end - begin));
      join(parts);
      const MatrixView<double> q = rest_of_a(parts.front());
      const MatrixView<const double> v = joined_v_.view().block(0, 0, joined_rows_, q.rows);
      const MatrixView<double> y{product_.data(), v.rows, q.cols, q.cols};
      tiled_product<double>(1, Transpose::no, v, Transpose::no, q, 0, y, threads_);
      multiply_lower(joined_t_.view().block(0, 0, v.rows, v.rows), Transpose::yes, y);
      tiled_product<double>(-1, Transpose::yes, v, Transpose::no, y, 1, q, threads_);
      ticker.at(n_ + n_ - parts.front().row);
      end = begin;
    }
  }

  Matrix<double> a_;
  Index n_;
  Matrix<double> reflectors_;
  Matrix<double> triangles_;
  Matrix<double> product_;
  Matrix<double> square_;
  Matrix<double> work_;
  Matrix<double> joined_v_;
  Matrix<double> joined_t_;
  Index joined_rows_ = 0;
  std::vector<Reflection> reflections_;
  int threads_;
  Progress* progress_;
};

}  // namespace

BandForm band_form(Matrix<double> a, int threads, Progress* progress) {
  return Reduction(std::move(a), threads, progress).run();
}

}  // namespace widelimit::cpu
