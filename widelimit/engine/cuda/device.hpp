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

/// What the library asks of an NVIDIA device. The library implements the engine with it and knows no CUDA; the plug-in
/// libwidelimit_cuda.so implements it and knows neither networks nor machines.
namespace widelimit::cuda {

/// Changes with every change of this header and of those it includes from this folder.
constexpr int device_interface = 7;

/// Major compute capability of the oldest devices that the plug-in has code for. [cmake/cuda.cmake]
constexpr int oldest_major = 8;

class ConeDevice;
class PlaneDevice;
class PlaceDevice;

/// What is known of a device.
struct DeviceFacts {
  std::string name;
  std::size_t memory = 0;
  std::size_t free_memory = 0;   ///< that may still be taken, below the ceiling
  std::size_t taken_memory = 0;  ///< by this process through the Device
  int major = 0;                 ///< compute capability
  int minor = 0;
  int multiprocessors = 0;
  int driver = 0;  ///< newest CUDA of the driver, 13000 for 13.0
};

/// One device. Calls may come from any thread and are carried out one after the other; each is finished when it
/// returns, unless said otherwise. Error{resource} where memory does not suffice, Error{numerical} where a solver does
/// not converge.
class Device {
 public:
  virtual ~Device() = default;
  [[nodiscard]] virtual DeviceFacts facts() const = 0;

  // Memory.
  [[nodiscard]] virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* memory) noexcept = 0;
  /// Between host and device, rounded to the precision of the target.
  virtual void upload(const HostArray& from, const Array& to) = 0;
  virtual void download(const Array& from, const HostArray& to) = 0;
  /// As download, of entries that no unfinished work writes to, and beside all other calls: threads fetch what is done
  /// while the device computes.
  virtual void fetch(const Array& from, const HostArray& to) = 0;
  /// Any bytes, such as lists of steps.
  virtual void upload_bytes(const void* from, std::size_t bytes, void* to) = 0;
  virtual void download_bytes(const void* from, std::size_t bytes, void* to) = 0;
  /// Between matrices of the device, rounded to the precision of the target.
  virtual void convert(const Array& from, const Array& to) = 0;
  virtual void gather(const Array& from, std::span<const Index> rows, std::span<const Index> cols, const Array& to) = 0;

  // Memory that other libraries of this process share.
  /// Whether this device can reach `memory`, which another library may have taken.
  [[nodiscard]] virtual bool reaches(const void* memory) = 0;
  /// Waits for all work of this process on the device, whoever began it.
  virtual void settle() = 0;
  /// From now on this object takes at most so many bytes in all; returns what held before, the largest number where
  /// nothing did.
  virtual std::size_t set_ceiling(std::size_t bytes) = 0;

  // Passes over a matrix.
  virtual void diagonal(const Array& a, double* out) = 0;
  /// Whether both halves are equal, and the first pair i ≤ j by rows that is not finite or differs by more than
  /// allowed·√|a_ii a_jj|; (−1, −1) where there is none.
  [[nodiscard]] virtual std::pair<bool, std::pair<Index, Index>> symmetry(const Array& a, double allowed) = 0;
  [[nodiscard]] virtual std::uint64_t checksum(const Array& a) = 0;
  /// The upper triangle of S k S + diag(shift), zeros below it; returns ‖·‖₁. `scale` and `shift` may be empty.
  [[nodiscard]] virtual double scaled(const Array& k, std::span<const double> scale, std::span<const double> shift,
                                      const Array& out) = 0;
  /// to = diag(weights)·from; the two may be the same.
  virtual void scale_rows(const Array& from, std::span<const double> weights, const Array& to) = 0;
  virtual void add_to_diagonal(const Array& a, std::span<const double> shift) = 0;
  /// ‖a‖₁ of a symmetric matrix, from its upper triangle.
  [[nodiscard]] virtual double symmetric_norm(const Array& a) = 0;
  /// out_j = Σ_i weights_i a_ij², all weights 1 where there are none.
  virtual void column_squares(const Array& a, std::span<const double> weights, double* out) = 0;
  /// The upper triangle becomes the lower one; above the diagonal are zeros.
  virtual void transpose_upper(const Array& a) = 0;
  /// Entries j > i become 0.
  virtual void clear_above(const Array& a) = 0;
  virtual void clear(const Array& a) = 0;
  /// to += from, in float64 whatever the precision of `from`.
  virtual void add(const Array& from, const Array& to) = 0;

  // Products and triangles; op(·) as in Algebra.
  /// c = alpha·op(a)·op(b) + beta·c, all of one precision; sums in that precision, never in less (no TF32).
  virtual void product(double alpha, Transpose op_a, const Array& a, Transpose op_b, const Array& b, double beta,
                       const Array& c) = 0;
  /// The upper triangle of c = xᵀx + beta·c.
  virtual void self_product(const Array& x, double beta, const Array& c) = 0;
  /// out = k·v for a symmetric k, sums in twice the precision of float64 (Dot2 of Ogita, Rump and Oishi 2005).
  virtual void multiply_precisely(const Array& k, const Array& v, const Array& out) = 0;
  /// b = op(t)·b and b = op(t)⁻¹·b for a triangle of t; b in the precision of t.
  virtual void multiply_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) = 0;
  virtual void solve_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) = 0;

  // Factors of symmetric matrices, of which the upper triangle is read.
  /// a = uᵀu in place; the order of the first leading minor that is not positive, or 0. after(rows) is called from time
  /// to time with the rows that are final; it stops the work by throwing.
  [[nodiscard]] virtual Index cholesky(const Array& a, const std::function<void(Index)>& after) = 0;
  /// a = ldlᵀ in place; the diagonal of d and the pivots as LAPACK's dsytrf leaves them.
  virtual void ldl(const Array& a, double* diagonal, int* pivots) = 0;
  /// Eigenvalues, smallest first; an eigenvector in each row of a where asked for, else a is destroyed.
  virtual void eigen(const Array& a, bool vectors, double* values) = 0;
  /// Columns [begin, end) of a pivoted Cholesky factorisation of the lower triangle, products with the rest included;
  /// `order` (n numbers in device memory) and `scratch` (n doubles) are kept between blocks. Returns how many columns
  /// had a pivot above `least`.
  [[nodiscard]] virtual Index pivoted_block(const Array& a, Index begin, Index end, double least, Index* order,
                                            double* scratch) = 0;

  // Kernels of dense networks.
  /// Digits of unit rows, whose memory `to` names; rows and features that pad it become 0.
  virtual void split_digits(const Array& unit, const DigitRows& to) = 0;
  /// The pairs of one tile through all steps. Returns at once; `finish` waits and says what overflowed first.
  virtual void dense_tile(const DenseTile& tile) = 0;
  [[nodiscard]] virtual DenseOverflow finish() = 0;

  /// Kernels of networks on images; lives as long as the device.
  [[nodiscard]] virtual PlaneDevice& planes() = 0;
  /// Sums of certificates; lives as long as the device.
  [[nodiscard]] virtual ConeDevice& cones() = 0;
  /// Those by all pairs of places, and of networks on graphs.
  [[nodiscard]] virtual PlaceDevice& places() = 0;

  /// Layers of networks of finite width, in order with all other calls; live as long as the device.
  [[nodiscard]] virtual LayerPasses<float>& single_layers() = 0;
  [[nodiscard]] virtual LayerPasses<double>& double_layers() = 0;
  /// Their enclosures, on numbers of double_layers().
  [[nodiscard]] virtual EnclosurePasses& enclosures() = 0;
};

/// What the plug-in brings; `interface` is read before anything else.
struct Plugin {
  int interface = 0;
  const char* version = nullptr;
  /// Devices of this machine, or 0 and why there are none.
  int (*count)(std::string& why) = nullptr;
  DeviceFacts (*facts)(int device) = nullptr;
  /// Error{usage} where the device or a library of CUDA is not there.
  std::unique_ptr<Device> (*open)(int device) = nullptr;
};

}  // namespace widelimit::cuda

/// The only symbol of the plug-in.
extern "C" [[gnu::visibility("default")]] const widelimit::cuda::Plugin* widelimit_cuda_plugin();
