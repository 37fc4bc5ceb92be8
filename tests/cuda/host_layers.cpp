#include "tests/cuda/host_layers.hpp"

#include "widelimit/engine/cpu/algebra/cpu_algebra.hpp"
#include "widelimit/engine/cuda/layers/machine_passes.hpp"
#include "widelimit/engine/enclosure/layer_enclosures.hpp"

#include <cstring>

namespace widelimit::test {

namespace {

/// A team of one thread.
struct HostTeam {
  [[nodiscard]] static int rank() { return 0; }
  [[nodiscard]] static int size() { return 1; }
  [[nodiscard]] static double sum(double value) { return value; }
  [[nodiscard]] static double largest(double value) { return value; }
};

class HostMachine {
 public:
  explicit HostMachine(Transfers& transfers) : transfers_(transfers) {}

  /// Memory that was never written is NaN.
  [[nodiscard]] static void* allocate(std::size_t bytes) {
    return std::memset(::operator new(std::max<std::size_t>(1, bytes)), 0xff, bytes);
  }
  static void release(void* memory) noexcept { ::operator delete(memory); }
  [[nodiscard]] static std::size_t free_bytes() { return std::size_t{1} << 30; }
  void upload(const void* from, std::size_t bytes, void* to) {
    ++transfers_.uploads;
    transfers_.uploaded_bytes += bytes;
    copy(from, bytes, to);
  }
  void download(const void* from, std::size_t bytes, void* to) {
    ++transfers_.downloads;
    transfers_.downloaded_bytes += bytes;
    copy(from, bytes, to);
  }
  static void copy(const void* from, std::size_t bytes, void* to) {
    if (bytes > 0) std::memcpy(to, from, bytes);
  }
  static void clear(void* to, std::size_t bytes) { std::memset(to, 0, bytes); }
  /// Empty, since an emulated device is used by one thread only.
  struct Unlocked {};
  [[nodiscard]] static Unlocked lock() { return {}; }
  [[nodiscard]] void* scratch(std::size_t bytes) {
    scratch_.resize(std::max(scratch_.size(), bytes / sizeof(double) + 1));
    return scratch_.data();
  }

  template <typename T>
  void product(double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, double beta,
               MatrixView<T> c, const Repeated& repeated) {
    for (Index k = 0; k < repeated.count; ++k) {
      cpu_.host_product(alpha, op_a, moved(a, k * repeated.a_step), op_b, moved(b, k * repeated.b_step), beta,
                        moved(c, k * repeated.c_step));
    }
  }
  template <typename Pass>
  void each(Index count, const Pass& pass) {
    for (Index i = 0; i < count; ++i) pass(i);
  }
  template <typename Pass>
  void rows(Index count, const Pass& pass) {
    for (Index row = 0; row < count; ++row) pass(row, HostTeam());
  }

 private:
  template <typename T>
  [[nodiscard]] static MatrixView<T> moved(MatrixView<T> view, Index by) {
    return {view.data + by, view.rows, view.cols, view.stride};
  }

  Transfers& transfers_;
  std::vector<double> scratch_;
  cpu::CpuAlgebra cpu_{1};
};

}  // namespace

template <std::floating_point T>
std::unique_ptr<LayerPasses<T>> make_host_layers(Transfers& transfers) {
  return std::make_unique<cuda::MachinePasses<T, HostMachine>>(HostMachine(transfers));
}

template std::unique_ptr<LayerPasses<float>> make_host_layers(Transfers&);
template std::unique_ptr<LayerPasses<double>> make_host_layers(Transfers&);

std::unique_ptr<EnclosurePasses> make_host_enclosures(Transfers& transfers) {
  return std::make_unique<MachineEnclosures<HostMachine>>(HostMachine(transfers));
}

}  // namespace widelimit::test
