#pragma once

#include "widelimit/engine/cuda/array.hpp"
#include "widelimit/engine/cuda/dense_program.hpp"
#include "widelimit/engine/enclosures.hpp"
#include "widelimit/engine/engine_matrix.hpp"
#include "widelimit/engine/layers.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>

/// Interface of an NVIDIA device. The library implements the engine on top of it without any CUDA headers; the plug-in
/// libwidelimit_cuda.so implements it without knowledge of networks or machines.
namespace widelimit::cuda {

/// Interface version: increment it whenever this header, or a header of this folder that it includes, changes.
constexpr int device_interface = 9;

/// Lowest major compute capability for which the plug-in contains code. [cmake/cuda.cmake]
constexpr int oldest_major = 8;

class ConeDevice;
class PlaneDevice;
class PlaceDevice;

/// Properties of a device.
struct DeviceFacts {
  std::string name;
  std::size_t memory = 0;
  std::size_t free_memory = 0;   ///< available to this process, below the limit
  std::size_t taken_memory = 0;  ///< allocated by this process through Device
  int major = 0;                 ///< compute capability
  int minor = 0;
  int multiprocessors = 0;
  int driver = 0;  ///< newest CUDA version that the driver supports, 13000 for 13.0
};

/// One device. Thread-safe; calls are serialised, and each is complete when it returns unless stated otherwise. Throws
/// Error{resource} if memory does not suffice, Error{numerical} if a solver does not converge.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual DeviceFacts facts() const = 0;

  // Memory.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Copies between host and device, rounded to the precision of the target.
  virtual void upload(const HostArray& from, const Array& to) = 0;
  virtual void download(const Array& from, const HostArray& to) = 0;
  /// Like download, but concurrent with all other calls: threads fetch finished tiles while the device computes. No
  /// unfinished work may write to the entries.
  virtual void fetch(const Array& from, const HostArray& to) = 0;
  /// Copies raw bytes, e.g. lists of steps.
  virtual void upload_bytes(const void* from, std::size_t bytes, void* to) = 0;
  virtual void download_bytes(const void* from, std::size_t bytes, void* to) = 0;
  /// Copies between device matrices, rounded to the precision of the target.
  virtual void convert(const Array& from, const Array& to) = 0;
  virtual void gather(const Array& from, std::span<const Index> rows, std::span<const Index> cols, const Array& to) = 0;

  // Memory shared with other libraries of this process.
  /// Whether this device can access `memory`, which another library may have allocated.
  [[nodiscard]] virtual bool reaches(const void* memory) = 0;
  /// Waits for all work of this process on the device, including that of other libraries.
  virtual void synchronize() = 0;
  /// Limits the total memory that this object allocates. The lowest of several ceilings counts; they may be removed in
  /// any order.
  virtual void add_ceiling(std::size_t bytes) = 0;
  virtual void remove_ceiling(std::size_t bytes) = 0;

  // Passes over a matrix.
  virtual void diagonal(const Array& a, double* out) = 0;
  /// Returns whether the matrix is exactly symmetric, and the first pair i ≤ j in row order that is not finite or
  /// differs by more than allowed·√|a_ii a_jj|; (−1, −1) if there is none.
  [[nodiscard]] virtual std::pair<bool, std::pair<Index, Index>> symmetry(const Array& a, double allowed) = 0;
  [[nodiscard]] virtual std::uint64_t checksum(const Array& a) = 0;
  /// Writes the upper triangle of S k S + diag(shift), zeros below it; returns ‖·‖₁. `scale` and `shift` may be empty.
  [[nodiscard]] virtual double scaled(const Array& k, std::span<const double> scale, std::span<const double> shift,
                                      const Array& out) = 0;
  /// to = diag(weights)·from; `from` and `to` may alias.
  virtual void scale_rows(const Array& from, std::span<const double> weights, const Array& to) = 0;
  virtual void add_to_diagonal(const Array& a, std::span<const double> shift) = 0;
  /// Returns ‖a‖₁ of a symmetric matrix, reading its upper triangle.
  [[nodiscard]] virtual double symmetric_norm(const Array& a) = 0;
  /// out_j = Σ_i weights_i a_ij²; empty `weights` means all 1.
  virtual void column_squares(const Array& a, std::span<const double> weights, double* out) = 0;
  /// Transposes the upper triangle into the lower one and zeros the entries above the diagonal.
  virtual void transpose_upper(const Array& a) = 0;
  /// Zeros the entries j > i.
  virtual void clear_above(const Array& a) = 0;
  virtual void clear(const Array& a) = 0;
  /// to += from; `to` is float64, `from` has any precision.
  virtual void add(const Array& from, const Array& to) = 0;

  // Products and triangular solves; op(·) as in Algebra.
  /// c = alpha·op(a)·op(b) + beta·c, all of one precision; accumulates in that precision, never in a lower one (no
  /// TF32).
  virtual void product(double alpha, Transpose op_a, const Array& a, Transpose op_b, const Array& b, double beta,
                       const Array& c) = 0;
  /// The upper triangle of c = xᵀx + beta·c.
  virtual void self_product(const Array& x, double beta, const Array& c) = 0;
  /// out = k·v for a symmetric k, accumulated in twice the precision of float64 (Dot2; Ogita, Rump and Oishi 2005).
  /// Takes precise_bytes of scratch memory for each entry of v.
  virtual void multiply_precisely(const Array& k, const Array& v, const Array& out) = 0;
  /// b = op(t)·b and b = op(t)⁻¹·b for one triangle of t; b has the precision of t.
  virtual void multiply_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) = 0;
  virtual void solve_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) = 0;

  // Factorisations of symmetric matrices; they read the upper triangle.
  /// a = uᵀu in place; returns the order of the first leading minor that is not positive, or 0. Calls after(rows)
  /// periodically with the number of final rows; `after` throws to stop the work.
  [[nodiscard]] virtual Index cholesky(const Array& a, const std::function<void(Index)>& after) = 0;
  /// a = ldlᵀ in place; the diagonal of d and the pivots in the format of LAPACK's dsytrf. Returns false if a pivot is
  /// exactly 0 or the matrix has too many entries: diagonal and pivots are then undefined, and `a` may be destroyed.
  [[nodiscard]] virtual bool ldl(const Array& a, double* diagonal, int* pivots) = 0;
  /// Eigenvalues in ascending order; if `vectors`, an eigenvector in each row of a, else a is destroyed.
  virtual void eigen(const Array& a, bool vectors, double* values) = 0;
  /// Computes columns [begin, end) of a pivoted Cholesky factorisation of the lower triangle, including the update of
  /// the trailing block; `order` (n indices in device memory) and `scratch` (n doubles) persist between calls. Returns
  /// the number of columns with a pivot above `least`.
  [[nodiscard]] virtual Index pivoted_block(const Array& a, Index begin, Index end, double least, Index* order,
                                            double* scratch) = 0;

  // Kernels of dense networks.
  /// Splits unit rows into digits stored in `to`; padding rows and features are set to 0.
  virtual void split_digits(const Array& unit, const DigitRows& to) = 0;
  /// Runs all steps on the pairs of one tile. Asynchronous; `finish` waits, releases the scratch memory of the tiles
  /// and returns the first overflow.
  virtual void dense_tile(const DenseTile& tile) = 0;
  [[nodiscard]] virtual DenseOverflow finish() = 0;

  /// Kernels of networks on images; valid as long as the device.
  [[nodiscard]] virtual PlaneDevice& planes() = 0;
  /// Sums of certificates; valid as long as the device.
  [[nodiscard]] virtual ConeDevice& cones() = 0;
  /// Kernels over all pairs of places, including networks on graphs; valid as long as the device.
  [[nodiscard]] virtual PlaceDevice& places() = 0;

  /// Layers of finite-width networks, serialised with all other calls; valid as long as the device.
  [[nodiscard]] virtual LayerPasses<float>& single_layers() = 0;
  [[nodiscard]] virtual LayerPasses<double>& double_layers() = 0;
  /// Enclosures of these layers, on values of double_layers().
  [[nodiscard]] virtual EnclosurePasses& enclosures() = 0;
};

/// Entry points of the plug-in; `interface` is read first.
struct Plugin {
  int interface = 0;
  const char* version = nullptr;
  /// Returns the number of devices of this machine, or 0 with the reason in `reason`.
  int (*count)(std::string& reason) = nullptr;
  DeviceFacts (*facts)(int device) = nullptr;
  /// Throws Error{usage} if the device or a CUDA library is missing.
  std::unique_ptr<Device> (*open)(int device) = nullptr;
};

}  // namespace widelimit::cuda

/// The only symbol of the plug-in.
extern "C" [[gnu::visibility("default")]] const widelimit::cuda::Plugin* widelimit_cuda_plugin();
