#pragma once

#include "widelimit/base/types.hpp"
#include "widelimit/engine/cuda/digits.hpp"
#include "widelimit/network/activation.hpp"

#include <cstdint>
#include <type_traits>

/// A recipe on vectors as a device runs it: steps with the numbers they need, all trivially copyable. The state of a
/// pair is that of the processor's strips: ρ, t = 1 − |ρ| with its own digits, and θ_m relative to both deviations.
/// [widelimit/engine/cpu/vector/strip.hpp]
namespace widelimit::cuda {

enum class DenseOp : std::uint8_t {
  add_rho,         ///< a layer without bias
  blend_constant,  ///< a layer with bias
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
  series,      ///< Mehler's series, and the logistic mixture where that has too few terms
  shrink,      ///< dropout
  fork,
  swap,
  join,
  emit,
};

struct DenseStep {
  DenseOp op = DenseOp::add_rho;
  Phi phi = Phi::relu;
  bool odd = false;  ///< series of odd functions
  /// Channels [begin, end) to whose θ the ρ after this step is added.
  std::int32_t trained_begin = 0;
  std::int32_t trained_end = 0;
  std::int32_t degree = 0;
  std::int32_t first_constant = 0;  ///< arc_cosine: four runs of degree + 1 coefficients
  std::int32_t nngp_slot = -1;
  std::int32_t ntk_slot = 0;
  std::int32_t ntk_count = 0;
  /// First row of this step among the features of each side (emit: among the deviations), and coefficients of its
  /// series there.
  std::int32_t row_feature = 0;
  std::int32_t col_feature = 0;
  std::int32_t row_terms = 0;
  std::int32_t col_terms = 0;
  double a = 0.0;  ///< rectifier: A; shrink: rate; radial: γ
  double b = 0.0;  ///< rectifier: B
};
static_assert(std::is_trivially_copyable_v<DenseStep>);

/// One side of a tile, in device memory: features are in the precision of the arithmetic.
struct DenseSide {
  const double* unit = nullptr;  ///< n × d
  DigitRows digits;              ///< of the unit rows; for products by digits alone
  Index dimension = 0;
  const void* features = nullptr;  ///< features × n
  /// Emit steps × n, in their order, in double; beside them rounded to float, NaN where that does not hold them.
  const double* deviations = nullptr;
  const float* rounded_deviations = nullptr;
  Index samples = 0;
  Index first = 0;  ///< sample of the first row or column
  Index count = 0;
};

/// Where a component of the mixture of normal distributions lies. [recipe/quadrature/logistic_mixture.hpp]
struct DenseMixture {
  double deviation = 0.0;
  double weight = 0.0;
};

/// An output as the steps write it.
struct DenseOutput {
  void* data = nullptr;
  Index stride = 0;
};

/// How unit rows are multiplied.
enum class DenseProducts : std::uint8_t {
  f64,
  digits,         ///< S₀, S₁ and S₂
  digits_to_last  ///< S₃ too, for the pairs that need it
};

struct DenseTile {
  DenseProducts products = DenseProducts::f64;
  Precision arithmetic = Precision::f32;  ///< of the steps; products by digits are for float
  Precision output = Precision::f32;
  DenseSide rows;
  DenseSide cols;
  Index first_row = 0;  ///< where the tile lies in the outputs
  Index first_col = 0;
  bool mirrored = false;  ///< the transpose is written to the mirror image of the tile, too
  /// Only pairs i ≤ j are computed: a square on the diagonal of a symmetric matrix, whose mirror is itself.
  bool upper_only = false;
  const DenseStep* steps = nullptr;  ///< in device memory
  std::int32_t step_count = 0;
  std::int32_t channels = 0;
  std::int32_t depth = 1;  ///< states that are alive at once
  /// At most `chain_steps` steps, all `add_rho` and `rectifier` but for the last, which emits one output: a network
  /// without branches and biases.
  bool chain = false;
  const double* constants = nullptr;
  const DenseMixture* mixture = nullptr;
  std::int32_t mixture_count = 0;
  const DenseOutput* outputs = nullptr;  ///< in device memory
  const double* diagonal = nullptr;      ///< outputs × samples, of each sample with itself, where upper_only
};

/// Branches that may be open at once, and channels carried by one pass over the pairs; more channels take more passes.
constexpr int dense_depth = 4;
constexpr int dense_channels = 8;
constexpr int chain_steps = 128;

/// The first entry that left the range of the output.
struct DenseOverflow {
  Index row = -1;  ///< samples; −1 where nothing did
  Index col = -1;
  Index slot = -1;
};

}  // namespace widelimit::cuda
