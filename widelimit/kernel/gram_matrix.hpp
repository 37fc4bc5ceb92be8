#pragma once

#include "widelimit/engine/select.hpp"

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Tolerated difference of the two triangles in units in the last place: user-supplied kernels may round them
/// differently.
inline constexpr int asymmetry_ulps = 64;

/// A symmetric matrix that is not in memory: stored in a file, or recomputed for each product.
class GramSource {
 public:
  virtual ~GramSource() = default;
  [[nodiscard]] virtual const Engine& engine() const = 0;
  [[nodiscard]] virtual Index samples() const = 0;
  /// Precision of the entries.
  [[nodiscard]] virtual Precision precision() const = 0;
  [[nodiscard]] virtual std::vector<double> diagonal() const = 0;
  /// K(:, chosen): samples × chosen.
  [[nodiscard]] virtual Matrix<double> columns(std::span<const Index> chosen) const = 0;
  /// out = K·v; v and out are contiguous. `progress` can cancel it.
  virtual void multiply(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const = 0;
  /// Approximate cost of an entry in multiply-adds, in a product with ten columns.
  [[nodiscard]] virtual double entry_cost() const = 0;
  /// Bytes allocated, excluding the inputs.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// Handle to a symmetric Gram matrix in the memory of an engine, or to a GramSource. Kernel machines, dynamics and
/// bounds use this interface and run where the matrix is stored. Copies share the matrix and its cached properties.
class GramMatrix {
 public:
  /// A user-supplied matrix in host memory, which must outlive the handle; runs on all processors of this machine.
  template <typename Host>
  requires std::convertible_to<const Host&, AnyView> GramMatrix(const Host& host)
      : GramMatrix(AnyView(host), all_processors()) {}
  template <std::floating_point T>
  GramMatrix(const Matrix<T>& host) : GramMatrix(AnyView(host.view()), all_processors()) {}
  GramMatrix(const AnyMatrix& host) : GramMatrix(view_of(host), all_processors()) {}
  /// The same on a given engine, which must outlive the handle as well.
  GramMatrix(const AnyView& host, const Engine& engine);
  /// A matrix in the memory of that engine.
  GramMatrix(EngineMatrix k, const Engine& engine);
  explicit GramMatrix(std::shared_ptr<const GramSource> source);

  [[nodiscard]] const Engine& engine() const;
  [[nodiscard]] const Algebra& algebra() const { return engine().algebra(); }
  [[nodiscard]] Index samples() const;
  [[nodiscard]] Precision precision() const;
  /// Relative rounding error of the entries: machine epsilon of their precision.
  [[nodiscard]] double epsilon() const;
  /// Whether the engine holds the full matrix.
  [[nodiscard]] bool held() const;
  /// Throws Error{usage} if the matrix is not held.
  [[nodiscard]] const EngineMatrix& matrix() const;

  /// Returns δ with |K_ij − K_ji| ≤ δ √|K_ii K_jj|: 0 if the triangles are equal, else 64 ε, where ε is epsilon().
  /// Kernels of this library are exactly symmetric; user-supplied kernels may round the two triangles differently.
  /// Throws Error{input} if K is not square, has an entry that is not finite, or a pair whose difference exceeds the
  /// tolerance.  O(n²), cached.
  [[nodiscard]] double asymmetry() const;
  /// As asymmetry(); also throws Error{input} if there are no samples or a diagonal entry exceeds 1e300, so that sums
  /// do not overflow float64.
  double check() const;

  [[nodiscard]] const std::vector<double>& diagonal() const;
  [[nodiscard]] double mean_diagonal() const;
  /// K(:, chosen): samples × chosen.
  [[nodiscard]] Matrix<double> columns(std::span<const Index> chosen) const;
  /// K(begin … begin + count − 1, first …): count × (samples − first).
  [[nodiscard]] Matrix<double> rows(Index begin, Index count, Index first = 0) const;
  /// out = K·v with float64 accumulation; v and out are contiguous.  O(n²·columns).
  void multiply(MatrixView<const double> v, MatrixView<double> out, Progress* progress = nullptr) const;
  void multiply(const double* v, double* out, Index columns = 1) const;
  /// The same for a held matrix, with sums accumulated in twice the precision.
  void multiply_precisely(MatrixView<const double> v, MatrixView<double> out, Progress* progress = nullptr) const;
  /// The submatrix of some samples on the same engine: a view if the samples are consecutive, else a copy.
  [[nodiscard]] GramMatrix part(std::span<const Index> samples) const;
  /// K(rows, cols), as a view or a copy as above.
  [[nodiscard]] EngineMatrix part(std::span<const Index> rows, std::span<const Index> cols) const;
  /// The same matrix in memory that the host can address: itself, or a copy on all processors of this machine if that
  /// takes at most an eighth of the free memory; else std::nullopt. Shared by solvers that update one variable at a
  /// time.
  [[nodiscard]] std::optional<GramMatrix> in_host_memory() const;
  /// Approximate cost of an entry in multiply-adds, in a product with ten columns.
  [[nodiscard]] double entry_cost() const;
  /// Bytes allocated by a source, excluding its inputs; 0 if the matrix is held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace widelimit
