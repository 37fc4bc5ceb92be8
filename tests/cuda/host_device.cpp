#include "tests/cuda/host_device.hpp"

#include "tests/cuda/host_layers.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/cpu/algebra/cpu_algebra.hpp"
#include "widelimit/engine/cuda/cone/cone_device.hpp"
#include "widelimit/engine/cuda/cuda.hpp"
#include "widelimit/engine/cuda/device.hpp"
#include "widelimit/engine/cuda/memory_account.hpp"
#include "widelimit/engine/cuda/place/place_device.hpp"
#include "widelimit/engine/cuda/plane/plane_device.hpp"
#include "widelimit/engine/cuda/plugin/dense_run.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <numeric>

namespace widelimit::test {

namespace {

using cuda::Array;
using cuda::DenseOverflow;
using cuda::DenseSide;
using cuda::DenseStep;
using cuda::DenseTile;
using cuda::HostArray;
using cuda::Triangle;

/// Each byte of memory that was never written: NaN as a number, −1 as an index.
constexpr int never_written = 0xff;

template <typename T>
MatrixView<T> view(const Array& a) {
  return {static_cast<T*>(a.data), a.rows, a.cols, a.stride};
}
AnyView any_view(const Array& a) {
  return a.precision == Precision::f32 ? AnyView(MatrixView<const float>(view<float>(a)))
                                       : AnyView(MatrixView<const double>(view<double>(a)));
}
Array array(const HostArray& a) { return {a.data, a.rows, a.cols, a.stride, a.precision}; }

/// ½‖x̂ ∓ x̂'‖².
double half_distance(const double* x, const double* y, Index d, double sign) {
  double sum = 0;
  for (Index k = 0; k < d; ++k) sum += (x[k] - sign * y[k]) * (x[k] - sign * y[k]);
  return sum / 2;
}

/// Returns S_l of a pair of digit rows.
std::int32_t digit_sum(const DenseSide& rows, Index i, const DenseSide& cols, Index j, Index l) {
  const Index features = cuda::padded_count(rows.dimension);
  const Index stride = cuda::digit_columns(rows.dimension);
  const cuda::DigitSpan span = cuda::digit_span(l);
  const std::int8_t* const x = rows.digits.forward + (rows.first + i) * stride + span.forward_begin * features;
  const std::int8_t* const y = cols.digits.backward + (cols.first + j) * stride + span.backward_begin * features;
  return std::inner_product(x, x + span.count * features, y, std::int32_t{0});
}

/// The product of two unit rows as the tile requires it, and the threshold for t below which it is recomputed.
struct PairProduct {
  double value;
  double near_one;
};
template <typename T>
PairProduct product_of(const DenseTile& tile, Index i, Index j) {
  const DenseSide& rows = tile.rows;
  const DenseSide& cols = tile.cols;
  if (tile.products == cuda::DenseProducts::f64) {
    const double* const x = rows.unit + (rows.first + i) * rows.dimension;
    const double* const y = cols.unit + (cols.first + j) * cols.dimension;
    return {std::inner_product(x, x + rows.dimension, y, 0.0), cuda::recomputed_below<T>};
  }
  const double units = rows.digits.unit[rows.first + i] * cols.digits.unit[cols.first + j];
  const bool last =
      tile.products == cuda::DenseProducts::digits_to_last && units > cuda::last_sum_limit(rows.dimension);
  const auto sum = [&](Index l) { return digit_sum(rows, i, cols, j, l); };
  return {cuda::digit_product(sum(0), sum(1), sum(2), last ? sum(3) : 0, units), cuda::digits_near_one};
}

/// Computes a tile pair by pair with the functions that the device runs.
template <typename T, int C, int D>
void run_tile(const DenseTile& tile, int first_channel, DenseOverflow& overflow) {
  const auto unit = [&](const DenseSide& side, Index i) { return side.unit + (side.first + i) * side.dimension; };
  const auto write = [&](const DenseStep& step, Index slot, Index i, Index j, T value) {
    const Index row = tile.rows.first + i;
    const Index col = tile.cols.first + j;
    double out = cuda::scaled_back(value, tile, step.row_feature * tile.rows.samples + row,
                                   step.col_feature * tile.cols.samples + col);
    if (tile.upper_only && i == j) out = tile.diagonal[slot * tile.rows.samples + row];
    if (tile.output == Precision::f32) out = static_cast<float>(out);
    if (!std::isfinite(out) && overflow.row < 0) overflow = {row, col, slot};
    const cuda::DenseOutput& output = tile.outputs[slot];
    const auto put = [&](Index r, Index c) {
      if (tile.output == Precision::f32) {
        static_cast<float*>(output.data)[r * output.stride + c] = static_cast<float>(out);
      } else {
        static_cast<double*>(output.data)[r * output.stride + c] = out;
      }
    };
    put(tile.first_row + i, tile.first_col + j);
    if (tile.mirrored) put(tile.first_col + j, tile.first_row + i);
  };
  for (Index i = 0; i < tile.rows.count; ++i) {
    for (Index j = tile.upper_only ? i : 0; j < tile.cols.count; ++j) {
      const PairProduct product = product_of<T>(tile, i, j);
      cuda::Correlation pair = cuda::correlation_of(product.value);
      if (pair.t < product.near_one) {
        const double sign = pair.rho < 0 ? -1.0 : 1.0;
        pair = cuda::near_correlation(sign,
                                      half_distance(unit(tile.rows, i), unit(tile.cols, j), tile.rows.dimension, sign));
      }
      cuda::PairStates<T, C, D, 1> states;
      states.rho[0][0] = static_cast<T>(pair.rho);
      states.t[0][0] = static_cast<T>(pair.t);
      const std::int32_t row[1] = {static_cast<std::int32_t>(tile.rows.first + i)};
      cuda::run_steps(tile, row, static_cast<std::int32_t>(tile.cols.first + j), first_channel, states,
                      [&](const DenseStep& step, int state) {
                        if (step.nngp_slot >= 0 && first_channel == 0)
                          write(step, step.nngp_slot, i, j, states.rho[state][0]);
                        for (int m = 0; m < C; ++m) {
                          if (first_channel + m < step.ntk_count) {
                            write(step, step.ntk_slot + first_channel + m, i, j, states.theta[state][m][0]);
                          }
                        }
                      });
    }
  }
}

template <typename T>
void run_tile(const DenseTile& tile, DenseOverflow& overflow) {
  for (int first = 0; first < tile.channels || first == 0; first += cuda::dense_channels) {
    if (tile.depth > 1) {
      run_tile<T, cuda::dense_channels, cuda::dense_depth>(tile, first, overflow);
    } else {
      run_tile<T, cuda::dense_channels, 1>(tile, first, overflow);
    }
  }
}

class HostDevice final : public cuda::Device {
 public:
  explicit HostDevice(const EmulatedDevice& as)
      : memory_(as.memory),
        places_(make_host_places(as.team_bytes)),
        transfers_(as.transfers != nullptr ? as.transfers : std::make_shared<Transfers>()) {}
  [[nodiscard]] cuda::DeviceFacts facts() const override {
    return {.name = "processor",
            .memory = memory_,
            .free_memory = std::min(free(), account_.left()),
            .taken_memory = account_.taken(),
            .major = cuda::oldest_major};
  }
  [[nodiscard]] void* allocate(std::size_t bytes) override {
    if (bytes > std::min(free(), account_.left())) {
      cuda::refuse_allocation("the emulated device", bytes, free(), account_.left(), memory_);
    }
    void* const memory = ::operator new(std::max<std::size_t>(1, bytes));
    std::memset(memory, never_written, bytes);
    account_.add(memory, bytes);
    return memory;
  }
  void release(void* memory) noexcept override {
    account_.remove(memory);
    ::operator delete(memory);
  }
  void fetch(const Array& from, const HostArray& to) override { download(from, to); }
  [[nodiscard]] bool reaches(const void* memory) override { return memory != nullptr; }
  void synchronize() override {}
  void add_ceiling(std::size_t bytes) override { account_.add_ceiling(bytes); }
  void remove_ceiling(std::size_t bytes) override { account_.remove_ceiling(bytes); }
  void upload(const HostArray& from, const Array& to) override { convert(array(from), to); }
  void download(const Array& from, const HostArray& to) override { convert(from, array(to)); }
  void upload_bytes(const void* from, std::size_t bytes, void* to) override { std::memcpy(to, from, bytes); }
  void download_bytes(const void* from, std::size_t bytes, void* to) override { std::memcpy(to, from, bytes); }
  void convert(const Array& from, const Array& to) override {
    EngineMatrix target = matrix(to);
    cpu_.copy(matrix(from), target);
  }
  void gather(const Array& from, std::span<const Index> rows, std::span<const Index> cols, const Array& to) override {
    EngineMatrix target = matrix(to);
    cpu_.copy(cpu_.gather(matrix(from), rows, cols), target);
  }
  void diagonal(const Array& a, double* out) override { std::ranges::copy(cpu_.diagonal(matrix(a)), out); }
  [[nodiscard]] std::pair<bool, std::pair<Index, Index>> symmetry(const Array& a, double allowed) override {
    const Symmetry found = cpu_.symmetry(matrix(a), allowed);
    return {found.equal, found.invalid_entry.value_or(std::pair(Index{-1}, Index{-1}))};
  }
  [[nodiscard]] std::uint64_t checksum(const Array& a) override { return cpu_.checksum(matrix(a)); }
  [[nodiscard]] double scaled(const Array& k, std::span<const double> scale, std::span<const double> shift,
                              const Array& out) override {
    EngineMatrix target = matrix(out);
    return cpu_.scaled(matrix(k), scale, shift, target, nullptr);
  }
  void scale_rows(const Array& from, std::span<const double> weights, const Array& to) override {
    if (from.data != to.data) convert(from, to);
    EngineMatrix target = matrix(to);
    cpu_.scale_rows(target, weights);
  }
  void add_to_diagonal(const Array& a, std::span<const double> shift) override {
    EngineMatrix target = matrix(a);
    cpu_.add_to_diagonal(target, shift);
  }
  [[nodiscard]] double symmetric_norm(const Array& a) override { return cpu_.symmetric_norm(matrix(a)); }
  void column_squares(const Array& a, std::span<const double> weights, double* out) override {
    std::ranges::copy(cpu_.column_squares(matrix(a), weights), out);
  }
  void transpose_upper(const Array& a) override {
    EngineMatrix target = matrix(a);
    cpu_.transpose_upper(target);
  }
  void clear_above(const Array& a) override {
    const MatrixView<double> m = view<double>(a);
    for (Index i = 0; i < m.rows; ++i) std::fill(m.row(i) + std::min(i + 1, m.cols), m.row(i) + m.cols, 0.0);
  }
  void clear(const Array& a) override {
    const MatrixView<double> m = view<double>(a);
    for (Index i = 0; i < m.rows; ++i) std::fill_n(m.row(i), m.cols, 0.0);
  }
  void add(const Array& from, const Array& to) override {
    const MatrixView<double> sum = view<double>(to);
    std::visit(
        [&](const auto& part) {
          for (Index i = 0; i < sum.rows; ++i) {
            for (Index j = 0; j < sum.cols; ++j) sum(i, j) += static_cast<double>(part(i, j));
          }
        },
        any_view(from));
  }
  void product(double alpha, Transpose op_a, const Array& a, Transpose op_b, const Array& b, double beta,
               const Array& c) override {
    EngineMatrix target = matrix(c);
    cpu_.product(alpha, op_a, matrix(a), op_b, matrix(b), beta, target);
  }
  void self_product(const Array& x, double beta, const Array& c) override {
    product(1, Transpose::yes, x, Transpose::no, x, beta, c);
  }
  void multiply_precisely(const Array& k, const Array& v, const Array& out) override {
    release(allocate(usize(k.rows * v.cols) * cuda::precise_bytes));
    cpu_.multiply_precisely(matrix(k), view<double>(v), view<double>(out), nullptr);
  }
  void multiply_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) override {
    if (triangle != Triangle::lower) fail(Code::usage, "only products with lower triangles are supported");
    cpu_.multiply_lower(op, matrix(t), view<double>(b));
  }
  void solve_triangle(Triangle triangle, Transpose op, const Array& t, const Array& b) override {
    if (triangle == Triangle::lower) return cpu_.solve_lower(op, matrix(t), view<double>(b));
    if (t.precision == Precision::f64) return cpu_.solve(op, matrix(t), view<double>(b));
    Matrix<double> x(b.rows, b.cols);
    cpu_.read(matrix(b), x.view());
    cpu_.solve(op, matrix(t), x.view());
    EngineMatrix target = matrix(b);
    cpu_.write(x.view(), target);
  }
  [[nodiscard]] Index cholesky(const Array& a, const std::function<void(Index)>& after) override {
    EngineMatrix target = matrix(a);
    const Index failed = cpu_.cholesky(target, nullptr);
    if (failed == 0) after(a.rows);
    return failed;
  }
  /// Returns pivots with the signs of the eigenvalues, and leaves nothing of the matrix.
  [[nodiscard]] bool ldl(const Array& a, double* diagonal, int* pivots) override {
    const Inertia inertia = cpu_.inertia(matrix(a));
    const MatrixView<double> m = view<double>(a);
    for (Index i = 0; i < m.rows; ++i) std::memset(m.row(i), never_written, usize(m.cols) * sizeof(double));
    if (inertia.zero > 0) return false;
    std::fill_n(pivots, a.rows, 1);
    std::fill_n(diagonal, a.rows, 0.0);
    std::fill_n(diagonal, inertia.negative, -1.0);
    std::fill_n(diagonal + inertia.negative, inertia.positive, 1.0);
    return true;
  }
  void eigen(const Array& a, bool /*vectors*/, double* values) override {
    EngineMatrix vectors;
    std::ranges::copy(cpu_.eigenvectors(cpu_.copy_of(matrix(a), Precision::f64), vectors, nullptr), values);
    EngineMatrix target = matrix(a);
    cpu_.copy(vectors, target);
  }
  /// Computes all columns with the first block.
  [[nodiscard]] Index pivoted_block(const Array& a, Index begin, Index end, double least, Index* order,
                                    double* /*scratch*/) override {
    if (begin == 0) {
      EngineMatrix target = matrix(a);
      std::vector<Index> found;
      rank_ = cpu_.pivoted_cholesky(target, least, found, nullptr);
      std::ranges::copy(found, order);
    }
    return std::clamp<Index>(rank_ - begin, 0, end - begin);
  }
  void split_digits(const Array& unit, const cuda::DigitRows& to) override;
  /// Runs no tile before `finish`, so that memory that is released or read earlier has wrong contents.
  void dense_tile(const DenseTile& tile) override {
    Lane& lane = lanes_[next_lane_];
    next_lane_ = (next_lane_ + 1) % lanes_.size();
    const std::size_t bytes = cuda::product_bytes(tile.products, tile.rows.count, tile.cols.count);
    if (lane.bytes < bytes) {
      release_products(lane);
      lane.products = allocate(bytes);
      lane.bytes = bytes;
    }
    tiles_.push_back(tile);
  }
  [[nodiscard]] DenseOverflow finish() override {
    DenseOverflow overflow;
    for (const DenseTile& tile : std::exchange(tiles_, {})) {
      tile.arithmetic == Precision::f64 ? run_tile<double>(tile, overflow) : run_tile<float>(tile, overflow);
    }
    for (Lane& lane : lanes_) release_products(lane);
    return overflow;
  }
  [[nodiscard]] cuda::PlaneDevice& planes() override { return *planes_; }
  [[nodiscard]] cuda::ConeDevice& cones() override { return *cones_; }
  [[nodiscard]] cuda::PlaceDevice& places() override { return *places_; }
  [[nodiscard]] LayerPasses<float>& single_layers() override { return *single_layers_; }
  [[nodiscard]] LayerPasses<double>& double_layers() override { return *double_layers_; }
  [[nodiscard]] EnclosurePasses& enclosures() override { return *enclosures_; }

 private:
  /// The memory that the products of a tile take on a device.
  struct Lane {
    void* products = nullptr;
    std::size_t bytes = 0;
  };
  void release_products(Lane& lane) noexcept {
    lane.bytes = 0;
    if (lane.products != nullptr) release(std::exchange(lane.products, nullptr));
  }
  [[nodiscard]] EngineMatrix matrix(const Array& a) const { return *cpu_.over(any_view(a)); }
  [[nodiscard]] std::size_t free() const { return memory_ > account_.taken() ? memory_ - account_.taken() : 0; }

  std::size_t memory_;
  cuda::MemoryAccount account_;
  cpu::CpuAlgebra cpu_{1};
  std::vector<DenseTile> tiles_;
  std::array<Lane, cuda::dense_lanes> lanes_;
  std::size_t next_lane_ = 0;
  Index rank_ = 0;
  std::unique_ptr<cuda::PlaneDevice> planes_ = make_host_planes();
  std::unique_ptr<cuda::ConeDevice> cones_ = make_host_cones();
  std::unique_ptr<cuda::PlaceDevice> places_;
  std::shared_ptr<Transfers> transfers_;
  std::unique_ptr<LayerPasses<float>> single_layers_ = make_host_layers<float>(*transfers_);
  std::unique_ptr<LayerPasses<double>> double_layers_ = make_host_layers<double>(*transfers_);
  std::unique_ptr<EnclosurePasses> enclosures_ = make_host_enclosures(*transfers_);
};

void HostDevice::split_digits(const Array& unit, const cuda::DigitRows& to) {
  const Index features = cuda::padded_count(unit.cols);
  const Index stride = cuda::digit_columns(unit.cols);
  std::fill_n(to.forward, cuda::digit_rows(unit.rows) * stride, std::int8_t{0});
  std::fill_n(to.backward, cuda::digit_rows(unit.rows) * stride, std::int8_t{0});
  for (Index i = 0; i < unit.rows; ++i) {
    const double* const x = view<double>(unit).row(i);
    double largest = 0;
    for (Index k = 0; k < unit.cols; ++k) largest = std::max(largest, std::abs(x[k]));
    to.unit[i] = largest / cuda::largest_integer;
    for (Index k = 0; k < unit.cols; ++k) {
      const cuda::Digits digits = cuda::digits_of(x[k], largest > 0 ? cuda::largest_integer / largest : 0.0);
      for (Index place = 0; place < cuda::digit_count; ++place) {
        to.forward[i * stride + place * features + k] = digits.value[place];
        to.backward[i * stride + (cuda::digit_count - 1 - place) * features + k] = digits.value[place];
      }
    }
  }
}

}  // namespace

std::shared_ptr<cuda::Device> make_host_device(const EmulatedDevice& as) { return std::make_shared<HostDevice>(as); }

std::unique_ptr<cuda::Device> open_host_device(std::size_t memory) {
  return std::make_unique<HostDevice>(EmulatedDevice{.memory = memory});
}

std::unique_ptr<Engine> make_emulated_cuda_engine(const EmulatedDevice& as, int threads) {
  return make_cuda_engine(make_host_device(as), "emulated", threads);
}

}  // namespace widelimit::test
