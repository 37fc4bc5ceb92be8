#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/engine/cpu/algebra/cut_product.hpp"
#include "widelimit/engine/cpu/algebra/host_memory.hpp"

namespace widelimit::cpu {

/// Dense linear algebra of the cpu engine: BLAS and LAPACK on tiles distributed over threads.
class CpuAlgebra final : public Algebra {
 public:
  explicit CpuAlgebra(int threads) : threads_(threads) {}

  [[nodiscard]] EngineMatrix allocate(Index rows, Index cols, Precision precision) const override;
  [[nodiscard]] EngineMatrix hold(const AnyView& host) const override;
  [[nodiscard]] std::optional<EngineMatrix> over(const AnyView& host) const override;
  [[nodiscard]] std::optional<AnyView> host_view(const EngineMatrix& a) const override;
  void copy(const EngineMatrix& a, EngineMatrix& to) const override;
  void read(const EngineMatrix& a, MatrixView<float> host) const override;
  void read(const EngineMatrix& a, MatrixView<double> host) const override;
  void write(MatrixView<const double> host, EngineMatrix& a) const override;
  [[nodiscard]] EngineMatrix gather(const EngineMatrix& a, std::span<const Index> rows,
                                    std::span<const Index> cols) const override;
  [[nodiscard]] std::vector<double> diagonal(const EngineMatrix& a) const override;
  [[nodiscard]] Symmetry symmetry(const EngineMatrix& k, double allowed) const override;
  [[nodiscard]] std::uint64_t checksum(const EngineMatrix& k) const override;
  void multiply(Transpose op, const EngineMatrix& a, MatrixView<const double> v, MatrixView<double> out) const override;
  void multiply_single(Transpose op, const EngineMatrix& a, MatrixView<const double> v,
                       MatrixView<double> out) const override;
  void multiply_precisely(const EngineMatrix& k, MatrixView<const double> v, MatrixView<double> out,
                          Progress* progress) const override;
  void multiply_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const override;
  void solve_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const override;
  void host_product(double alpha, Transpose op_a, MatrixView<const float> a, Transpose op_b, MatrixView<const float> b,
                    double beta, MatrixView<float> c) const override {
    cut_product<float>(static_cast<float>(alpha), op_a, a, op_b, b, static_cast<float>(beta), c, threads_);
  }
  void host_product(double alpha, Transpose op_a, MatrixView<const double> a, Transpose op_b,
                    MatrixView<const double> b, double beta, MatrixView<double> c) const override {
    cut_product<double>(alpha, op_a, a, op_b, b, beta, c, threads_);
  }
  void product(double alpha, Transpose op_a, const EngineMatrix& a, Transpose op_b, const EngineMatrix& b, double beta,
               EngineMatrix& c) const override;
  double scaled(const EngineMatrix& k, std::span<const double> scale, std::span<const double> shift, EngineMatrix& out,
                Progress* progress) const override;
  void inner_product(const EngineMatrix& x, std::span<const double> weights, bool whole,
                     EngineMatrix& out) const override;
  [[nodiscard]] std::vector<double> column_squares(const EngineMatrix& x,
                                                   std::span<const double> weights) const override;
  void scale_rows(EngineMatrix& a, std::span<const double> scale) const override;
  void add_to_diagonal(EngineMatrix& a, std::span<const double> shift) const override;
  [[nodiscard]] double symmetric_norm(const EngineMatrix& a) const override;
  [[nodiscard]] Index cholesky(EngineMatrix& a, Progress* progress) const override;
  void solve(Transpose op, const EngineMatrix& u, MatrixView<double> b) const override;
  void transpose_upper(EngineMatrix& a) const override;
  [[nodiscard]] Index pivoted_cholesky(EngineMatrix& a, double least, std::vector<Index>& order,
                                       Progress* progress) const override;
  [[nodiscard]] Inertia inertia(const EngineMatrix& a) const override;
  [[nodiscard]] std::vector<double> eigenvalues(EngineMatrix a, Progress* progress) const override;
  [[nodiscard]] std::vector<double> eigenvectors(EngineMatrix a, EngineMatrix& vectors,
                                                 Progress* progress) const override;
  [[nodiscard]] std::unique_ptr<ShiftedFamily> shifted_family(EngineMatrix a, Progress* progress) const override;
  [[nodiscard]] std::unique_ptr<IndefiniteFactor> indefinite_factor(EngineMatrix a, Progress* progress) const override;

 private:
  /// Returns the number of threads for a matrix: one below a million entries, where synchronisation dominates.
  [[nodiscard]] int team(Index rows, Index cols) const { return rows * cols < 1'000'000 ? 1 : threads_; }
  [[nodiscard]] int team(const EngineMatrix& a) const { return team(a.rows(), a.cols()); }

  int threads_;
};

}  // namespace widelimit::cpu
