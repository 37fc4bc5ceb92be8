#include "widelimit/engine/cpu/algebra/band_family.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/band_form.hpp"
#include "widelimit/engine/cpu/algebra/band_pass.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace widelimit::cpu {

namespace {

/// Returns the smallest eigenvalue of B, equal to that of A.  O(n² width).
double smallest_eigenvalue(const BandForm& form) {
  const int n = lapack_size(form.samples());
  const int band = static_cast<int>(std::min(BandForm::width, form.samples() - 1));
  const int stride = band + 1;
  // LAPACK's lower band storage: entry (i, j) of B in row i − j of column j.
  std::vector<double> columns(usize(n) * usize(stride));
  const auto put = [&](Index i, Index j, double value) {
    if (i >= j && i - j <= band) columns[usize(j * stride + i - j)] = value;
  };
  for (Index i = 0; i < n; ++i) {
    const Index begin = i / BandForm::width * BandForm::width;
    for (Index j = 0; j < BandForm::width; ++j) {
      if (begin + j <= i) put(i, begin + j, form.diagonal(i, j));
      if (begin > 0) put(i, begin - BandForm::width + j, form.below(i, j));
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

/// Number of shifts per pass over Q, and rows of Q per strip: the intermediate results fit in the second-level cache.
constexpr Index group_size = 8;
constexpr Index strip_rows = 128;
static_assert(BandForm::width % band_pass_columns == 0);

/// The factor L of B + cI in the form in which L⁻¹ is applied block by block: with L_k on the diagonal of L and F_k
/// left of it, D_k = L_k⁻ᵀ and G_k = −F_kᵀL_k⁻ᵀ, each in rows k·width ….
struct BandFactor {
  explicit BandFactor(const BandForm& form)
      : inverse(form.blocks() * BandForm::width, BandForm::width), step(inverse.rows(), BandForm::width) {}

  Matrix<double> inverse;  ///< D
  Matrix<double> step;     ///< G

  [[nodiscard]] MatrixView<const double> d(Index k, Index rows, Index cols) const {
    return inverse.view().block(k * BandForm::width, 0, rows, cols);
  }
  [[nodiscard]] MatrixView<const double> g(Index k, Index cols) const {
    return step.view().block(k * BandForm::width, 0, BandForm::width, cols);
  }
};

/// Returns std::nullopt if B + cI is not positive definite.
std::optional<BandFactor> factor(const BandForm& form, double c) {
  constexpr Index width = BandForm::width;
  BandFactor result(form);
  Matrix<double> f(width, width);
  Matrix<double> l(width, width);
  for (Index k = 0; k < form.blocks(); ++k) {
    const Index rows = form.rows(k);
    const MatrixView<const double> diagonal = form.diagonal.view().block(k * width, 0, rows, rows);
    const MatrixView<double> square = l.view().block(0, 0, rows, rows);
    for (Index i = 0; i < rows; ++i) {
      std::copy_n(diagonal.row(i), rows, square.row(i));
      square(i, i) += c;
    }
    const MatrixView<double> left = f.view().block(0, 0, rows, width);
    if (k > 0) {
      gemm<double>(1, Transpose::no, form.below.view().block(k * width, 0, rows, width), Transpose::no,
                   result.d(k - 1, width, width), 0, left);
      gemm<double>(-1, Transpose::no, left, Transpose::yes, left, 1, square);
    }
    if (potrf(square) != 0) return std::nullopt;  // upper triangle by rows: L_kᵀ
    const MatrixView<double> d = result.inverse.view().block(k * width, 0, rows, rows);
    for (Index i = 0; i < rows; ++i) d(i, i) = 1;
    trsm<double>(square, Transpose::no, d);
    if (k > 0) {
      gemm<double>(-1, Transpose::yes, left, Transpose::no, d, 0, result.step.view().block(k * width, 0, width, rows));
    }
  }
  return result;
}

/// Computes (B + cI)⁻¹R in place for a narrow R: L⁻¹R by u_k = D_kᵀr_k + G_kᵀu_{k−1}, then L⁻ᵀ by v_k = u_k +
/// G_{k+1}v_{k+1} and D_kv_k.
void solve_band(const BandForm& form, const BandFactor& l, MatrixView<double> r) {
  const auto part = [&](Index k) { return r.block(k * BandForm::width, 0, form.rows(k), r.cols); };
  Matrix<double> copy(BandForm::width, r.cols);
  const auto multiply = [&](Transpose op, Index k) {
    const MatrixView<double> here = part(k);
    const MatrixView<double> before = copy.view().block(0, 0, here.rows, here.cols);
    for (Index i = 0; i < here.rows; ++i) std::copy_n(here.row(i), here.cols, before.row(i));
    gemm<double>(1, op, l.d(k, here.rows, here.rows), Transpose::no, before, 0, here);
  };
  for (Index k = 0; k < form.blocks(); ++k) {
    multiply(Transpose::yes, k);
    if (k > 0) gemm<double>(1, Transpose::yes, l.g(k, form.rows(k)), Transpose::no, part(k - 1), 1, part(k));
  }
  for (Index k = form.blocks() - 2; k >= 0; --k) {
    gemm<double>(1, Transpose::no, l.g(k + 1, form.rows(k + 1)), Transpose::no, part(k + 1), 1, part(k));
  }
  for (Index k = 0; k < form.blocks(); ++k) multiply(Transpose::no, k);
}

/// A group of shifts that share a pass over Q.
class ShiftGroup {
 public:
  ShiftGroup(const BandForm& form, std::span<const double> shifts, std::span<ShiftedInverse> results)
      : form_(form), shifts_(shifts), results_(results), factors_(shifts.size()) {}

  /// Computes L for all shifts.
  void factor_all(int team) {
    parallel_for(std::ssize(shifts_), team, [&](Index s) {
      factors_[usize(s)] = factor(form_, shifts_[usize(s)]);
      results_[usize(s)].positive_definite = factors_[usize(s)].has_value();
      results_[usize(s)].diagonal.resize(usize(form_.samples()));
    });
  }

  /// Computes Q (B + cI)⁻¹ `rotated`, all shifts side by side; zeros if there is no L.
  void solve(const Matrix<double>& rotated, int team) {
    const Index cols = rotated.cols();
    const auto of = [&](Matrix<double>& all, Index s) { return all.view().block(0, s * cols, rotated.rows(), cols); };
    Matrix<double> inner(rotated.rows(), std::ssize(shifts_) * cols);
    parallel_for(std::ssize(shifts_), team, [&](Index s) {
      if (!factors_[usize(s)]) return;
      const MatrixView<double> r = of(inner, s);
      for (Index i = 0; i < r.rows; ++i) std::copy_n(rotated.view().row(i), cols, r.row(i));
      solve_band(form_, *factors_[usize(s)], r);
    });
    Matrix<double> solutions(inner.rows(), inner.cols(), Content::unset);
    tiled_product<double>(1, Transpose::no, form_.q.view(), Transpose::no, inner.view(), 0, solutions.view(), team);
    for (Index s = 0; s < std::ssize(shifts_); ++s) {
      const MatrixView<double> from = of(solutions, s);
      results_[usize(s)].solution = Matrix<double>(from.rows, cols, Content::unset);
      for (Index i = 0; i < from.rows; ++i) {
        std::copy_n(from.row(i), cols, results_[usize(s)].solution.view().row(i));
      }
    }
  }

  /// Computes ‖L⁻¹q‖² for a strip of rows q of Q.
  void diagonals(Index begin) {
    constexpr Index width = BandForm::width;
    const Index rows = std::min(strip_rows, form_.samples() - begin);
    Matrix<double> z(std::ssize(shifts_) * rows, width), before(z.rows(), width);
    for (Index k = 0; k < form_.blocks(); ++k) {
      std::swap(z, before);
      const MatrixView<const double> q = form_.q.view().block(begin, k * width, rows, form_.rows(k));
      for (Index s = 0; s < std::ssize(shifts_); ++s) {
        const auto& l = factors_[usize(s)];
        if (!l) continue;
        band_pass(q, l->d(k, q.cols, width), before.view().block(s * rows, 0, rows, k > 0 ? width : 0), l->g(k, width),
                  z.view().block(s * rows, 0, rows, width), results_[usize(s)].diagonal.data() + begin);
      }
    }
  }

 private:
  const BandForm& form_;
  std::span<const double> shifts_;
  std::span<ShiftedInverse> results_;
  std::vector<std::optional<BandFactor>> factors_;
};

/// Returns one result per shift for A = Q B Qᵀ. With B + cI = L Lᵀ and row q of Q,
///
///     (A + cI)⁻¹_ii = ‖L⁻¹q‖²,   (A + cI)⁻¹R = Q (B + cI)⁻¹ QᵀR.
///
/// L⁻¹Qᵀ is computed block by block for one strip of rows of Q at a time.  O(n² (2 width + columns)) multiply-adds per
/// shift.
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
    ShiftGroup group(form, shifts.subspan(usize(first), usize(size)),
                     std::span(results).subspan(usize(first), usize(size)));
    group.factor_all(team);
    group.solve(rotated, team);
    parallel_for((n + strip_rows - 1) / strip_rows, team, [&](Index strip) { group.diagonals(strip * strip_rows); },
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
