#pragma once

#include "widelimit/engine/cuda/dense_program.hpp"
#include "widelimit/engine/cuda/plane/plane_device.hpp"

/// The device program of a recipe on samples with several places (positions of an image, merged nodes of a graph): runs
/// on pairs of samples and all pairs of their places; all types are trivially copyable. The state of a pair of places
/// is that of networks on vectors: ρ, t = 1 − |ρ| and θ_m relative to both deviations.
/// [widelimit/engine/cpu/vector/strip.hpp]
///
/// A *unit* is an image or a graph. Its numbers of places are indexed by level, in ascending order: grid sizes of an
/// image; for a graph, level 0 is the whole graph as one place, followed by rounds of colour refinement.
namespace widelimit::cuda {

/// Indices into two lists of units.
using UnitPair = ImagePair;

/// Source of the state that a pass produces.
enum class PlaceGather : std::uint8_t {
  same,    ///< the previous state, unchanged
  inputs,  ///< inner products of unit vectors, or equality of tags
  window,  ///< a sum over taps, the same tap on both sides
  rows,    ///< A·state, halfway to A·state·Bᵀ
  cols,    ///< (result of `rows`)·Bᵀ
  join,    ///< the sum of two states
};

/// Pairs of places of a state: all pairs of two levels, or equal places of one level.
struct PlaceExtent {
  std::int32_t rows = 0, cols = 0;  ///< levels
  bool equal = false;
  bool operator==(const PlaceExtent&) const = default;
};

/// One pass over pairs of places: a gather, followed by pointwise steps.
struct PlacePass {
  PlaceGather gather = PlaceGather::same;
  bool dense = false;  ///< rows, cols: dense matrix over all places, as in attention
  /// Buffer indices; 0 is the result of `rows`.
  std::int32_t source = 0, other = 0, target = 0;
  PlaceExtent before, beside, after;  ///< of source, other and target
  std::int32_t entry = 0;             ///< index of the PlaceEntry that the gather reads
  std::int32_t first_tap = 0, taps = 0;
  double scale = 1;                   ///< window: factor of the sum
  std::int32_t first = 0, count = 0;  ///< steps
};

/// Offsets of the data that a step reads for one unit. Entry 0 is the input, entry k + 1 is step k of the recipe.
struct PlaceEntry {
  std::int64_t features = 0;  ///< pointwise steps, join: each feature for all places
  /// window: r/R of the places before, then R/r of those after; rows, cols: weights of the list, or the transpose of a
  /// dense matrix; emit: deviations; inputs: each channel for all places.
  std::int64_t weights = 0;
  /// rows, cols: list start of each place after, then indices of places before; tags: low halves, then high halves.
  std::int64_t lists = 0;
  std::int32_t terms = 0;  ///< series: number of coefficients per place
};

/// Units in device memory.
struct PlaceUnits {
  const PlaceEntry* entries = nullptr;   ///< units × entries
  const std::int32_t* places = nullptr;  ///< units × levels
  const void* features = nullptr;        ///< in the arithmetic of the steps
  const double* weights = nullptr;
  const std::int32_t* lists = nullptr;
};

/// Runs pairs of units through the passes of a recipe; pointers refer to device memory.
struct PlaceCall {
  PlaceUnits first, second;
  const UnitPair* pairs = nullptr;
  const std::int64_t* memory_at = nullptr;  ///< byte offset of the states of each pair in `memory`
  char* memory = nullptr;
  const PlacePass* passes = nullptr;
  std::int32_t pass_count = 0;
  const PlaceExtent* buffers = nullptr;  ///< largest extent of each buffer
  std::int32_t buffer_count = 0;
  std::int32_t entries = 0, levels = 0;
  std::int32_t channels = 0;
  std::int32_t input_channels = 0;     ///< 0: tags
  const std::int32_t* taps = nullptr;  ///< source place of each tap and target place, −1 for padding
  const DenseStep* steps = nullptr;    ///< row_feature: the entry of the step
  const double* constants = nullptr;
  const DenseMixture* mixture = nullptr;
  std::int32_t mixture_count = 0;
  double* values = nullptr;  ///< output s of pair k at s·values_stride + values_at[k], for each pair of its last places
  std::int64_t values_stride = 0;
  const std::int64_t* values_at = nullptr;
};

/// Samples of a unit: first[unit] is its first sample, place[sample] a place of its last level. Null: the unit itself.
struct PlaceSamples {
  const std::int32_t* first = nullptr;
  const std::int32_t* place = nullptr;
};

/// Copies values of pairs of units to the matrix entries of their samples.
struct PlaceWrite {
  const double* values = nullptr;
  const std::int64_t* values_at = nullptr;
  const UnitPair* pairs = nullptr;
  std::int32_t pair_count = 0;
  PlaceSamples first, second;
  const std::int32_t* second_places = nullptr;  ///< of the second units: units × levels
  std::int32_t levels = 1, last_level = 0;
  std::int32_t most_rows = 1, most_cols = 1;  ///< maximum number of samples per unit
  std::int32_t row_begin = 0, row_end = 0, col_begin = 0, col_end = 0;
  bool mirrored = false;  ///< only entries i < j and their mirror images
  PlaneOutput to;
};

}  // namespace widelimit::cuda
