#pragma once

#include "widelimit/base/matrix.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/engine/engine_matrix.hpp"
#include "widelimit/network/activation.hpp"

#include <array>
#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>

namespace widelimit {

class Engine;

/// φ without the containers of Activation, as an engine takes it along.
struct ScalarFunction {
  static constexpr int most_coefficients = 16;
  Phi phi = Phi::relu;
  double slope = 0;
  double gamma = 0;
  Index degree = 0;
  std::int32_t coefficients = 0;
  std::array<double, most_coefficients> coef = {};  ///< lowest power first
};
/// Nothing where only the host can evaluate φ: a function of the user's own, a polynomial of more coefficients.
[[nodiscard]] std::optional<ScalarFunction> scalar_function(const Activation& activation);

/// Windows that slide over a grid of positions: output (i, j) reads, at place (r, c), the position
/// (i·row_stride + r − rows_before, j·col_stride + c − cols_before), which wraps around or may lie outside.
struct WindowGrid {
  std::int32_t in_height = 1;
  std::int32_t in_width = 1;
  std::int32_t height = 1;
  std::int32_t width = 1;
  std::int32_t rows = 1;
  std::int32_t cols = 1;
  std::int32_t row_stride = 1;
  std::int32_t col_stride = 1;
  std::int32_t rows_before = 0;
  std::int32_t cols_before = 0;
  bool circular = false;
};

/// What a step of an optimiser does to one weight w before and after the gradient of the losses, times `factor`, was
/// added to its sum: the gradient of Adam, else the velocity, else w itself.
template <std::floating_point T>
struct WeightMove {
  bool adaptive = false;
  bool nesterov = false;
  T pulled = 0;   ///< factor·pull, of w − anchor
  T decayed = 0;  ///< factor·weight_decay, of w
  T kept = 0;     ///< momentum
  T left = 1;     ///< of w, where decay stands beside the gradient
  T beta1 = 0;
  T beta2 = 0;
  T fresh1 = 0;
  T fresh2 = 0;
  T epsilon = 0;
  T size = 0;
  T root = 0;
};
/// Weights with what belongs to them, all of `count` numbers or null.
template <std::floating_point T>
struct MovedWeights {
  Index count = 0;
  T* w = nullptr;
  const T* anchor = nullptr;
  T* velocity = nullptr;
  T* squares = nullptr;
  T* gradient = nullptr;

  [[nodiscard]] T* sum() const { return gradient != nullptr ? gradient : (velocity != nullptr ? velocity : w); }
};

/// Products of as many matrices as `count`, each `step` numbers after the one before it.
struct Repeated {
  Index count = 1;
  Index a_step = 0;
  Index b_step = 0;
  Index c_step = 0;
};

/// What networks of finite width ask of an engine with memory of its own; engines that work in host memory have none of
/// it. All pointers and views are to that memory unless said otherwise, arrays without gaps, sums in one order only, so
/// that the same call gives the same bits. A call may return before it is done; `download` and what returns a
/// number wait. Images are N×positions×channels.
template <std::floating_point T>
class LayerPasses {
 public:
  virtual ~LayerPasses() = default;

  // Memory.

  /// Numbers are undefined. Error{resource} where there is no room.
  [[nodiscard]] virtual T* allocate(Index count) = 0;
  virtual void release(T* memory) noexcept = 0;
  [[nodiscard]] virtual std::size_t free_bytes() const = 0;
  /// From host memory, and to it.
  virtual void upload(const T* from, Index count, T* to) = 0;
  virtual void download(const T* from, Index count, T* to) = 0;
  virtual void copy(const T* from, Index count, T* to) = 0;
  virtual void clear(T* to, Index count) = 0;
  /// Row i of `to` is row rows[i] of `from`; `rows` are of the host.
  virtual void take_rows(const T* from, Index row_size, std::span<const Index> rows, T* to) = 0;

  // Products: c = alpha·op(a)·op(b) + beta·c, sums in T, never in less. Where beta is 0, c is not read.

  virtual void product(double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b,
                       double beta, MatrixView<T> c) = 0;
  virtual void products(double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b,
                        double beta, MatrixView<T> c, const Repeated& repeated) = 0;

  // Passes.

  /// to = a·x + b·y; `y` may be null where b is 0, `to` may be x or y.
  virtual void combine(T a, const T* x, T b, const T* y, Index count, T* to) = 0;
  /// Every row of `to` += scale·row.
  virtual void add_row(T scale, const T* row, Index rows, Index cols, T* to) = 0;
  /// to += factor·(sum of the rows).
  virtual void add_column_sums(T factor, const T* from, Index rows, Index cols, T* to) = 0;
  /// Σ (a − b)², or Σ a² where b is null, in float64.
  [[nodiscard]] virtual double squared_distance(const T* a, const T* b, Index count) = 0;

  virtual void activate(const ScalarFunction& phi, const T* x, Index count, T* y) = 0;
  /// back = signal ∘ φ'(x).
  virtual void activate_signal(const ScalarFunction& phi, const T* x, const T* signal, Index count, T* back) = 0;

  /// What every window sees, zeros outside (im2col), and its transpose, of `count` images.
  virtual void gather_windows(const WindowGrid& grid, Index channels, Index count, const T* x, T* patches) = 0;
  virtual void scatter_windows(const WindowGrid& grid, Index channels, Index count, const T* patches, T* sum) = 0;
  /// factor·(sum of `change` over each window), and its transpose.
  virtual void pool_sum(const WindowGrid& grid, T factor, Index channels, Index count, const T* change, T* y) = 0;
  virtual void pool_sum_signal(const WindowGrid& grid, T factor, Index channels, Index count, const T* signal,
                               T* back) = 0;
  /// `change` at the first place of each window where x is largest, and its transpose.
  virtual void pool_max(const WindowGrid& grid, Index channels, Index count, const T* x, const T* change, T* y) = 0;
  virtual void pool_max_signal(const WindowGrid& grid, Index channels, Index count, const T* x, const T* signal,
                               T* back) = 0;
  /// factor·(sum over positions), and its transpose.
  virtual void sum_positions(T factor, Index positions, Index channels, Index count, const T* x, T* y) = 0;
  virtual void spread_positions(T factor, Index positions, Index channels, Index count, const T* signal, T* back) = 0;

  /// Per row: minus its mean, divided by its standard deviation; zero where all are equal. And its Jacobian, symmetric.
  virtual void normalise(Index rows, Index cols, const T* x, T* y) = 0;
  virtual void normalise_signal(Index rows, Index cols, const T* x, const T* signal, T* back) = 0;
  /// x/rate where Random(seed, stream).uniform(first + i) < rate, else 0.
  virtual void drop(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, double rate, const T* x, Index count,
                    T* y) = 0;
  /// Of each row, in place; and ζ∘(g − Σζg) in place of g.
  virtual void softmax(Index rows, Index cols, T* x) = 0;
  virtual void softmax_signal(Index rows, Index cols, const T* zeta, T* signal) = 0;

  // Optimisers.

  virtual void begin_step(const WeightMove<T>& move, const MovedWeights<T>& weights) = 0;
  virtual void end_step(const WeightMove<T>& move, const MovedWeights<T>& weights) = 0;

  // Empirical tangent kernels.

  /// kernel_ij += Σ_{p,q} (w·a + b)∘d over the entries (p, q) of sample i against sample j, both with `positions`
  /// positions; a and d have kernel.rows·positions rows.
  virtual void add_pairs(T w, T b, Index positions, const T* a, const T* d, MatrixView<T> kernel) = 0;
  /// Entries below the diagonal become those above it.
  virtual void mirror_upper(MatrixView<T> kernel) = 0;
};

class EnclosurePasses;

/// The layers of an engine in both precisions, and its enclosures; they keep the engine's memory alive.
struct EngineLayers {
  std::shared_ptr<LayerPasses<float>> f32;
  std::shared_ptr<LayerPasses<double>> f64;
  std::shared_ptr<EnclosurePasses> enclosures;
};

/// Null where the engine has none.
template <std::floating_point T>
[[nodiscard]] const std::shared_ptr<LayerPasses<T>>& layers_of(const Engine& engine);

/// Error{usage} unless the engine is the processor's or has layers: `work` ("Monte-Carlo kernels") needs networks of
/// finite width, which others do not compute themselves, and a record must not name one that did not.
void require_layers(const Engine& engine, std::string_view work);

}  // namespace widelimit
