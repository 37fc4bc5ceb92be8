#include "widelimit/engine/cpu/algebra/band_form.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <vector>

namespace widelimit::cpu {

namespace {

/// Wide enough for products with so many columns to run at speed, narrow enough that a shift stays cheap.
constexpr Index band_width = 48;

/// One block reflection I − V T Vᵀ on the rows from `row` on: V is (n − row) × count, column-major without gaps.
struct Reflection {
  Index row = 0;
  Index count = 0;
  double* v = nullptr;
  double* t = nullptr;  ///< width × count, column-major, upper triangular
};

/// A in LAPACK's eyes: column-major, lower triangle.
class Reduction {
 public:
  Reduction(Matrix<double> a, int threads, Progress* progress)
      : a_(std::move(a)),
        n_(a_.rows()),
        reflectors_(n_, std::max<Index>(n_ - band_width, 0), Content::unset),
        triangles_(n_, band_width),
        product_(n_, band_width, Content::unset),
        square_(band_width, band_width),
        threads_(team_size(threads)),
        progress_(progress) {}

  BandForm run() {
    ProgressTicker ticker(progress_, 2 * n_, "rows");
    for (Index column = 0; column + band_width < n_; column += band_width) {
      eliminate(column);
      transform(reflections_.back());
      ticker.at(column);
    }
    BandForm form{band_width, {}, Matrix<double>(n_, band_width), Matrix<double>(n_, band_width)};
    for (Index begin = 0; begin < n_; begin += band_width) copy_block(begin, form);
    accumulate(ticker);
    form.q = std::move(a_);
    return form;
  }

 private:
  double* at(Index i, Index j) { return a_.data() + j * n_ + i; }

  /// QR of what lies below the band in the columns from `column` on.
  void eliminate(Index column) {
    const Index row = column + band_width;
    const Index rows = n_ - row;
    Reflection next{row, std::min(band_width, rows), reflectors_.data() + column * n_,
                    triangles_.data() + column * band_width};
    const int m = lapack_size(rows);
    const int width = static_cast<int>(band_width);
    const int count = static_cast<int>(next.count);
    const int stride = lapack_size(n_);
    int info = 0;
    dgeqrt_(&m, &width, &count, at(row, column), &stride, next.t, &width, product_.data(), &info);
    for (Index j = 0; j < next.count; ++j) {
      double* v = next.v + j * rows;
      std::fill_n(v, j, 0.0);
      v[j] = 1;
      std::copy_n(at(row + j + 1, column + j), rows - j - 1, v + j + 1);
    }
    reflections_.push_back(next);
  }

  /// V and T by rows instead of columns: V is count × m, T lower triangular.
  [[nodiscard]] MatrixView<const double> reflector(const Reflection& h) const {
    return {h.v, h.count, n_ - h.row, n_ - h.row};
  }
  [[nodiscard]] static MatrixView<const double> triangle(const Reflection& h) {
    return {h.t, h.count, h.count, band_width};
  }
  [[nodiscard]] MatrixView<double> rest_of_a(const Reflection& h) {
    return a_.view().block(h.row, h.row, n_ - h.row, n_ - h.row);
  }

  /// A ← (I − V Tᵀ Vᵀ) A (I − V T Vᵀ) = A − V Wᵀ − W Vᵀ,  W = X − ½ V Tᵀ Vᵀ X,  X = A V T; all by rows, so that what
  /// is written here is the transpose of that.
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
    tiled_rank_two_update(-1, v, x, a, threads_);
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

  /// Q row by row is Qᵀ column by column: from the last reflection to the first, Qᵀ ← Qᵀ (I − V Tᵀ Vᵀ), of which
  /// each touches only the square it knows.
  void accumulate(ProgressTicker& ticker) {
    std::fill_n(a_.data(), n_ * n_, 0.0);
    for (Index i = 0; i < n_; ++i) a_(i, i) = 1;
    for (auto h = reflections_.rbegin(); h != reflections_.rend(); ++h) {
      const MatrixView<const double> v = reflector(*h);
      const MatrixView<double> q = rest_of_a(*h);
      const MatrixView<double> y{product_.data(), v.rows, v.cols, v.cols};
      tiled_product<double>(1, Transpose::no, v, Transpose::no, q, 0, y, threads_);
      multiply_lower(triangle(*h), Transpose::yes, y);
      tiled_product<double>(-1, Transpose::yes, v, Transpose::no, y, 1, q, threads_);
      ticker.at(n_ + n_ - h->row);
    }
  }

  Matrix<double> a_;
  Index n_;
  Matrix<double> reflectors_;
  Matrix<double> triangles_;
  Matrix<double> product_;
  Matrix<double> square_;
  std::vector<Reflection> reflections_;
  int threads_;
  Progress* progress_;
};

}  // namespace

Index BandForm::rows(Index block) const { return std::min(width, samples() - block * width); }

BandForm band_form(Matrix<double> a, int threads, Progress* progress) {
  return Reduction(std::move(a), threads, progress).run();
}

double smallest_eigenvalue(const BandForm& form) {
  const int n = lapack_size(form.samples());
  const int band = static_cast<int>(std::min(form.width, form.samples() - 1));
  const int stride = band + 1;
  // LAPACK's lower band: entry (i, j) of B in row i − j of column j.
  std::vector<double> columns(static_cast<std::size_t>(n) * static_cast<std::size_t>(stride));
  const auto put = [&](Index i, Index j, double value) {
    if (i >= j && i - j <= band) columns[static_cast<std::size_t>(j * stride + i - j)] = value;
  };
  for (Index i = 0; i < n; ++i) {
    const Index begin = i / form.width * form.width;
    for (Index j = 0; j < form.width; ++j) {
      if (begin + j <= i) put(i, begin + j, form.diagonal(i, j));
      if (begin > 0) put(i, begin - form.width + j, form.below(i, j));
    }
  }
  std::vector<double> values(static_cast<std::size_t>(n));
  std::vector<double> work(2 * static_cast<std::size_t>(n) + 1);
  const int work_size = 2 * n + 1;
  const int one = 1;
  int integer = 0;
  int info = 0;
  double unused = 0;
  dsbevd_("N", "L", &n, &band, columns.data(), &stride, values.data(), &unused, &one, work.data(), &work_size, &integer,
          &one, &info);
  return values.front();
}

}  // namespace widelimit::cpu
