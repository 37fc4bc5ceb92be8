#include "widelimit/engine/cpu/algebra/band_solve.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <numeric>

namespace widelimit::cpu {

namespace {

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
  [[nodiscard]] Index width() const { return width_; }
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
      ShiftedInverse& result = *results[static_cast<std::size_t>(s)];
      multiply_add(Transpose::no, 1, here,
                   u[static_cast<std::size_t>(s)].view().block(k * width, 0, cols, result.solution.cols()), 1,
                   result.solution.view().block(begin, 0, rows, result.solution.cols()));
      for (Index i = 0; i < rows; ++i) {
        const double* row = here.row(i);
        result.diagonal[static_cast<std::size_t>(begin + i)] += std::inner_product(row, row + cols, row, 0.0);
      }
    }
  }
}

}  // namespace

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
    std::vector<Matrix<double>> u(static_cast<std::size_t>(size));
    std::vector<ShiftedInverse*> group;
    parallel_for(size, team, [&](Index s) {
      ShiftedInverse& result = results[static_cast<std::size_t>(first + s)];
      result.positive_definite = factors.factor(form, s, shifts[static_cast<std::size_t>(first + s)]);
      u[static_cast<std::size_t>(s)] = forward(form, factors, s, rotated.view());
      result.solution = Matrix<double>(n, right_hand_sides.cols);
      result.diagonal.resize(static_cast<std::size_t>(n));
    });
    for (Index s = 0; s < size; ++s) group.push_back(&results[static_cast<std::size_t>(first + s)]);
    parallel_for((n + strip_rows - 1) / strip_rows, team,
                 [&](Index strip) { solve_strip(form, factors, u, strip * strip_rows, group); },
                 [&](Index done) { ticker.at(first * n + std::min(done * strip_rows, n) * size); });
  }
  return results;
}

namespace {

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
