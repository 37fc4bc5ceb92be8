#pragma once

#include "widelimit/engine/algebra.hpp"
#include "widelimit/engine/cuda/device_memory.hpp"
#include "widelimit/engine/device_matrices.hpp"

namespace widelimit::cuda {

/// Dense algebra on one device. Matrices stay in device memory; vectors and blocks of few columns are transferred.
/// Single cuSOLVER calls (eigenvectors, LDLᵀ) cannot be interrupted; everything else can.
class CudaAlgebra final : public Algebra, public DeviceMatrices {
 public:
  explicit CudaAlgebra(std::shared_ptr<Device> device) : device_(std::move(device)) {}

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
                       MatrixView<double> out) const override;
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

  [[nodiscard]] EngineMatrix adopt(const DeviceView& foreign, std::shared_ptr<const void> owner) const override;
  [[nodiscard]] DeviceView device_view(const EngineMatrix& a) const override;
  void synchronize() const override { device_->synchronize(); }
  [[nodiscard]] MemoryUse memory_use() const override;
  [[nodiscard]] std::size_t tile_bytes(Index edge, Index outputs, Precision precision) const override;
  void add_ceiling(std::size_t bytes) const override { device_->add_ceiling(bytes); }
  void remove_ceiling(std::size_t bytes) const override { device_->remove_ceiling(bytes); }

 private:
  [[nodiscard]] Array of(const EngineMatrix& a) const { return array_of(a, *device_); }
  /// The entries of `a` as a write target.
  [[nodiscard]] Array target(const EngineMatrix& a) const { return writable_array(a, *device_); }
  [[nodiscard]] EngineMatrix uploaded(MatrixView<const double> host, Precision precision) const;
  /// Returns `a` itself if it is float64, else a converted copy.
  [[nodiscard]] EngineMatrix in_double(const EngineMatrix& a) const;
  /// Allocates up to `rows` rows of float64: half as many until memory suffices.
  [[nodiscard]] EngineMatrix most_rows(Index rows, Index cols) const;
  /// out = xᵀ diag(w) x + beta·out for a block of rows, in the precision of x.
  void add_inner(const Array& x, std::span<const double> weights, bool whole, double beta, const Array& out) const;

  std::shared_ptr<Device> device_;
};

}  // namespace widelimit::cuda
