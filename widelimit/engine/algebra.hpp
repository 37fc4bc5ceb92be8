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

/// Symmetry check of a square matrix.
struct Symmetry {
  bool equal = true;  ///< entries agree bit for bit
  /// First pair (i, j), i ≤ j, with a non-finite entry or with a difference above the tolerance.
  std::optional<std::pair<Index, Index>> invalid_entry;
};

/// Number of negative, zero and positive eigenvalues of a symmetric matrix.
struct Inertia {
  Index negative = 0;
  Index zero = 0;
  Index positive = 0;
  bool operator==(const Inertia&) const = default;
};
/// Signs of the eigenvalues of A, given in ascending order; those of modulus at most n ε ‖A‖₂ count as 0.
[[nodiscard]] Inertia eigenvalue_signs(std::span<const double> eigenvalues);

/// Solution with A + cI and the diagonal of (A + cI)⁻¹.
struct ShiftedInverse {
  bool positive_definite = false;  ///< if false, the other members are not set
  Matrix<double> solution;         ///< (A + cI)⁻¹R
  std::vector<double> diagonal;    ///< of (A + cI)⁻¹
};

/// A symmetric matrix A, reduced once so that solving with A + cI is cheap for many shifts c.
class ShiftedFamily {
 public:
  virtual ~ShiftedFamily() = default;
  /// Returns one result per shift.
  [[nodiscard]] virtual std::vector<ShiftedInverse> inverses(MatrixView<const double> right_hand_sides,
                                                             std::span<const double> shifts,
                                                             Progress* progress) const = 0;
  [[nodiscard]] virtual double smallest_eigenvalue() const = 0;
};

/// Factorisation of a symmetric, possibly indefinite matrix A.
class IndefiniteFactor {
 public:
  virtual ~IndefiniteFactor() = default;
  [[nodiscard]] virtual Index size() const = 0;
  /// Returns the signs of the eigenvalues of A.
  [[nodiscard]] virtual Inertia inertia() const = 0;
  /// Solves in place: b = A⁻¹b. Requires inertia().zero == 0.
  virtual void solve(MatrixView<double> b) const = 0;
};

/// Dense linear algebra of an engine. Matrices of size n × n are EngineMatrix handles in engine memory; vectors and
/// narrow blocks are contiguous float64 host matrices, which the engine transfers as needed. Symmetric matrices are
/// read and written in their upper triangle unless stated otherwise. A Progress can stop any call that takes one.
/// Results do not depend on the number of threads.
class Algebra {
 public:
  virtual ~Algebra() = default;

  // Memory.

  /// Allocates an uninitialised matrix. Throws Error{resource} if memory does not suffice.
  [[nodiscard]] virtual EngineMatrix allocate(Index rows, Index cols, Precision precision) const = 0;
  /// Returns a host matrix as an EngineMatrix. Engines in host memory wrap it without a copy: it must then outlive the
  /// handle and is never written to. Other engines copy it.
  [[nodiscard]] virtual EngineMatrix hold(const AnyView& host) const = 0;
  /// Wraps a writable host matrix, which must outlive the handle. Returns std::nullopt if the engine does not work in
  /// host memory.
  [[nodiscard]] virtual std::optional<EngineMatrix> over(const AnyView& host) const = 0;
  /// Returns a view of the entries, or std::nullopt if the host cannot access them.
  [[nodiscard]] virtual std::optional<AnyView> host_view(const EngineMatrix& a) const = 0;
  /// Copies a to `to`, rounded to the precision of `to`.
  virtual void copy(const EngineMatrix& a, EngineMatrix& to) const = 0;
  virtual void read(const EngineMatrix& a, MatrixView<float> host) const = 0;
  virtual void read(const EngineMatrix& a, MatrixView<double> host) const = 0;
  virtual void write(MatrixView<const double> host, EngineMatrix& a) const = 0;
  /// Returns the given rows and columns of a, in its precision.
  [[nodiscard]] virtual EngineMatrix gather(const EngineMatrix& a, std::span<const Index> rows,
                                            std::span<const Index> cols) const = 0;
  [[nodiscard]] virtual std::vector<double> diagonal(const EngineMatrix& a) const = 0;

  // Whole Gram matrices.

  /// Checks symmetry; k_ij and k_ji may differ by `allowed`·√|k_ii k_jj|.  O(n²).
  [[nodiscard]] virtual Symmetry symmetry(const EngineMatrix& k, double allowed) const = 0;
  /// Returns a 64-bit checksum of all entries, to tell matrices apart.  O(n²).
  [[nodiscard]] virtual std::uint64_t checksum(const EngineMatrix& k) const = 0;

  // Products with host matrices.

  /// out = op(a)·v, summed in float64.  O(rows·cols·columns).
  virtual void multiply(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                        MatrixView<double> out) const = 0;
  /// out = op(a)·v for a float32 a: sums in float32 over blocks of at most 4,096 rows, in float64 across blocks.
  virtual void multiply_single(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                               MatrixView<double> out) const = 0;
  /// out = k·v for a symmetric k stored in full, with sums in twice the precision of float64.
  virtual void multiply_precisely(const EngineMatrix& k, MatrixView<const double> v, MatrixView<double> out,
                                  Progress* progress) const = 0;
  /// b = op(l)·b and b = op(l)⁻¹b with the lower triangle of l.
  virtual void multiply_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const = 0;
  virtual void solve_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const = 0;

  /// c = alpha·op(a)·op(b) + beta·c with host matrices; c is not read if beta = 0. The default works on engine copies.
  virtual void host_product(double alpha, Transpose op_a, MatrixView<const float> a, Transpose op_b,
                            MatrixView<const float> b, double beta, MatrixView<float> c) const;
  virtual void host_product(double alpha, Transpose op_a, MatrixView<const double> a, Transpose op_b,
                            MatrixView<const double> b, double beta, MatrixView<double> c) const;

  // Products of engine matrices.

  /// c = alpha·op(a)·op(b) + beta·c, all of one precision.  O(rows·cols·inner).
  virtual void product(double alpha, Transpose op_a, const EngineMatrix& a, Transpose op_b, const EngineMatrix& b,
                       double beta, EngineMatrix& c) const = 0;

  // Construction of symmetric matrices.

  /// out = S k S + diag(shift) with S = diag(scale), or S = I if `scale` is empty; returns ‖out‖₁. Reads all of k,
  /// whose halves may differ by rounding.  O(n²).
  virtual double scaled(const EngineMatrix& k, std::span<const double> scale, std::span<const double> shift,
                        EngineMatrix& out, Progress* progress) const = 0;
  /// out = xᵀ diag(weights) x, or xᵀx if `weights` is empty; fills both triangles if `whole`. Sums as in
  /// multiply_single if x is float32.  O(rows·cols²).
  virtual void inner_product(const EngineMatrix& x, std::span<const double> weights, bool whole,
                             EngineMatrix& out) const = 0;
  /// Returns Σᵢ weightsᵢ x_ij² for each column j.
  [[nodiscard]] virtual std::vector<double> column_squares(const EngineMatrix& x,
                                                           std::span<const double> weights) const = 0;
  virtual void scale_rows(EngineMatrix& a, std::span<const double> scale) const = 0;
  virtual void add_to_diagonal(EngineMatrix& a, std::span<const double> shift) const = 0;
  /// Returns ‖a‖₁ of a symmetric matrix.
  [[nodiscard]] virtual double symmetric_norm(const EngineMatrix& a) const = 0;

  // Factorisations.

  /// Factors a = uᵀu in place; returns the order of the first leading minor that is not positive, or 0.  n³/3
  /// multiply-adds.
  [[nodiscard]] virtual Index cholesky(EngineMatrix& a, Progress* progress) const = 0;
  /// b = op(u)⁻¹b with the upper triangle of u, in the precision of u; columns of b are scaled to the range of
  /// float32.
  virtual void solve(Transpose op, const EngineMatrix& u, MatrixView<double> b) const = 0;
  /// Transposes the upper triangle of a into the lower one; sets entries above the diagonal to 0.
  virtual void transpose_upper(EngineMatrix& a) const = 0;
  /// Factors pᵀap = llᵀ over the lower triangle with diagonal pivoting; stops once the largest remaining diagonal entry
  /// is at most `least`, and returns the rank. Row i of l belongs to row order[i] of a. Entries beyond the rank are
  /// undefined, those above the diagonal 0.
  [[nodiscard]] virtual Index pivoted_cholesky(EngineMatrix& a, double least, std::vector<Index>& order,
                                               Progress* progress) const = 0;
  /// Returns the signs of the eigenvalues, from a copy a = ldlᵀ with pivoting (Bunch and Kaufman 1977) if the engine
  /// can factor it, else from the eigenvalues.
  [[nodiscard]] virtual Inertia inertia(const EngineMatrix& a) const = 0;
  /// Returns the eigenvalues in ascending order. Destroys a.
  [[nodiscard]] virtual std::vector<double> eigenvalues(EngineMatrix a, Progress* progress) const = 0;
  /// As eigenvalues, with the eigenvectors as rows of `vectors`. Throws Error{numerical} if the iteration does not
  /// converge.
  [[nodiscard]] virtual std::vector<double> eigenvectors(EngineMatrix a, EngineMatrix& vectors,
                                                         Progress* progress) const = 0;
  /// Reduces a for solves with many shifts. Destroys a.
  [[nodiscard]] virtual std::unique_ptr<ShiftedFamily> shifted_family(EngineMatrix a, Progress* progress) const = 0;

  /// A = LDLᵀ with pivoting (Bunch and Kaufman 1977), n³/3 multiply-adds, if the engine implements it; the default uses
  /// an eigendecomposition. Destroys a.
  [[nodiscard]] virtual std::unique_ptr<IndefiniteFactor> indefinite_factor(EngineMatrix a, Progress* progress) const;

  // Derived operations, the same for all engines.

  /// Estimates ‖A‖₁‖A⁻¹‖₁ from the factor u of A = uᵀu and norm = ‖A‖₁: a lower bound that is rarely below a third of
  /// the true value (Hager 1984; Higham 1988). Returns infinity on overflow. At most eleven solves, O(n²) each.
  [[nodiscard]] double condition(const EngineMatrix& u, double norm) const;
  /// As above for a possibly indefinite A.
  [[nodiscard]] static double condition(const IndefiniteFactor& factor, double norm);
  /// b = (uᵀu)⁻¹b.
  void solve_factored(const EngineMatrix& u, MatrixView<double> b) const;
  /// Returns a copy in engine memory.
  [[nodiscard]] EngineMatrix copy_of(const EngineMatrix& a, Precision precision) const;
  [[nodiscard]] EngineMatrix copy_of(MatrixView<const double> host) const;
};

}  // namespace widelimit
