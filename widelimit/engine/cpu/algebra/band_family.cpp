#include "widelimit/engine/cpu/algebra/band_family.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

namespace widelimit::cpu {

namespace {

/// Wide enough for products with so many columns to run at speed, narrow enough that a shift stays cheap.
constexpr Index band_width = 48;

/// Reflections that are applied to Q as one.
constexpr Index joined_count = 4;

/// A = Q B Qᵀ with Q orthogonal and B a symmetric band, cut into blocks of `width` rows (the last may be shorter), each
/// of which meets only its neighbours:
///
///     B_kk in rows k·width … of `diagonal`,  B_{k,k−1} in the same rows of `below`.
///
/// A whole path of shifts A + cI then costs O(n² width) each, as much as eigenvectors would give, for half the price of
/// eigenvectors: products of matrices all the way, no tridiagonal form, no iteration.
struct BandForm {
  Index width = 0;
  Matrix<double> q;
  Matrix<double> diagonal;
  Matrix<double> below;

  [[nodiscard]] Index samples() const { return q.rows(); }
  [[nodiscard]] Index blocks() const { return (samples() + width - 1) / width; }
  [[nodiscard]] Index rows(Index block) const { return std::min(width, samples() - block * width); }
};

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

  /// The product of some reflections, first to last, as one: I − V T Vᵀ, V and T by rows as above. With
  /// (I − V₁T₁V₁ᵀ)(I − V₂T₂V₂ᵀ) the triangle grows by T₁₂ = −T₁ V₁ᵀV₂ T₂ (Schreiber and Van Loan 1989).
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

  /// Q row by row is Qᵀ column by column: from the last reflections to the first, Qᵀ ← Qᵀ (I − V Tᵀ Vᵀ), of which
  /// each touches only the square it knows; several joined at a time, since reading that square is what takes time.
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
  Matrix<double> joined_v_;
  Matrix<double> joined_t_;
  Index joined_rows_ = 0;
  std::vector<Reflection> reflections_;
  int threads_;
  Progress* progress_;
};

/// By blocks of Householder reflections: the part of A below the first block of the band is made triangular by a QR
/// factorisation, the rest of A is transformed from both sides, and so on. Reads the upper triangle of `a`, whose
/// memory becomes that of Q.  8n³/3 multiply-adds' worth of products, and 2n² doubles with `a`.
BandForm band_form(Matrix<double> a, int threads, Progress* progress) {
  return Reduction(std::move(a), threads, progress).run();
}

/// Smallest eigenvalue of B, which is that of A.  O(n² width).
double smallest_eigenvalue(const BandForm& form) {
  const int n = lapack_size(form.samples());
  const int band = static_cast<int>(std::min(form.width, form.samples() - 1));
  const int stride = band + 1;
  // LAPACK's lower band: entry (i, j) of B in row i − j of column j.
  std::vector<double> columns(usize(n) * usize(stride));
  const auto put = [&](Index i, Index j, double value) {
    if (i >= j && i - j <= band) columns[usize(j * stride + i - j)] = value;
  };
  for (Index i = 0; i < n; ++i) {
    const Index begin = i / form.width * form.width;
    for (Index j = 0; j < form.width; ++j) {
      if (begin + j <= i) put(i, begin + j, form.diagonal(i, j));
      if (begin > 0) put(i, begin - form.width + j, form.below(i, j));
    }
  }
  std::vector<double> values(usize(n));
  std::vector<double> work(2 * usize(n) + 1);
  const int work_size = 2 * n + 1;
  const int one = 1;
  int integer = 0, info = 0;
  double unused = 0;
  dsbevd_("N", "L", &n, &band, columns.data(), &stride, values.data(), &unused, &one, work.data(), &work_size, &integer,
          &one, &info);
  return values.front();
}

/// Shifts that share a pass over Q, and rows of Q in a strip: what they hold in between stays in the second cache.
constexpr Index group_size = 8;
constexpr Index strip_rows = 128;

/// c = alpha·op(a)·b + beta·c on this thread.
void multiply_add(Transpose op, double alpha, MatrixView<const double> a, MatrixView<const double> b, double beta,
                  MatrixView<double> c) {
  gemm<double>(alpha, op, a, Transpose::no, b, beta, c);
}

/// L of B + cI for several c beside each other, as the two matrices by which z_k = D_kᵀq_k − G_kᵀz_{k−1}:
/// D_k = L_k⁻ᵀ and G_k = F_kᵀL_k⁻ᵀ, F_k the block of L left of L_k.
class Factors {
 public:
  Factors(const BandForm& form, Index shifts)
      : width_(form.width),
        shifts_(shifts),
        inverse_(form.blocks() * width_, shifts * width_),
        step_(form.blocks() * width_, shifts * width_) {}

  [[nodiscard]] MatrixView<double> inverse(Index block, Index shift, Index rows) {
    return inverse_.view().block(block * width_, shift * width_, rows, rows);
  }
  [[nodiscard]] MatrixView<double> step(Index block, Index shift, Index rows) {
    return step_.view().block(block * width_, shift * width_, width_, rows);
  }
  /// D_k of all shifts, in a row of blocks.
  [[nodiscard]] MatrixView<double> inverses(Index block, Index rows) {
    return inverse_.view().block(block * width_, 0, rows, shifts_ * width_);
  }
  [[nodiscard]] Index shifts() const { return shifts_; }

  /// False where B + cI is not positive definite.
  bool factor(const BandForm& form, Index shift, double c);

 private:
  Index width_;
  Index shifts_;
  Matrix<double> inverse_;
  Matrix<double> step_;
};

bool Factors::factor(const BandForm& form, Index shift, double c) {
  Matrix<double> f(width_, width_);
  Matrix<double> l(width_, width_);
  for (Index k = 0; k < form.blocks(); ++k) {
    const Index rows = form.rows(k);
    const MatrixView<const double> diagonal = form.diagonal.view().block(k * width_, 0, rows, rows);
    const MatrixView<double> square = l.view().block(0, 0, rows, rows);
    for (Index i = 0; i < rows; ++i) {
      std::copy_n(diagonal.row(i), rows, square.row(i));
      square(i, i) += c;
    }
    const MatrixView<double> left = f.view().block(0, 0, rows, width_);
    if (k > 0) {
      multiply_add(Transpose::no, 1, form.below.view().block(k * width_, 0, rows, width_),
                   inverse(k - 1, shift, width_), 0, left);
      gemm<double>(-1, Transpose::no, left, Transpose::yes, left, 1, square);
    }
    if (potrf(square) != 0) return false;  // the upper triangle of the rows: L_kᵀ
    const MatrixView<double> d = inverse(k, shift, rows);
    for (Index i = 0; i < rows; ++i) d(i, i) = 1;
    trsm<double>(square, Transpose::no, d);
    if (k > 0) multiply_add(Transpose::yes, 1, left, d, 0, step(k, shift, rows));
  }
  return true;
}

/// u = L⁻¹QᵀR of one shift, from QᵀR.
Matrix<double> forward(const BandForm& form, Factors& factors, Index shift, MatrixView<const double> r) {
  Matrix<double> u(r.rows, r.cols);
  for (Index k = 0; k < form.blocks(); ++k) {
    const Index rows = form.rows(k);
    const MatrixView<double> here = u.view().block(k * form.width, 0, rows, r.cols);
    multiply_add(Transpose::yes, 1, factors.inverse(k, shift, rows), r.block(k * form.width, 0, rows, r.cols), 0, here);
    if (k == 0) continue;
    multiply_add(Transpose::yes, -1, factors.step(k, shift, rows),
                 u.view().block((k - 1) * form.width, 0, form.width, r.cols), 1, here);
  }
  return u;
}

/// z of a strip of rows of Q, for all shifts of a group.
void solve_strip(const BandForm& form, Factors& factors, const std::vector<Matrix<double>>& u, Index begin,
                 std::span<ShiftedInverse* const> results) {
  const Index width = form.width;
  const Index rows = std::min(strip_rows, form.samples() - begin);
  Matrix<double> z(rows, factors.shifts() * width);
  Matrix<double> before(rows, factors.shifts() * width);
  for (Index k = 0; k < form.blocks(); ++k) {
    const Index cols = form.rows(k);
    std::swap(z, before);
    multiply_add(Transpose::no, 1, form.q.view().block(begin, k * width, rows, cols), factors.inverses(k, cols), 0,
                 z.view());
    for (Index s = 0; s < factors.shifts(); ++s) {
      const MatrixView<double> here = z.view().block(0, s * width, rows, cols);
      if (k > 0) {
        multiply_add(Transpose::no, -1, before.view().block(0, s * width, rows, width), factors.step(k, s, cols), 1,
                     here);
      }
      ShiftedInverse& result = *results[usize(s)];
      multiply_add(Transpose::no, 1, here, u[usize(s)].view().block(k * width, 0, cols, result.solution.cols()), 1,
                   result.solution.view().block(begin, 0, rows, result.solution.cols()));
      for (Index i = 0; i < rows; ++i) {
        const double* row = here.row(i);
        result.diagonal[usize(begin + i)] += std::inner_product(row, row + cols, row, 0.0);
      }
    }
  }
}

/// One for each shift, of A = Q B Qᵀ. With B + cI = L Lᵀ, row q of Q and z = L⁻¹q,
///
///     (A + cI)⁻¹_ii = ‖z‖²,   ((A + cI)⁻¹R)_i = zᵀ L⁻¹QᵀR,
///
/// so that L⁻¹Qᵀ, block after block and a strip of rows of Q at a time, gives both.
/// O(n² (4 width + 2 columns)) for each shift.
std::vector<ShiftedInverse> shifted_inverses(const BandForm& form, MatrixView<const double> right_hand_sides,
                                             std::span<const double> shifts, int threads, Progress* progress) {
  const Index n = form.samples();
  const auto count = static_cast<Index>(shifts.size());
  const int team = team_size(threads);
  Matrix<double> rotated(n, right_hand_sides.cols);
  tiled_product<double>(1, Transpose::yes, form.q.view(), Transpose::no, right_hand_sides, 0, rotated.view(), team);
  std::vector<ShiftedInverse> results(shifts.size());
  ProgressTicker ticker(progress, n * count, "samples of the path");
  for (Index first = 0; first < count; first += group_size) {
    const Index size = std::min(group_size, count - first);
    Factors factors(form, size);
    std::vector<Matrix<double>> u(usize(size));
    std::vector<ShiftedInverse*> group;
    parallel_for(size, team, [&](Index s) {
      ShiftedInverse& result = results[usize(first + s)];
      result.positive_definite = factors.factor(form, s, shifts[usize(first + s)]);
      u[usize(s)] = forward(form, factors, s, rotated.view());
      result.solution = Matrix<double>(n, right_hand_sides.cols);
      result.diagonal.resize(usize(n));
    });
    for (Index s = 0; s < size; ++s) group.push_back(&results[usize(first + s)]);
    parallel_for((n + strip_rows - 1) / strip_rows, team,
                 [&](Index strip) { solve_strip(form, factors, u, strip * strip_rows, group); },
                 [&](Index done) { ticker.at(first * n + std::min(done * strip_rows, n) * size); });
  }
  return results;
}

class BandFamily final : public ShiftedFamily {
 public:
  BandFamily(BandForm form, int threads) : form_(std::move(form)), threads_(threads) {}
  [[nodiscard]] std::vector<ShiftedInverse> inverses(MatrixView<const double> right_hand_sides,
                                                     std::span<const double> shifts,
                                                     Progress* progress) const override {
    return shifted_inverses(form_, right_hand_sides, shifts, threads_, progress);
  }
  [[nodiscard]] double smallest_eigenvalue() const override { return cpu::smallest_eigenvalue(form_); }

 private:
  BandForm form_;
  int threads_;
};

}  // namespace

std::unique_ptr<ShiftedFamily> band_family(Matrix<double> a, int threads, Progress* progress) {
  return std::make_unique<BandFamily>(band_form(std::move(a), threads, progress), threads);
}

}  // namespace widelimit::cpu
