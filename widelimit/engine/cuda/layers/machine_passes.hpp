#pragma once

#include "widelimit/engine/cuda/layers/number_passes.hpp"
#include "widelimit/engine/cuda/layers/row_passes.hpp"
#include "widelimit/engine/cuda/layers/window_passes.hpp"

#include <numeric>
#include <utility>
#include <vector>

namespace widelimit::cuda {

/// Layers built from passes that a machine runs: a device or, in tests, the host. The machine provides memory in bytes,
/// products, each(count, pass) for elementwise passes, rows(count, pass) for row passes, and scratch(bytes), valid
/// while the caller holds lock().
template <std::floating_point T, typename Machine>
class MachinePasses final : public LayerPasses<T> {
 public:
  explicit MachinePasses(Machine machine) : machine_(std::move(machine)) {}

  [[nodiscard]] T* allocate(Index count) override { return static_cast<T*>(machine_.allocate(bytes(count))); }
  void release(T* memory) noexcept override { machine_.release(memory); }
  [[nodiscard]] std::size_t free_bytes() const override { return machine_.free_bytes(); }
  void upload(const T* from, Index count, T* to) override { machine_.upload(from, bytes(count), to); }
  void download(const T* from, Index count, T* to) override { machine_.download(from, bytes(count), to); }
  void copy(const T* from, Index count, T* to) override { machine_.copy(from, bytes(count), to); }
  void clear(T* to, Index count) override { machine_.clear(to, bytes(count)); }
  void take_rows(const T* from, Index row_size, std::span<const Index> rows, T* to) override {
    [[maybe_unused]] const auto lock = machine_.lock();
    auto* const list = static_cast<Index*>(machine_.scratch(rows.size_bytes()));
    machine_.upload(rows.data(), rows.size_bytes(), list);
    machine_.each(static_cast<Index>(rows.size()) * row_size, TakeRows<T>{from, row_size, list, to});
  }

  void product(double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, double beta,
               MatrixView<T> c) override {
    machine_.product(alpha, op_a, a, op_b, b, beta, c, {});
  }
  void products(double alpha, Transpose op_a, MatrixView<const T> a, Transpose op_b, MatrixView<const T> b, double beta,
                MatrixView<T> c, const Repeated& repeated) override {
    machine_.product(alpha, op_a, a, op_b, b, beta, c, repeated);
  }

  void combine(T a, const T* x, T b, const T* y, Index count, T* to) override {
    machine_.each(count, Combine<T>{a, x, b, y, to});
  }
  void add_row(T scale, const T* row, Index rows, Index cols, T* to) override {
    machine_.each(rows * cols, AddRow<T>{scale, row, cols, to});
  }
  /// Sums up to 1024 segments of rows, then adds the partial sums in order.
  void add_column_sums(T factor, const T* from, Index rows, Index cols, T* to) override {
    constexpr Index segment_rows = 256;
    constexpr Index most_segments = 1024;
    const Index needed = (rows + segment_rows - 1) / segment_rows;
    const Index segments = needed < 1 ? 1 : (needed < most_segments ? needed : most_segments);
    [[maybe_unused]] const auto lock = machine_.lock();
    auto* const sums = static_cast<T*>(machine_.scratch(bytes(segments * cols)));
    machine_.each(segments * cols, SegmentSums<T>{from, rows, cols, segments, sums});
    machine_.each(cols, AddSegments<T>{factor, cols, segments, sums, to});
  }
  [[nodiscard]] double squared_distance(const T* a, const T* b, Index count) override {
    constexpr Index segment_numbers = Index{1} << 16;
    const Index segments = (count + segment_numbers - 1) / segment_numbers;
    std::vector<double> sums(static_cast<std::size_t>(segments));
    const std::size_t size = sums.size() * sizeof(double);
    [[maybe_unused]] const auto lock = machine_.lock();
    auto* const parts = static_cast<double*>(machine_.scratch(size));
    machine_.rows(segments, SegmentDistance<T>{a, b, count, segments, parts});
    machine_.download(parts, size, sums.data());
    return std::accumulate(sums.begin(), sums.end(), 0.0);
  }

  void activate(const ScalarFunction& phi, const T* x, Index count, T* y) override {
    if (phi.phi == Phi::relu) return machine_.each(count, Rectify<T>{x, y});
    machine_.each(count, Activate<T>{phi, x, y});
  }
  void activate_signal(const ScalarFunction& phi, const T* x, const T* signal, Index count, T* back) override {
    if (phi.phi == Phi::relu) return machine_.each(count, RectifySignal<T>{x, signal, back});
    machine_.each(count, ActivateSignal<T>{phi, x, signal, back});
  }

  void gather_windows(const WindowGrid& grid, Index channels, Index count, const T* x, T* patches) override {
    by_packs(channels, x, patches, [&]<int V>(Index packs, const auto* from, auto* to) {
      machine_.each(count * outputs(grid) * grid.rows * grid.cols * packs, GatherWindows<T, V>{grid, packs, from, to});
    });
  }
  void scatter_windows(const WindowGrid& grid, Index channels, Index count, const T* patches, T* sum) override {
    by_packs(channels, patches, sum, [&]<int V>(Index packs, const auto* from, auto* to) {
      machine_.each(count * inputs(grid) * packs, ScatterWindows<T, V>{grid, packs, from, to});
    });
  }
  void pool_sum(const WindowGrid& grid, T factor, Index channels, Index count, const T* change, T* y) override {
    machine_.each(count * outputs(grid) * channels, PoolSum<T>{grid, factor, channels, change, y});
  }
  void pool_sum_signal(const WindowGrid& grid, T factor, Index channels, Index count, const T* signal,
                       T* back) override {
    machine_.each(count * inputs(grid) * channels, PoolSumSignal<T>{grid, factor, channels, signal, back});
  }
  void pool_max(const WindowGrid& grid, Index channels, Index count, const T* x, const T* change, T* y) override {
    machine_.each(count * outputs(grid) * channels, PoolMax<T>{grid, channels, x, change, y});
  }
  void pool_max_signal(const WindowGrid& grid, Index channels, Index count, const T* x, const T* signal,
                       T* back) override {
    machine_.each(count * inputs(grid) * channels, PoolMaxSignal<T>{grid, channels, x, signal, back});
  }
  void sum_positions(T factor, Index positions, Index channels, Index count, const T* x, T* y) override {
    machine_.each(count * channels, SumPositions<T>{factor, positions, channels, x, y});
  }
  void spread_positions(T factor, Index positions, Index channels, Index count, const T* signal, T* back) override {
    machine_.each(count * positions * channels, SpreadPositions<T>{factor, positions, channels, signal, back});
  }

  void normalise(Index rows, Index cols, const T* x, T* y) override { machine_.rows(rows, Normalise<T>{cols, x, y}); }
  void normalise_signal(Index rows, Index cols, const T* x, const T* signal, T* back) override {
    machine_.rows(rows, NormaliseSignal<T>{cols, x, signal, back});
  }
  void drop(std::uint64_t seed, std::uint64_t stream, std::uint64_t first, double rate, const T* x, Index count,
            T* y) override {
    machine_.each(count, Drop<T>{seed, stream, first, rate, x, y});
  }
  void softmax(Index rows, Index cols, T* x) override { machine_.rows(rows, Softmax<T>{cols, x}); }
  void softmax_signal(Index rows, Index cols, const T* zeta, T* signal) override {
    machine_.rows(rows, SoftmaxSignal<T>{cols, zeta, signal});
  }

  void begin_step(const WeightMove<T>& move, const MovedWeights<T>& weights) override {
    machine_.each(weights.count, BeginStep<T>{move, weights});
  }
  void end_step(const WeightMove<T>& move, const MovedWeights<T>& weights) override {
    machine_.each(weights.count, EndStep<T>{move, weights});
  }

  void add_pairs(T w, T b, Index positions, const T* a, const T* d, MatrixView<T> kernel) override {
    const Index pairs = kernel.rows * kernel.cols;
    if (positions == 1) {
      return machine_.each(pairs, AddEntries<T>{w, b, a, d, kernel.cols, kernel.data, kernel.stride});
    }
    machine_.rows(pairs, AddSquares<T>{w, b, positions, a, d, kernel.cols, kernel.data, kernel.stride});
  }
  void mirror_upper(MatrixView<T> kernel) override {
    machine_.each(kernel.rows * kernel.rows, MirrorUpper<T>{kernel.rows, kernel.data, kernel.stride});
  }

 private:
  /// Calls work<V>(packs, from, to) with packs of 16 bytes if their size divides the channels, else with single values.
  template <typename Work>
  static void by_packs(Index channels, const T* from, T* to, const Work& work) {
    const auto with = [&]<int V>() {
      work.template operator()<V>(channels / V, reinterpret_cast<const ChannelPack<T, V>*>(from),
                                  reinterpret_cast<ChannelPack<T, V>*>(to));
    };
    constexpr int most = 16 / sizeof(T);
    if (channels % most == 0) return with.template operator()<most>();
    with.template operator()<1>();
  }
  [[nodiscard]] static std::size_t bytes(Index count) { return static_cast<std::size_t>(count) * sizeof(T); }
  [[nodiscard]] static Index inputs(const WindowGrid& grid) { return Index{grid.in_height} * grid.in_width; }
  [[nodiscard]] static Index outputs(const WindowGrid& grid) { return Index{grid.height} * grid.width; }

  Machine machine_;
};

}  // namespace widelimit::cuda
