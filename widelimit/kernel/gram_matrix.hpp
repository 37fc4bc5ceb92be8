#pragma once

#include "widelimit/engine/select.hpp"

#include <concepts>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace widelimit {

/// Other people's kernels round the two halves differently by a few units in the last place: so many pass.
inline constexpr int asymmetry_ulps = 64;

/// A symmetric matrix that is not held: in a file, or computed anew for each product.
class GramSource {
 public:
  virtual ~GramSource() = default;
  [[nodiscard]] virtual const Engine& engine() const = 0;
  [[nodiscard]] virtual Index samples() const = 0;
  /// Of its entries.
  [[nodiscard]] virtual Precision precision() const = 0;
  [[nodiscard]] virtual std::vector<double> diagonal() const = 0;
  /// K(:, chosen): samples × chosen.
  [[nodiscard]] virtual Matrix<double> columns(std::span<const Index> chosen) const = 0;
  /// out = K·v; neither has gaps between rows. `progress` may stop it.
  virtual void multiply(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const = 0;
  /// About how many multiply-adds an entry costs in a product with ten columns.
  [[nodiscard]] virtual double entry_cost() const = 0;
  /// Bytes held, besides what was handed over.
  [[nodiscard]] virtual std::size_t bytes() const = 0;
};

/// A symmetric Gram matrix as a handle: in the memory of an engine, or a GramSource. Machines, dynamics and bounds are
/// written against it and work where it lies. Copies share the matrix and what is known of it.
class GramMatrix {
 public:
  /// A caller's own matrix in host memory, which must outlive the handle, on all processors of this machine.
  template <typename Host>
  requires std::convertible_to<const Host&, AnyView> GramMatrix(const Host& host)
      : GramMatrix(AnyView(host), all_processors()) {}
  template <std::floating_point T>
  GramMatrix(const Matrix<T>& host) : GramMatrix(AnyView(host.view()), all_processors()) {}
  GramMatrix(const AnyMatrix& host) : GramMatrix(view_of(host), all_processors()) {}
  /// The same on a given engine, which must outlive the handle, too.
  GramMatrix(const AnyView& host, const Engine& engine);
  /// A matrix of that engine.
  GramMatrix(EngineMatrix k, const Engine& engine);
  explicit GramMatrix(std::shared_ptr<const GramSource> source);

  [[nodiscard]] const Engine& engine() const;
  [[nodiscard]] const Algebra& algebra() const { return engine().algebra(); }
  [[nodiscard]] Index samples() const;
  [[nodiscard]] Precision precision() const;
  /// Relative rounding of its entries: that of their precision.
  [[nodiscard]] double epsilon() const;
  /// Whether the engine holds all of it.
  [[nodiscard]] bool held() const;
  /// Error{usage} where it is not held.
  [[nodiscard]] const EngineMatrix& matrix() const;

  /// δ with |K_ij − K_ji| ≤ δ √|K_ii K_jj|: 0 where the halves are equal, else 64 ε, ε that of the matrix. Our kernels
  /// are exactly symmetric; those of others may round the two halves differently, and that much passes. Error{input}
  /// where K is not square, or for an entry that is not finite or a pair that differs by more, which it names.
  /// O(n²), once.
  [[nodiscard]] double asymmetry() const;
  /// The same; also Error{input} unless there is a sample and all of the diagonal is at most 1e300, so that sums stay
  /// in the range of float64.
  double check() const;

  [[nodiscard]] const std::vector<double>& diagonal() const;
  [[nodiscard]] double mean_diagonal() const;
  /// K(:, chosen): samples × chosen.
  [[nodiscard]] Matrix<double> columns(std::span<const Index> chosen) const;
  /// K(begin … begin + count − 1, first …): count × (samples − first).
  [[nodiscard]] Matrix<double> rows(Index begin, Index count, Index first = 0) const;
  /// out = K·v, sums in float64; neither has gaps between rows.  O(n²·columns).
  void multiply(MatrixView<const double> v, MatrixView<double> out, Progress* progress = nullptr) const;
  void multiply(const double* v, double* out, Index columns = 1) const;
  /// The same of a matrix that is held, with sums carried in twice the precision.
  void multiply_precisely(MatrixView<const double> v, MatrixView<double> out, Progress* progress = nullptr) const;
  /// The matrix of some of the samples, on the same engine: of consecutive ones a view that shares the entries, else a
  /// copy.
  [[nodiscard]] GramMatrix part(std::span<const Index> samples) const;
  /// K(rows, cols), a view or a copy likewise.
  [[nodiscard]] EngineMatrix part(std::span<const Index> rows, std::span<const Index> cols) const;
  /// The same matrix where the host may look at it: itself, or a copy on all processors of this machine where that
  /// takes an eighth of the free memory at most; else nothing. Solvers that move one variable at a time share it.
  [[nodiscard]] std::optional<GramMatrix> in_host_memory() const;
  /// About how many multiply-adds an entry costs in a product with ten columns.
  [[nodiscard]] double entry_cost() const;
  /// Bytes held by a source, besides what was handed over; 0 where the matrix is held.
  [[nodiscard]] std::size_t bytes() const;

 private:
  struct Shared;
  std::shared_ptr<Shared> shared_;
};

}  // namespace widelimit
