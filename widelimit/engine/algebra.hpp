#pragma once

#include "widelimit/base/progress.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/engine/engine_matrix.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace widelimit {

/// Whether the two halves of a matrix agree.
struct Symmetry {
  bool equal = true;  ///< bit for bit
  /// The first pair (i, j), i ≤ j, of which an entry is not finite, or that differ by more than was allowed.
  std::optional<std::pair<Index, Index>> offender;
};

/// Numbers of eigenvalues of a symmetric matrix by their sign.
struct Inertia {
  Index negative = 0;
  Index zero = 0;
  Index positive = 0;
  bool operator==(const Inertia&) const = default;
};

/// (A + cI)⁻¹ as far as a machine needs it.
struct ShiftedInverse {
  bool positive_definite = false;  ///< nothing else is set where it is not
  Matrix<double> solution;         ///< (A + cI)⁻¹R
  std::vector<double> diagonal;    ///< of (A + cI)⁻¹
};

/// A symmetric matrix A, reduced once so that A + cI is cheap to solve with for many c.
class ShiftedFamily {
 public:
  virtual ~ShiftedFamily() = default;
  /// One for each shift.
  [[nodiscard]] virtual std::vector<ShiftedInverse> inverses(MatrixView<const double> right_hand_sides,
                                                             std::span<const double> shifts,
                                                             Progress* progress) const = 0;
  [[nodiscard]] virtual double smallest_eigenvalue() const = 0;
};

/// A symmetric matrix A, definite or not, factored once to solve with.
class IndefiniteFactor {
 public:
  virtual ~IndefiniteFactor() = default;
  [[nodiscard]] virtual Index size() const = 0;
  /// Signs of the eigenvalues of A.
  [[nodiscard]] virtual Inertia inertia() const = 0;
  /// b = A⁻¹b; A must be regular, that is, inertia().zero must be 0.
  virtual void solve(MatrixView<double> b) const = 0;
};

/// Dense algebra of an engine. Matrices of size n × n are Arrays and stay where the engine works; vectors and blocks of
/// few columns are host matrices in float64 without gaps between rows, which the engine moves as it needs. Symmetric
/// matrices are read and written in their upper triangle unless said otherwise. All calls may be stopped by a Progress;
/// results do not depend on the number of threads.
class Algebra {
 public:
  virtual ~Algebra() = default;

  // Memory.

  /// Entries are undefined. Error{resource} where there is no room.
  [[nodiscard]] virtual EngineMatrix allocate(Index rows, Index cols, Precision precision) const = 0;
  /// A host matrix as an EngineMatrix: a copy, or, where the engine works in host memory, the matrix itself, which must
  /// then outlive it and is never written to.
  [[nodiscard]] virtual EngineMatrix hold(const AnyView& host) const = 0;
  /// A host matrix that the engine may write to, which must outlive it; nothing where the engine does not work in host
  /// memory.
  [[nodiscard]] virtual std::optional<EngineMatrix> over(const AnyView& host) const = 0;
  /// The entries, where the host may look at them in place.
  [[nodiscard]] virtual std::optional<AnyView> host_view(const EngineMatrix& a) const = 0;
  /// to = a, rounded to the precision of `to`.
  virtual void copy(const EngineMatrix& a, EngineMatrix& to) const = 0;
  virtual void read(const EngineMatrix& a, MatrixView<float> host) const = 0;
  virtual void read(const EngineMatrix& a, MatrixView<double> host) const = 0;
  virtual void write(MatrixView<const double> host, EngineMatrix& a) const = 0;
  /// Rows and columns of a matrix, in its precision.
  [[nodiscard]] virtual EngineMatrix gather(const EngineMatrix& a, std::span<const Index> rows,
                                            std::span<const Index> cols) const = 0;
  [[nodiscard]] virtual std::vector<double> diagonal(const EngineMatrix& a) const = 0;

  // A Gram matrix as a whole.

  /// Pairs may differ by `allowed`·√|k_ii k_jj|.  O(n²).
  [[nodiscard]] virtual Symmetry symmetry(const EngineMatrix& k, double allowed) const = 0;
  /// Of all entries: different matrices have different sums.  O(n²).
  [[nodiscard]] virtual std::uint64_t checksum(const EngineMatrix& k) const = 0;

  // Products with host matrices.

  /// out = op(a)·v, sums in float64.  O(rows·cols·columns).
  virtual void multiply(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                        MatrixView<double> out) const = 0;
  /// out = op(a)·v where a is float32: sums in float32 over 4,096 rows at most, in float64 over those.
  virtual void multiply_single(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                               MatrixView<double> out) const = 0;
  /// out = k·v for a symmetric k, all of it stored, sums carried in twice the precision of float64.
  virtual void multiply_precisely(const EngineMatrix& k, MatrixView<const double> v, MatrixView<double> out,
                                  Progress* progress) const = 0;
  /// b = op(l)·b and b = op(l)⁻¹b for the lower triangle of l.
  virtual void multiply_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const = 0;
  virtual void solve_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const = 0;

  /// c = alpha·op(a)·op(b) + beta·c, all three of the host; where beta is 0, c is not read. The default works on
  /// copies.
  virtual void host_product(double alpha, Transpose op_a, MatrixView<const float> a, Transpose op_b,
                            MatrixView<const float> b, double beta, MatrixView<float> c) const;
  virtual void host_product(double alpha, Transpose op_a, MatrixView<const double> a, Transpose op_b,
                            MatrixView<const double> b, double beta, MatrixView<double> c) const;

  // Products of matrices of the engine.

  /// c = alpha·op(a)·op(b) + beta·c, all three of one precision.  O(rows·cols·inner).
  virtual void product(double alpha, Transpose op_a, const EngineMatrix& a, Transpose op_b, const EngineMatrix& b,
                       double beta, EngineMatrix& c) const = 0;

  // Symmetric matrices made of others.

  /// out = S k S + diag(shift) with S = diag(scale), or k itself where `scale` is empty; returns ‖out‖₁. Reads all of
  /// k, whose halves may differ by rounding.  O(n²).
  virtual double scaled(const EngineMatrix& k, std::span<const double> scale, std::span<const double> shift,
                        EngineMatrix& out, Progress* progress) const = 0;
  /// out = xᵀ diag(weights) x, or xᵀx where there are no weights; both halves of it where `whole`. Where x is float32,
  /// sums as in multiply_single.  O(rows·cols²).
  virtual void inner_product(const EngineMatrix& x, std::span<const double> weights, bool whole,
                             EngineMatrix& out) const = 0;
  /// Σᵢ weightsᵢ x_ij² of each column.
  [[nodiscard]] virtual std::vector<double> column_squares(const EngineMatrix& x,
                                                           std::span<const double> weights) const = 0;
  virtual void scale_rows(EngineMatrix& a, std::span<const double> scale) const = 0;
  virtual void add_to_diagonal(EngineMatrix& a, std::span<const double> shift) const = 0;
  /// ‖a‖₁ of a symmetric matrix.
  [[nodiscard]] virtual double symmetric_norm(const EngineMatrix& a) const = 0;

  // Factors.

  /// a = uᵀu in place; the order of the first leading minor that is not positive, or 0.  n³/3 multiply-adds.
  [[nodiscard]] virtual Index cholesky(EngineMatrix& a, Progress* progress) const = 0;
  /// b = op(u)⁻¹b, u an upper triangle. In the precision of u; columns of b are scaled so that float32 holds them.
  virtual void solve(Transpose op, const EngineMatrix& u, MatrixView<double> b) const = 0;
  /// The upper triangle of a becomes the lower one; above the diagonal are zeros.
  virtual void transpose_upper(EngineMatrix& a) const = 0;
  /// pᵀap = llᵀ over the lower triangle, the largest diagonal entry left always the next pivot; ends where that is not
  /// above `least`, and returns the rank found. Row i of l is row order[i] of a; entries beyond the rank are undefined,
  /// those above the diagonal 0.
  [[nodiscard]] virtual Index pivoted_cholesky(EngineMatrix& a, double least, std::vector<Index>& order,
                                               Progress* progress) const = 0;
  /// Signs of the eigenvalues, by a factorisation a = ldlᵀ with pivots (Bunch and Kaufman 1977). Destroys a.
  [[nodiscard]] virtual Inertia inertia(EngineMatrix a) const = 0;
  /// Smallest first. Destroys a.
  [[nodiscard]] virtual std::vector<double> eigenvalues(EngineMatrix a, Progress* progress) const = 0;
  /// The same, with an eigenvector in each row of `vectors`. Error{numerical} where they do not converge.
  [[nodiscard]] virtual std::vector<double> eigenvectors(EngineMatrix a, EngineMatrix& vectors,
                                                         Progress* progress) const = 0;
  /// Destroys a.
  [[nodiscard]] virtual std::unique_ptr<ShiftedFamily> shifted_family(EngineMatrix a, Progress* progress) const = 0;

  /// A = LDLᵀ with pivots (Bunch and Kaufman 1977), n³/3 multiply-adds, where the engine has it; the default solves by
  /// eigenvectors. Destroys a.
  [[nodiscard]] virtual std::unique_ptr<IndefiniteFactor> indefinite_factor(EngineMatrix a, Progress* progress) const;

  // What follows from the above, the same for all engines.

  /// Estimate of ‖A‖₁‖A⁻¹‖₁ from the factor u of A = uᵀu and ‖A‖₁: a lower bound that is seldom below a third of it
  /// (Hager 1984; Higham 1988). Infinity where it is beyond counting. At most eleven solutions, O(n²) each.
  [[nodiscard]] double condition(const EngineMatrix& u, double norm) const;
  /// The same of an indefinite A.
  [[nodiscard]] static double condition(const IndefiniteFactor& factor, double norm);
  /// b = (uᵀu)⁻¹b.
  void solve_factored(const EngineMatrix& u, MatrixView<double> b) const;
  /// A copy in engine memory of its own.
  [[nodiscard]] EngineMatrix copy_of(const EngineMatrix& a, Precision precision) const;
  [[nodiscard]] EngineMatrix copy_of(MatrixView<const double> host) const;
};

}  // namespace widelimit
