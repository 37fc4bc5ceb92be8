#pragma once

#include "widelimit/engine/algebra.hpp"

namespace widelimit::reference {

/// Dense algebra by plain loops in long double; the reference for all solvers. Arrays store long double for any nominal
/// precision, so results are rounded only once, when they are read.
class ReferenceAlgebra final : public Algebra {
 public:
  [[nodiscard]] EngineMatrix allocate(Index rows, Index cols, Precision precision) const override;
  [[nodiscard]] EngineMatrix hold(const AnyView& host) const override;
  [[nodiscard]] std::optional<EngineMatrix> over(const AnyView& /*host*/) const override { return std::nullopt; }
  [[nodiscard]] std::optional<AnyView> host_view(const EngineMatrix& /*a*/) const override { return std::nullopt; }
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
                       MatrixView<double> out) const override {
    multiply(op, a, v, out);
  }
  void multiply_precisely(const EngineMatrix& k, MatrixView<const double> v, MatrixView<double> out,
                          Progress* progress) const override;
  void multiply_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const override;
  void solve_lower(Transpose op, const EngineMatrix& l, MatrixView<double> b) const override;
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
};

}  // namespace widelimit::reference
