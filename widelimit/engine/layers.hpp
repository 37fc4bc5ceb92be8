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

/// φ without heap storage, to be passed to a device.
struct ScalarFunction {
  static constexpr int most_coefficients = 16;
  Phi phi = Phi::relu;
  double slope = 0;
  double gamma = 0;
  Index degree = 0;
  std::int32_t coefficients = 0;
  std::array<double, most_coefficients> coef = {};  ///< lowest power first
};
/// Returns std::nullopt if only the host can evaluate φ: a user-defined function, or a polynomial that is too long.
[[nodiscard]] std::optional<ScalarFunction> scalar_function(const Activation& activation);

/// Sliding windows over a grid of positions: output (i, j) reads, at offset (r, c), the position (i·row_stride + r −
/// rows_before, j·col_stride + c − cols_before), which wraps around or may lie outside.
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

/// Optimiser update of one weight w before and after the gradient of the losses, times `factor`, is accumulated into
/// sum(): the gradient buffer of Adam, else the velocity, else w itself.
template <std::floating_point T>
struct WeightMove {
  bool adaptive = false;
  bool nesterov = false;
  T scaled_l2 = 0;  ///< factor·l2, multiplies w − anchor
  T decayed = 0;    ///< factor·weight_decay, multiplies w
  T kept = 0;       ///< momentum
  T left = 1;       ///< factor of w under decoupled weight decay
  T beta1 = 0;
  T beta2 = 0;
  T fresh1 = 0;
  T fresh2 = 0;
  T epsilon = 0;
  T size = 0;
  T root = 0;
};
/// Weights and their optimiser state, each an array of `count` numbers or null.
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

/// `count` products with matrices at a fixed distance in memory.
struct Repeated {
  Index count = 1;
  Index a_step = 0;
  Index b_step = 0;
  Index c_step = 0;
};

/// Layer operations for finite networks of an engine with its own memory; engines in host memory do not implement them.
/// All pointers and views refer to engine memory unless stated otherwise; arrays are contiguous. Sums have a fixed
/// order, so results are reproducible bit for bit. Calls may be asynchronous; `download` and functions that return a
/// number wait. Images are N×positions×channels.
template <std::floating_point T>
class LayerPasses {
 public:
  virtual ~LayerPasses() = default;

  // Memory.

  /// Allocates uninitialised memory. Throws Error{resource} if memory does not suffice.
  [[nodiscard]] virtual T* allocate(Index count) = 0;
  virtual void release(T* memory) noexcept = 0;
  [[nodiscard]] virtual std::size_t free_bytes() const = 0;
  /// Copy from host memory, and to it.
  virtual void upload(const T* from, Index count, T* to) = 0;
  virtual void download(const T* from, Index count, T* to) = 0;
  virtual void copy(const T* from, Index count, T* to) = 0;
  virtual void clear(T* to, Index count) = 0;
  /// Row i of `to` is row rows[i] of `from`; `rows` is in host memory.
  virtual void take_rows(const T* from, Index row_size, std::span<const Index> rows, T* to) = 0;

  // Products: c = alpha·op(a)·op(b) + beta·c, summed in T or higher precision. c is not read if beta = 0.

  virtual void product(double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b,
                       double beta, MatrixView<T> c) = 0;
  virtual void products(double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b,
                        double beta, MatrixView<T> c, const Repeated& repeated) = 0;

  // Elementwise operations and reductions.

  /// to = a·x + b·y; `y` may be null if b = 0; `to` may alias x or y.
  virtual void combine(T a, const T* x, T b, const T* y, Index count, T* to) = 0;
  /// Adds scale·row to every row of `to`.
  virtual void add_row(T scale, const T* row, Index rows, Index cols, T* to) = 0;
  /// Adds factor·(sum of the rows) to `to`.
  virtual void add_column_sums(T factor, const T* from, Index rows, Index cols, T* to) = 0;
  /// Returns Σ (a − b)², or Σ a² if b is null, in float64.
  [[nodiscard]] virtual double squared_distance(const T* a, const T* b, Index count) = 0;

  virtual void activate(const ScalarFunction& phi, const T* x, Index count, T* y) = 0;
  /// back = signal ∘ φ'(x).
  virtual void activate_signal(const ScalarFunction& phi, const T* x, const T* signal, Index count, T* back) = 0;

  /// im2col with zero padding, and its transpose, for `count` images.
  virtual void gather_windows(const WindowGrid& grid, Index channels, Index count, const T* x, T* patches) = 0;
  virtual void scatter_windows(const WindowGrid& grid, Index channels, Index count, const T* patches, T* sum) = 0;
  /// factor·(sum of `change` over each window), and its transpose.
  virtual void pool_sum(const WindowGrid& grid, T factor, Index channels, Index count, const T* change, T* y) = 0;
  virtual void pool_sum_signal(const WindowGrid& grid, T factor, Index channels, Index count, const T* signal,
                               T* back) = 0;
  /// `change` at the first argmax of x in each window, and its transpose.
  virtual void pool_max(const WindowGrid& grid, Index channels, Index count, const T* x, const T* change, T* y) = 0;
  virtual void pool_max_signal(const WindowGrid& grid, Index channels, Index count, const T* x, const T* signal,
                               T* back) = 0;
  /// factor·(sum over positions), and its transpose.
  virtual void sum_positions(T factor, Index positions, Index channels, Index count, const T* x, T* y) = 0;
  virtual void spread_positions(T factor, Index positions, Index channels, Index count, const T* signal, T* back) = 0;

  /// Normalises each row to zero mean and unit standard deviation (constant rows become 0); and its symmetric Jacobian.
  virtual void normalise(Index rows, Index cols, const T* x, T* y) = 0;
  virtual void normalise_signal(Index rows, Index cols, const T* x, const T* signal, T* back) = 0;
  /// Dropout: x/rate if Random(seed, stream).uniform(first + i) < rate, else 0.
  virtual void drop(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, double rate, const T* x, Index count,
                    T* y) = 0;
  /// Softmax of each row in place; and its Jacobian, ζ∘(g − Σζg), applied to g in place.
  virtual void softmax(Index rows, Index cols, T* x) = 0;
  virtual void softmax_signal(Index rows, Index cols, const T* zeta, T* signal) = 0;

  // Optimisers.

  virtual void begin_step(const WeightMove<T>& move, const MovedWeights<T>& weights) = 0;
  virtual void end_step(const WeightMove<T>& move, const MovedWeights<T>& weights) = 0;

  // Empirical tangent kernels.

  /// kernel_ij += Σ_{p,q} (w·a + b)∘d over the entries (p, q) of sample i against sample j, both with `positions`
  /// positions; a and d have kernel.rows·positions rows.
  virtual void add_pairs(T w, T b, Index positions, const T* a, const T* d, MatrixView<T> kernel) = 0;
  /// Copies the entries above the diagonal to those below it.
  virtual void mirror_upper(MatrixView<T> kernel) = 0;
};

class EnclosurePasses;

/// The layers of an engine in both precisions, and its enclosures; they share ownership of the engine memory.
struct EngineLayers {
  std::shared_ptr<LayerPasses<float>> f32;
  std::shared_ptr<LayerPasses<double>> f64;
  std::shared_ptr<EnclosurePasses> enclosures;
};

/// Returns null if the engine has none.
template <std::floating_point T>
[[nodiscard]] const std::shared_ptr<LayerPasses<T>>& layers_of(const Engine& engine);

/// Throws Error{usage} unless the engine is the cpu or has layers: `work` (e.g. "Monte Carlo kernels") needs finite
/// networks, which other engines do not compute, and a record must name the engine that computed it.
void require_layers(const Engine& engine, std::string_view work);

}  // namespace widelimit
