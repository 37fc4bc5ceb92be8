#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Stacks of 3×3 convolutions with a rectifier on at most 32×32 positions: what most of the time of pooled networks
/// goes to. Kernels keep a plane in the registers of a warp [register_plane.cuh].
namespace widelimit::cuda {

/// What the kernels know of a stack. Images are records of `channels + layers` tables of 32×32 floats, zero outside the
/// grid: the inputs over R√C, then the deviations after each window, in units of the state.
struct RegisterStack {
  int height = 32, width = 32;
  int channels = 3;
  int layers = 1;
  float slope = 0;            ///< of the rectifier
  std::uint64_t trained = 0;  ///< bit l: layer l has a trained weight

  [[nodiscard]] constexpr int tables() const { return channels + layers; }
};
constexpr int most_register_layers = 64;
constexpr int most_register_channels = 15;

/// What a stack in registers leaves.
enum class RegisterReadout : std::uint8_t { total, flat, pool };

/// The state grows by 9π in each layer; it is multiplied by 2⁻³⁸ after every eighth.
constexpr int register_rescale_period = 8;
constexpr double register_rescale = 0x1p-38;

/// A pair of images, indices into two arrays of records.
struct ImagePair {
  int first, second;
};

constexpr int flat_edge = 4;     ///< images of each side of a square of pairs
constexpr int flat_buffers = 3;  ///< tables of these images that are in shared memory at a time
constexpr int pooled_side = 16;
constexpr int pooled_stride = pooled_side + 4;  ///< of pooled rows: lanes of a warp then access all banks

/// Shared memory of a block in bytes: one table, the tables of a square, and what pooling sums up: both parities of
/// columns, Σ and Θ, 16 vertical displacements, 16 rows.
constexpr int table_bytes = 32 * 32 * static_cast<int>(sizeof(float));
constexpr int flat_bytes = flat_buffers * 2 * flat_edge * table_bytes;
constexpr int pooled_bytes = 2 * 2 * pooled_side * pooled_side * pooled_stride * static_cast<int>(sizeof(float));

/// Tables of each image of a pair that a block with `shared` bytes of shared memory holds at a time.
[[nodiscard]] constexpr int resident_tables(const RegisterStack& stack, RegisterReadout readout, int shared) {
  const int left = shared - (readout == RegisterReadout::pool ? pooled_bytes : 0);
  return std::min(stack.tables(), left / (2 * table_bytes));
}
/// Whether `shared` bytes suffice: the inputs and the first layer are read together, the other layers one at a time.
[[nodiscard]] constexpr bool fits_shared_memory(const RegisterStack& stack, RegisterReadout readout, int shared) {
  return readout == RegisterReadout::flat ? flat_bytes <= shared
                                          : resident_tables(stack, readout, shared) >= stack.channels + 1;
}

/// Deviations of `count` images, whose inputs are in place.
void trace_register_images(const RegisterStack& stack, float* records, int count, void* stream);
/// sums[2(pair·width + dx)], then + 1: sums of Σ and Θ over the planes of horizontal displacement dx.
void sum_register_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums, void* stream);
/// The same for the planes of displacement 0 alone: sums[2·pair]. Pairs come in squares of flat_edge² that share the
/// images of their rows and columns: pair (r, c) of a square at flat_edge·r + c.
void sum_equal_positions(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums, void* stream);
/// 2×2 sums over the positions of both images: what average pooling makes of the planes of an even grid. Planes of the
/// coarser grid, displacement (Dy, Dx) modulo it, are the sums of three parts:
///   parts[pair][2Dx][0] + parts[pair][2Dx + 1][0] + parts[pair][2Dx − 1][1],
/// each of Σ and Θ by Dy and position: 2·(h/2)·(h/2)(w/2) floats.
void pool_register_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                          int count, float* parts, void* stream);
[[nodiscard]] constexpr std::size_t pooled_part_size(const RegisterStack& stack) {
  return std::size_t{2} * (stack.height / 2) * (stack.height / 2) * (stack.width / 2);
}

}  // namespace widelimit::cuda
