#pragma once

#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/cuda/device.hpp"
#include "widelimit/engine/cuda/memory_account.hpp"
#include "widelimit/engine/cuda/place/place_device.hpp"
#include "widelimit/engine/cuda/plane/plane_device.hpp"
#include "widelimit/engine/cuda/plugin/fetch_lanes.hpp"
#include "widelimit/engine/cuda/plugin/launch.hpp"
#include "widelimit/engine/cuda/plugin/libraries.hpp"
#include "widelimit/engine/cuda/plugin/staging.hpp"

#include <array>
#include <memory>
#include <mutex>
#include <vector>

namespace widelimit::cuda {

/// Throws Error{resource} with the call and the CUDA error string if `error` is not cudaSuccess.
void check(cudaError_t error, const char* call);

/// Device on top of the CUDA runtime, cuBLAS and cuSOLVER. All work runs on one stream, except that tiles of dense
/// kernels alternate between two streams, so that the product of one tile overlaps with the steps of another.
class CudaDevice final : public Device {
 public:
  explicit CudaDevice(int device);
  ~CudaDevice() override;
  CudaDevice(const CudaDevice&) = delete;
  CudaDevice& operator=(const CudaDevice&) = delete;

  [[nodiscard]] DeviceFacts facts() const override;
  [[nodiscard]] void* allocate(std::size_t bytes) override;
  void release(void* memory) noexcept override;
  void upload(const HostArray& from, const Array& to) override;
  void download(const Array& from, const HostArray& to) override;
  void fetch(const Array& from, const HostArray& to) override;
  void upload_bytes(const void* from, std::size_t bytes, void* to) override;
  void download_bytes(const void* from, std::size_t bytes, void* to) override;
  void convert(const Array& from, const Array& to) override;
  void gather(const Array& from, std::span<const Index> rows, std::span<const Index> cols, const Array& to) override;

  [[nodiscard]] bool reaches(const void* memory) override;
  void synchronize() override;
  void add_ceiling(std::size_t bytes) override { account_.add_ceiling(bytes); }
  void remove_ceiling(std::size_t bytes) override { account_.remove_ceiling(bytes); }

  void diagonal(const Array& a, double* out) override;
  [[nodiscard]] std::pair<bool, std::pair<Index, Index>> symmetry(const Array& a, double allowed) override;
  [[nodiscard]] std::uint64_t checksum(const Array& a) override;
  [[nodiscard]] double scaled(const Array& k, std::span<const double> scale, std::span<const double> shift,
                              const Array& out) override;
  void scale_rows(const Array& from, std::span<const double> weights, const Array& to) override;
  void add_to_diagonal(const Array& a, std::span<const double> shift) override;
  [[nodiscard]] double symmetric_norm(const Array& a) override;
  void column_squares(const Array& a, std::span<const double> weights, double* out) override;
  void transpose_upper(const Array& a) override;
  void clear_above(const Array& a) override;
  void clear(const Array& a) override;
  void add(const Array& from, const Array& to) override;

  void product(double alpha, Transpose op_a, const Array& a, Transpose op_b, const Array& b, double beta,
               const Array& c) override;
  void self_product(const Array& x, double beta, const Array& c) override;
  void multiply_precisely(const Array& k, const Array& v, const Array& out) override;
  void multiply_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) override;
  void solve_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) override;

  [[nodiscard]] Index cholesky(const Array& a, const std::function<void(Index)>& after) override;
  [[nodiscard]] bool ldl(const Array& a, double* diagonal, int* pivots) override;
  void eigen(const Array& a, bool vectors, double* values) override;
  [[nodiscard]] Index pivoted_block(const Array& a, Index begin, Index end, double least, Index* order,
                                    double* scratch) override;

  void split_digits(const Array& unit, const DigitRows& to) override;
  void dense_tile(const DenseTile& tile) override;
  [[nodiscard]] DenseOverflow finish() override;
  [[nodiscard]] PlaneDevice& planes() override;
  [[nodiscard]] ConeDevice& cones() override;
  [[nodiscard]] PlaceDevice& places() override;
  [[nodiscard]] LayerPasses<float>& single_layers() override { return *single_layers_; }
  [[nodiscard]] LayerPasses<double>& double_layers() override { return *double_layers_; }
  [[nodiscard]] EnclosurePasses& enclosures() override { return *enclosures_; }

  /// For layers, whose calls are asynchronous: the stream of their work, and products on it.
  [[nodiscard]] cudaStream_t stream() const { return stream_; }
  void start_product(double alpha, Transpose op_a, const Array& a, Transpose op_b, const Array& b, double beta,
                     const Array& c, const Repeated& repeated);

  /// Lock that serialises calls and selects this device.
  class DeviceLock {
   public:
    explicit DeviceLock(const CudaDevice& device);

   private:
    std::unique_lock<std::recursive_mutex> lock_;
  };

 private:
  void open();
  /// Releases whatever `open` has made.
  void close() noexcept;

  /// Scratch memory on the main stream for the duration of a call.
  class Scratch {
   public:
    Scratch(CudaDevice& device, std::size_t bytes) : device_(device), data_(device.allocate(bytes)) {}
    Scratch(const Scratch&) = delete;
    Scratch& operator=(const Scratch&) = delete;
    ~Scratch() { device_.release(data_); }
    template <typename T>
    [[nodiscard]] T* as() const {
      return static_cast<T*>(data_);
    }

   private:
    CudaDevice& device_;
    void* data_;
  };
  /// A stream for tiles, with the products of their unit rows; each cuBLAS handle has its own workspace.
  struct Lane {
    cudaStream_t stream = nullptr;
    cublasHandle_t blas = nullptr;
    void* products = nullptr;
    std::size_t bytes = 0;
  };

  void wait() const;
  /// All work on the products must have ended.
  void release_products(Lane& lane) noexcept;
  static void multiply_on(cublasHandle_t handle, double alpha, Transpose op_a, const Array& a, Transpose op_b,
                          const Array& b, double beta, const Array& c);
  /// Computes S₀, S₁, … of the unit rows of a tile, stored one after the other.
  static void multiply_digits(cublasHandle_t handle, const DenseTile& tile, std::int32_t* sums);
  static void multiply_vector(cublasHandle_t handle, double alpha, Transpose op, const Array& a, const Array& x,
                              double beta, const Array& y);
  void solve_block(Triangle triangle, Transpose op, const Array& t, const Array& b);
  template <typename T>
  void invert_squares(Triangle triangle, const Array& t, Index count, T* squares, T* inverses);
  template <typename T>
  void solve_by_squares(Triangle triangle, Transpose op, const Array& t, const Array& b);
  /// Cholesky factorisation by cuSOLVER; returns the order of the first leading minor that is not positive, or 0.
  [[nodiscard]] Index factor_square(const Array& a);
  /// c −= pᵀp, upper triangle only.
  static void subtract_self_product(cublasHandle_t handle, const Array& p, const Array& c);
  template <typename T>
  [[nodiscard]] const T* put(const Scratch& scratch, std::span<const T> values);

  /// Keeps freed memory in the pool for reuse, up to a limit.
  void keep_freed_memory() const;
  /// Free bytes, including freed memory that the pool keeps for reuse.
  [[nodiscard]] std::size_t free_bytes() const;

  int device_;
  DeviceFacts facts_;  ///< all facts except free and taken memory
  mutable std::recursive_mutex guard_;
  MemoryAccount account_;
  FetchLanes fetching_;
  cudaStream_t stream_ = nullptr;
  cublasHandle_t blas_ = nullptr;
  cusolverDnHandle_t solver_ = nullptr;
  cusolverDnParams_t params_ = nullptr;
  Staging staging_;
  std::vector<void*> large_;  ///< memory allocated outside the pool
  std::array<Lane, dense_lanes> lanes_;
  std::size_t next_lane_ = 0;
  unsigned long long* overflow_ = nullptr;
  std::unique_ptr<PlaneDevice> planes_;  ///< created on first use
  std::unique_ptr<ConeDevice> cones_;    ///< likewise
  std::unique_ptr<PlaceDevice> places_;  ///< likewise
  std::unique_ptr<LayerPasses<float>> single_layers_;
  std::unique_ptr<LayerPasses<double>> double_layers_;
  std::unique_ptr<EnclosurePasses> enclosures_;
};

/// Parts of a device, which must outlive them. Launches of planes, cones and places use the default stream, which
/// synchronises with the streams of the device.
[[nodiscard]] std::unique_ptr<PlaneDevice> make_cuda_plane_device(CudaDevice& device);
[[nodiscard]] std::unique_ptr<ConeDevice> make_cuda_cone_device(CudaDevice& device);
[[nodiscard]] std::unique_ptr<PlaceDevice> make_cuda_place_device(CudaDevice& device);
/// Layers and their enclosures, whose work runs on the main stream.
template <std::floating_point T>
[[nodiscard]] std::unique_ptr<LayerPasses<T>> make_cuda_layers(CudaDevice& device);
[[nodiscard]] std::unique_ptr<EnclosurePasses> make_cuda_enclosures(CudaDevice& device);

}  // namespace widelimit::cuda
