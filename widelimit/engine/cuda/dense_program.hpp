#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/engine/cuda/digits.hpp"
#include "widelimit/network/activation.hpp"

#include <cstdint>
#include <type_traits>

/// The device program of a recipe on vectors: trivially copyable steps with their parameters. The state of a pair is
/// that of the CPU strips: ρ, t = 1 − |ρ| stored separately to full precision, and θ_m relative to both deviations.
/// [widelimit/engine/cpu/vector/strip.hpp]
namespace widelimit::cuda {

enum class DenseOp : std::uint8_t {
  add_rho,         ///< layer without bias
  blend_constant,  ///< layer with bias
  rectifier,
  erf,
  gelu,
  gaussian,
  radial,  ///< exp and rbf
  sine,
  cosine,
  sign,
  step_function,
  arc_cosine,  ///< x^n·1[x ≥ 0], n ≥ 1
  power,       ///< hermite
  series,      ///< Mehler series; the logistic mixture if the series has too few terms
  shrink,      ///< dropout
  fork,
  swap,
  join,
  emit,
};

struct DenseStep {
  DenseOp op = DenseOp::add_rho;
  Phi phi = Phi::relu;
  bool odd = false;  ///< series of an odd function
  /// Half-open range of channels to whose θ the ρ after this step is added.
  std::int32_t trained_begin = 0;
  std::int32_t trained_end = 0;
  std::int32_t degree = 0;
  std::int32_t first_constant = 0;  ///< arc_cosine: four arrays of degree + 1 coefficients
  std::int32_t nngp_slot = -1;
  std::int32_t ntk_slot = 0;
  std::int32_t ntk_count = 0;
  /// First row of this step in the feature table of each side (emit: in the deviations), and the number of series
  /// coefficients stored there.
  std::int32_t row_feature = 0;
  std::int32_t col_feature = 0;
  std::int32_t row_terms = 0;
  std::int32_t col_terms = 0;
  double a = 0.0;  ///< rectifier: A; shrink: rate; radial: γ
  double b = 0.0;  ///< rectifier: B
};
static_assert(std::is_trivially_copyable_v<DenseStep>);

/// One side of a tile, in device memory; features are stored in the precision of the arithmetic.
struct DenseSide {
  const double* unit = nullptr;  ///< n × d
  DigitRows digits;              ///< of the unit rows; only for products by digits
  Index dimension = 0;
  const void* features = nullptr;  ///< features × n
  /// Deviations in double, emit steps × n in step order, and rounded to float, NaN if float cannot represent them.
  const double* deviations = nullptr;
  const float* rounded_deviations = nullptr;
  Index samples = 0;
  Index first = 0;  ///< sample index of the first row or column
  Index count = 0;
};

/// One component of the scale mixture of normal distributions. [recipe/quadrature/logistic_mixture.hpp]
struct DenseMixture {
  double deviation = 0.0;
  double weight = 0.0;
};

/// An output matrix that the steps write to.
struct DenseOutput {
  void* data = nullptr;
  Index stride = 0;
};

/// How products of unit rows are computed.
enum class DenseProducts : std::uint8_t {
  f64,
  digits,         ///< S₀, S₁ and S₂
  digits_to_last  ///< also S₃, for the pairs that need it
};

struct DenseTile {
  DenseProducts products = DenseProducts::f64;
  Precision arithmetic = Precision::f32;  ///< of the steps; products by digits require float
  Precision output = Precision::f32;
  DenseSide rows;
  DenseSide cols;
  Index first_row = 0;  ///< position of the tile in the outputs
  Index first_col = 0;
  bool mirrored = false;  ///< also write the transpose to the mirrored tile
  /// Compute only pairs i ≤ j: a square tile on the diagonal of a symmetric matrix, which is its own mirror image.
  bool upper_only = false;
  const DenseStep* steps = nullptr;  ///< in device memory
  std::int32_t step_count = 0;
  std::int32_t channels = 0;
  std::int32_t depth = 1;  ///< number of simultaneously live states
  /// At most `chain_steps` steps, all `add_rho` or `rectifier` except the last, which emits one output: a network
  /// without branches and biases.
  bool chain = false;
  const double* constants = nullptr;
  const DenseMixture* mixture = nullptr;
  std::int32_t mixture_count = 0;
  const DenseOutput* outputs = nullptr;  ///< in device memory
  const double* diagonal = nullptr;      ///< outputs × samples: kernel values k(x, x), if upper_only
};

/// Tiles computed at a time. Each has scratch memory for the products of its unit rows, which the device releases in
/// `finish`.
constexpr std::size_t dense_lanes = 2;
[[nodiscard]] constexpr std::size_t product_bytes(DenseProducts products, Index rows, Index cols) {
  const std::size_t each = products == DenseProducts::f64 ? sizeof(double) : digit_sums * sizeof(std::int32_t);
  return usize(padded_count(rows) * padded_count(cols)) * each;
}

/// Maximum number of open branches, and channels processed per pass over the pairs; more channels take more passes.
constexpr int dense_depth = 4;
constexpr int dense_channels = 8;
constexpr int chain_steps = 128;

/// The first entry that overflowed the range of the output.
struct DenseOverflow {
  Index row = -1;  ///< sample indices; −1 if there was no overflow
  Index col = -1;
  Index slot = -1;
};

}  // namespace widelimit::cuda
