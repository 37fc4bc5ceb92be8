#include "widelimit/engine/cuda/plugin/cuda_device.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <vector>

namespace widelimit::cuda {

namespace {

/// Limit on freed memory kept for reuse: the buffers of planes between two stages, and at most a sixteenth of the
/// device memory. Larger allocations bypass the pool, in which allocating and freeing 29 GB takes 80 ms instead of 20.
constexpr std::uint64_t kept_memory = std::uint64_t{4} << 30;

int device_count(std::string& reason) {
  int count = 0;
  const cudaError_t error = cudaGetDeviceCount(&count);
  if (error == cudaErrorInsufficientDriver) {
    int driver = 0;
    (void)cudaDriverGetVersion(&driver);
    reason = driver == 0
                 ? "no NVIDIA driver was found on this machine (libcuda.so.1)"
                 : fmt::format("the NVIDIA driver supports CUDA {}.{}, this plug-in requires {}.{}", driver / 1000,
                               driver % 1000 / 10, CUDART_VERSION / 1000, CUDART_VERSION % 1000 / 10);
  } else if (error == cudaErrorNoDevice || (error == cudaSuccess && count == 0)) {
    reason = "no CUDA device was found on this machine";
  } else if (error != cudaSuccess) {
    reason = fmt::format("the CUDA runtime cannot start: {}", cudaGetErrorString(error));
  }
  return error == cudaSuccess ? count : 0;
}

DeviceFacts facts_of(int device) {
  cudaDeviceProp properties{};
  check(cudaGetDeviceProperties(&properties, device), "reading the properties of a device");
  DeviceFacts facts{.name = properties.name,
                    .memory = properties.totalGlobalMem,
                    .major = properties.major,
                    .minor = properties.minor,
                    .multiprocessors = properties.multiProcessorCount};
  (void)cudaDriverGetVersion(&facts.driver);
  return facts;
}

}  // namespace

void check(cudaError_t error, const char* call) {
  if (error == cudaSuccess) return;
  (void)cudaGetLastError();
  fail(Code::resource, "the CUDA device failed in {}: {}", call, cudaGetErrorString(error));
}

CudaDevice::DeviceLock::DeviceLock(const CudaDevice& device) : lock_(device.guard_) {
  check(cudaSetDevice(device.device_), "selecting a device");
}

CudaDevice::CudaDevice(int device) : device_(device), facts_(facts_of(device)) {
  try {
    open();
  } catch (...) {
    close();
    throw;
  }
}

CudaDevice::~CudaDevice() { close(); }

void CudaDevice::open() {
  const DeviceLock lock(*this);
  const Blas& library = blas();
  const Solver& solvers = solver();
  keep_freed_memory();
  check(cudaStreamCreate(&stream_), "creating a stream");
  for (Lane& lane : lanes_) {
    check(cudaStreamCreate(&lane.stream), "creating a stream");
    check(library.create(&lane.blas), "creating a handle");
    check(library.set_stream(lane.blas, lane.stream), "creating a handle");
  }
  check(library.create(&blas_), "creating a handle");
  check(library.set_stream(blas_, stream_), "creating a handle");
  check(solvers.create(&solver_), "creating a handle");
  check(solvers.set_stream(solver_, stream_), "creating a handle");
  check(solvers.create_params(&params_), "creating a handle");
  overflow_ = static_cast<unsigned long long*>(allocate(sizeof(*overflow_)));
  check(cudaMemset(overflow_, 0xff, sizeof(*overflow_)), "clearing memory");
  single_layers_ = make_cuda_layers<float>(*this);
  double_layers_ = make_cuda_layers<double>(*this);
  enclosures_ = make_cuda_enclosures(*this);
}

void CudaDevice::close() noexcept {
  if (cudaSetDevice(device_) != cudaSuccess) return;
  places_.reset();
  planes_.reset();
  cones_.reset();
  single_layers_.reset();
  double_layers_.reset();
  enclosures_.reset();
  for (Lane& lane : lanes_) release_products(lane);
  if (overflow_ != nullptr) release(overflow_);
  if (params_ != nullptr) (void)solver().destroy_params(params_);
  if (solver_ != nullptr) (void)solver().destroy(solver_);
  if (blas_ != nullptr) (void)blas().destroy(blas_);
  for (const Lane& lane : lanes_) {
    if (lane.blas != nullptr) (void)blas().destroy(lane.blas);
    if (lane.stream != nullptr) (void)cudaStreamDestroy(lane.stream);
  }
  if (stream_ != nullptr) (void)cudaStreamDestroy(stream_);
}

void CudaDevice::wait() const { check(cudaStreamSynchronize(stream_), "waiting for its work"); }

DeviceFacts CudaDevice::facts() const {
  const DeviceLock lock(*this);
  DeviceFacts facts = facts_;
  facts.free_memory = std::min(free_bytes(), account_.left());
  facts.taken_memory = account_.taken();
  return facts;
}

/// The release threshold of the runtime includes memory in use: without adding it, a few gigabytes of allocated weights
/// would make the runtime return all freed memory to the system at every synchronisation.
void CudaDevice::keep_freed_memory() const {
  cudaMemPool_t pool = nullptr;
  std::uint64_t used = 0;
  check(cudaDeviceGetDefaultMemPool(&pool, device_), "configuring the memory pool");
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "querying its memory");
  std::uint64_t kept = used + std::min<std::uint64_t>(kept_memory, facts_.memory / 16);
  check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &kept), "configuring the memory pool");
}

std::size_t CudaDevice::free_bytes() const {
  std::size_t free = 0;
  std::size_t all = 0;
  check(cudaMemGetInfo(&free, &all), "querying its memory");
  cudaMemPool_t pool = nullptr;
  std::uint64_t reserved = 0;
  std::uint64_t used = 0;
  check(cudaDeviceGetDefaultMemPool(&pool, device_), "querying its memory");
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved), "querying its memory");
  check(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used), "querying its memory");
  return free + (reserved > used ? reserved - used : 0);
}

void* CudaDevice::allocate(std::size_t bytes) {
  const DeviceLock lock(*this);
  void* memory = nullptr;
  const std::size_t taken = std::max<std::size_t>(bytes, 256);
  const bool allowed = taken <= account_.left();
  cudaError_t error = cudaErrorMemoryAllocation;
  if (allowed && taken > kept_memory) {
    error = cudaMalloc(&memory, taken);
    if (error == cudaErrorMemoryAllocation) {
      (void)cudaGetLastError();
      check(cudaDeviceSynchronize(), "waiting for all work");  // on memory whose release is pending
      cudaMemPool_t pool = nullptr;
      check(cudaDeviceGetDefaultMemPool(&pool, device_), "trimming the memory pool");
      check(cudaMemPoolTrimTo(pool, 0), "trimming the memory pool");
      error = cudaMalloc(&memory, taken);
    }
    if (error == cudaSuccess) large_.push_back(memory);
  } else if (allowed) {
    error = cudaMallocAsync(&memory, taken, stream_);
  }
  if (error == cudaErrorMemoryAllocation) {
    if (allowed) (void)cudaGetLastError();
    refuse_allocation(fmt::format("device {}", device_), bytes, free_bytes(), account_.left(), facts_.memory);
  }
  check(error, "allocating memory");
  keep_freed_memory();
  wait();
  account_.add(memory, taken);
  return memory;
}

void CudaDevice::release(void* memory) noexcept {
  const std::lock_guard lock(guard_);
  account_.remove(memory);
  if (cudaSetDevice(device_) != cudaSuccess) return;
  if (std::erase(large_, memory) > 0) {
    (void)cudaFree(memory);
  } else {
    (void)cudaFreeAsync(memory, stream_);
  }
}

bool CudaDevice::reaches(const void* memory) {
  const DeviceLock lock(*this);
  cudaPointerAttributes found{};
  check(cudaPointerGetAttributes(&found, memory), "querying a pointer");
  return found.type == cudaMemoryTypeManaged || (found.type == cudaMemoryTypeDevice && found.device == device_);
}

void CudaDevice::synchronize() {
  const DeviceLock lock(*this);
  check(cudaDeviceSynchronize(), "waiting for all work");
}

void CudaDevice::fetch(const Array& from, const HostArray& to) {
  if (from.precision != to.precision) return download(from, to);
  check(cudaSetDevice(device_), "selecting a device");
  if (!fetching_.fetch(from, to)) download(from, to);
}

void CudaDevice::upload_bytes(const void* from, std::size_t bytes, void* to) {
  const DeviceLock lock(*this);
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyHostToDevice, stream_), "copying to the device");
  wait();
}

void CudaDevice::download_bytes(const void* from, std::size_t bytes, void* to) {
  const DeviceLock lock(*this);
  if (bytes == 0) return;
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToHost, stream_), "copying from the device");
  wait();
}

void CudaDevice::upload(const HostArray& from, const Array& to) {
  const DeviceLock lock(*this);
  if (to.rows == 0 || to.cols == 0) return;
  const std::size_t size = from.precision == Precision::f32 ? sizeof(float) : sizeof(double);
  const std::size_t row = usize(to.cols) * size;
  const auto copy = [&](void* data, std::size_t pitch) {
    staging_.up({static_cast<char*>(from.data), usize(from.stride) * size}, {static_cast<char*>(data), pitch}, row,
                to.rows, stream_);
  };
  if (from.precision == to.precision) return copy(to.data, usize(to.stride) * size);
  const Scratch scratch(*this, usize(to.rows) * row);
  copy(scratch.as<void>(), row);
  convert({scratch.as<void>(), to.rows, to.cols, to.cols, from.precision}, to);
}

void CudaDevice::download(const Array& from, const HostArray& to) {
  const DeviceLock lock(*this);
  if (from.rows == 0 || from.cols == 0) return;
  const std::size_t size = to.precision == Precision::f32 ? sizeof(float) : sizeof(double);
  const std::size_t row = usize(from.cols) * size;
  const auto copy = [&](void* data, std::size_t pitch) {
    staging_.down({static_cast<char*>(data), pitch}, {static_cast<char*>(to.data), usize(to.stride) * size}, row,
                  from.rows, stream_);
  };
  if (from.precision == to.precision) return copy(from.data, usize(from.stride) * size);
  const Scratch scratch(*this, usize(from.rows) * row);
  convert(from, {scratch.as<void>(), from.rows, from.cols, from.cols, to.precision});
  copy(scratch.as<void>(), row);
}

void CudaDevice::convert(const Array& from, const Array& to) {
  const DeviceLock lock(*this);
  check(launch_convert(from, to, stream_), "copying a matrix");
  wait();
}

void CudaDevice::split_digits(const Array& unit, const DigitRows& to) {
  const DeviceLock lock(*this);
  check(launch_digits(unit, to, stream_), "splitting digits");
  wait();
}

void CudaDevice::multiply_digits(cublasHandle_t handle, const DenseTile& tile, std::int32_t* sums) {
  const Index rows = padded_count(tile.rows.count);
  const Index cols = padded_count(tile.cols.count);
  const Index stride = digit_columns(tile.rows.dimension);
  const Index features = padded_count(tile.rows.dimension);
  const Index levels = tile.products == DenseProducts::digits ? digit_sums - 1 : digit_sums;
  const std::int32_t one = 1;
  const std::int32_t zero = 0;
  for (Index l = 0; l < levels; ++l) {
    const DigitSpan span = digit_span(l);
    check(blas().gemm_of(
              handle, CUBLAS_OP_T, CUBLAS_OP_N, cols, rows, span.count * features, &one,
              tile.cols.digits.backward + tile.cols.first * stride + span.backward_begin * features, CUDA_R_8I, stride,
              tile.rows.digits.forward + tile.rows.first * stride + span.forward_begin * features, CUDA_R_8I, stride,
              &zero, sums + l * rows * cols, CUDA_R_32I, cols, CUBLAS_COMPUTE_32I, CUBLAS_GEMM_DEFAULT),
          "a product of digits");
  }
}

void CudaDevice::release_products(Lane& lane) noexcept {
  lane.bytes = 0;
  if (lane.products != nullptr) release(std::exchange(lane.products, nullptr));
}

void CudaDevice::dense_tile(const DenseTile& tile) {
  const DeviceLock lock(*this);
  if (tile.rows.count == 0 || tile.cols.count == 0) return;
  Lane& lane = lanes_[next_lane_];
  next_lane_ = (next_lane_ + 1) % lanes_.size();
  const bool by_digits = tile.products != DenseProducts::f64;
  const std::size_t bytes = product_bytes(tile.products, tile.rows.count, tile.cols.count);
  if (lane.bytes < bytes) {
    check(cudaStreamSynchronize(lane.stream), "waiting for its work");
    release_products(lane);
    lane.products = allocate(bytes);
    lane.bytes = bytes;
  }
  if (by_digits) {
    multiply_digits(lane.blas, tile, static_cast<std::int32_t*>(lane.products));
    const auto launch = tile.chain ? launch_chain : launch_dense;
    check(launch(tile, lane.products, padded_count(tile.cols.count), overflow_, lane.stream), "a dense kernel");
    return;
  }
  const auto rows_of = [](const DenseSide& side) {
    auto* const first = const_cast<double*>(side.unit) + side.first * side.dimension;
    return Array{first, side.count, side.dimension, side.dimension, Precision::f64};
  };
  const Array products{lane.products, tile.rows.count, tile.cols.count, tile.cols.count, Precision::f64};
  multiply_on(lane.blas, 1, Transpose::no, rows_of(tile.rows), Transpose::yes, rows_of(tile.cols), 0, products);
  check(launch_dense(tile, lane.products, products.stride, overflow_, lane.stream), "a dense kernel");
}

DenseOverflow CudaDevice::finish() {
  const DeviceLock lock(*this);
  for (Lane& lane : lanes_) {
    check(cudaStreamSynchronize(lane.stream), "dense kernels");
    release_products(lane);
  }
  unsigned long long code = no_overflow;
  download_bytes(overflow_, sizeof(code), &code);
  if (code == no_overflow) return {};
  check(cudaMemset(overflow_, 0xff, sizeof(*overflow_)), "clearing memory");
  constexpr unsigned long long sample = (1ULL << 28) - 1;
  return {static_cast<Index>(code >> 36), static_cast<Index>((code >> 8) & sample), static_cast<Index>(code & 255)};
}

PlaneDevice& CudaDevice::planes() {
  const DeviceLock lock(*this);
  if (!planes_) planes_ = make_cuda_plane_device(*this);
  return *planes_;
}

ConeDevice& CudaDevice::cones() {
  const DeviceLock lock(*this);
  if (!cones_) cones_ = make_cuda_cone_device(*this);
  return *cones_;
}

PlaceDevice& CudaDevice::places() {
  const DeviceLock lock(*this);
  if (!places_) places_ = make_cuda_place_device(*this);
  return *places_;
}

}  // namespace widelimit::cuda

const widelimit::cuda::Plugin* widelimit_cuda_plugin() {
  using namespace widelimit::cuda;
  static const Plugin plugin{
      device_interface, WIDELIMIT_VERSION, &device_count, &facts_of,
      [](int device) -> std::unique_ptr<Device> { return std::make_unique<CudaDevice>(device); }};
  return &plugin;
}
