#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

/// Stacks of 3×3 convolutions with a rectifier on at most 32×32 positions, which dominate the time of pooled networks.
/// Kernels keep a plane in the registers of a warp [register_plane.cuh].
namespace widelimit::cuda {

/// Parameters of a stack. An image record has `channels + layers` tables of 32×32 floats, zero outside the grid: the
/// inputs over R√C, then the deviations after each window, in units of the state.
struct RegisterStack {
  int height = 32, width = 32;
  int channels = 3;
  int layers = 1;
  float slope = 0;            ///< slope of the rectifier
  std::uint64_t trained = 0;  ///< bit l: layer l has a trained weight

  [[nodiscard]] constexpr int tables() const { return channels + layers; }
};
constexpr int most_register_layers = 64;
constexpr int most_register_channels = 15;

/// Result of a register stack.
enum class RegisterReadout : std::uint8_t { total, flat, pool };

/// The state grows by up to 9π per layer; it is multiplied by 2⁻³⁸ after every eighth layer.
constexpr int register_rescale_period = 8;
constexpr double register_rescale = 0x1p-38;

/// A pair of images, as indices into two arrays of records.
struct ImagePair {
  int first, second;
};

constexpr int flat_edge = 4;     ///< images per side of a square block of pairs
constexpr int flat_buffers = 3;  ///< tables of these images in shared memory at a time
constexpr int pooled_side = 16;
constexpr int pooled_stride = pooled_side + 4;  ///< row stride of pooled values, which avoids bank conflicts

/// Shared memory of a block in bytes: one table; the tables of a square block; the pooling accumulators (both column
/// parities, Σ and Θ, 16 vertical displacements, 16 rows).
constexpr int table_bytes = 32 * 32 * static_cast<int>(sizeof(float));
constexpr int flat_bytes = flat_buffers * 2 * flat_edge * table_bytes;
constexpr int pooled_bytes = 2 * 2 * pooled_side * pooled_side * pooled_stride * static_cast<int>(sizeof(float));

/// Number of tables per image of a pair that fit into `shared` bytes of shared memory.
[[nodiscard]] constexpr int resident_tables(const RegisterStack& stack, RegisterReadout readout, int shared) {
  const int left = shared - (readout == RegisterReadout::pool ? pooled_bytes : 0);
  return std::min(stack.tables(), left / (2 * table_bytes));
}
/// Whether `shared` bytes suffice: the inputs and the first layer must fit together, the other layers are read singly.
[[nodiscard]] constexpr bool fits_shared_memory(const RegisterStack& stack, RegisterReadout readout, int shared) {
  return readout == RegisterReadout::flat ? flat_bytes <= shared
                                          : resident_tables(stack, readout, shared) >= stack.channels + 1;
}

/// Computes the deviations of `count` images, whose records already contain the inputs.
void trace_register_images(const RegisterStack& stack, float* records, int count, void* stream);
/// sums[2(pair·width + dx)] and the next element: Σ and Θ summed over the planes of horizontal displacement dx.
void sum_register_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums, void* stream);
/// The same for displacement 0 only: sums[2·pair]. Pairs come in square blocks of flat_edge² that share the images of
/// their rows and columns: pair (r, c) of a block at flat_edge·r + c.
void sum_equal_positions(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                         int count, double* sums, void* stream);
/// 2×2 sums over the positions of both images: average pooling of the planes of an even grid. Planes of the coarser
/// grid, displacement (Dy, Dx) modulo the grid, are the sums of three parts:
///   parts[pair][2Dx][0] + parts[pair][2Dx + 1][0] + parts[pair][2Dx − 1][1],
/// each with Σ and Θ by Dy and position: 2·(h/2)·(h/2)(w/2) floats.
void pool_register_planes(const RegisterStack& stack, const float* first, const float* second, const ImagePair* pairs,
                          int count, float* parts, void* stream);
[[nodiscard]] constexpr std::size_t pooled_part_size(const RegisterStack& stack) {
  return std::size_t{2} * (stack.height / 2) * (stack.height / 2) * (stack.width / 2);
}

}  // namespace widelimit::cuda
