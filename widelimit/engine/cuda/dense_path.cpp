#include "widelimit/engine/cuda/dense_path.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"
#include "widelimit/engine/cpu/vector/vector_samples.hpp"
#include "widelimit/engine/cuda/dense_lowering.hpp"
#include "widelimit/engine/overflow.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/recipe/quadrature/logistic_mixture.hpp"

#include <algorithm>

namespace widelimit::cuda {

namespace {

/// Samples as a device holds them.
struct DenseLoaded final : Loaded {
  Precision arithmetic = Precision::f64;
  Index samples = 0;
  Index dimension = 0;
  DenseLayout layout;
  DeviceBuffer unit;
  DeviceBuffer features;
  DeviceBuffer deviations;
  DeviceBuffer diagonal;         ///< outputs × n
  Matrix<double> diagonal_host;  ///< the same
  double error = 0.0;

  [[nodiscard]] Index count() const override { return samples; }
  [[nodiscard]] double quadrature_error() const override { return error; }
  [[nodiscard]] DenseSide side(Range range) const {
    return {.unit = unit.data(),
            .dimension = dimension,
            .features = features.data(),
            .deviations = static_cast<const double*>(deviations.data()),
            .samples = samples,
            .first = range.begin,
            .count = range.size()};
  }
};

Precision arithmetic_of(const Recipe& recipe, Precision precision) {
  return precision == Precision::f32 && cpu::runs_in_float(recipe) ? Precision::f32 : Precision::f64;
}

/// Unit rows, a piece at a time: sparse rows take all their columns on the device.
template <typename T>
DeviceBuffer upload_units(const std::shared_ptr<Device>& device, const cpu::UnitRows<T>& unit, Index n, Index d) {
  DeviceBuffer buffer(device, usize(n * d) * sizeof(T));
  const Index rows = std::clamp<Index>((Index{1} << 24) / std::max<Index>(1, d), 1, std::max<Index>(1, n));
  Matrix<T> piece(rows, d, Content::unset);
  for (Index begin = 0; begin < n; begin += rows) {
    interruption_point();
    const Index count = std::min(rows, n - begin);
    const MatrixView<T> part = piece.view().block(0, 0, count, d);
    unit.copy_rows(begin, part);
    auto* const to = static_cast<char*>(buffer.data()) + usize(begin * d) * sizeof(T);
    device->upload_bytes(part.data, usize(count * d) * sizeof(T), to);
  }
  return buffer;
}

template <typename T>
std::unique_ptr<Loaded> load_in(const std::shared_ptr<Device>& device, const Recipe& recipe, const SampleView& x,
                                Precision precision, int threads) {
  cpu::VectorSamples<T> samples = cpu::load_vector_samples<T>(recipe, x, precision, threads);
  auto loaded = std::make_unique<DenseLoaded>();
  const Index n = x.count();
  loaded->arithmetic = precision_of<T>;
  loaded->samples = n;
  loaded->dimension = recipe.input.channels;
  loaded->layout = dense_layout(recipe, samples.features);
  loaded->unit = upload_units(device, samples.unit, n, loaded->dimension);
  Matrix<T> features(loaded->layout.features, n, Content::unset);
  Matrix<double> deviations(loaded->layout.deviations, n, Content::unset);
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const cpu::Features& from = samples.features[k];
    const Index first = loaded->layout.first[k];
    for (Index f = 0; f < from.f64.rows(); ++f) {
      const double* const values = from.array<double>(f);
      if (recipe.steps[k].op == Op::emit) {
        std::copy_n(values, n, deviations.view().row(first + f));
      } else {
        std::transform(values, values + n, features.view().row(first + f), [](double v) { return static_cast<T>(v); });
      }
    }
  }
  const auto numbers = [](const auto& m) { return std::span(m.data(), usize(m.rows() * m.cols())); };
  loaded->features = DeviceBuffer::of<T>(device, numbers(std::as_const(features)));
  loaded->deviations = DeviceBuffer::of<double>(device, numbers(std::as_const(deviations)));
  loaded->diagonal = DeviceBuffer::of<double>(device, numbers(std::as_const(samples.diagonal)));
  loaded->diagonal_host = std::move(samples.diagonal);
  loaded->error = samples.error;
  return loaded;
}

const DenseLoaded& dense(const Loaded& x) { return dynamic_cast<const DenseLoaded&>(x); }

/// No memory that kernels read goes back before they end, whatever ends the work.
class Finisher {
 public:
  explicit Finisher(Device& device) : device_(device) {}
  Finisher(const Finisher&) = delete;
  Finisher& operator=(const Finisher&) = delete;
  ~Finisher() {
    try {
      (void)device_.finish();
    } catch (const Error&) {
      return;  // an error that is under way says what happened
    }
  }

 private:
  Device& device_;
};

/// Tiles between two looks at the device: some hundredths of a second of small networks.
constexpr Index tiles_at_once = 16;

}  // namespace

std::string dense_obstacle(const Recipe& recipe) {
  for (const Step& step : recipe.steps) {
    if (step.op == Op::dual && step.dual.phi == Phi::custom) {
      return "the network has an activation of the user's own, which only the back end cpu evaluates";
    }
  }
  if (cpu::deepest_stack(recipe) > dense_depth) {
    return fmt::format("the network has more than {} branches inside one another; use the back end cpu",
                       dense_depth - 1);
  }
  if (recipe.outputs > 256) return "the network has more than 256 outputs; use the back end cpu";
  return {};
}

std::string dense_route(const Recipe& recipe, Precision precision) {
  return arithmetic_of(recipe, precision) == Precision::f32 ? "tiles of pairs on the device, float"
                                                            : "tiles of pairs on the device, double";
}

std::unique_ptr<Loaded> load_dense(const std::shared_ptr<Device>& device, const Recipe& recipe, const SampleView& x,
                                   Precision precision, int threads) {
  return arithmetic_of(recipe, precision) == Precision::f32
             ? load_in<float>(device, recipe, x, precision, threads)
             : load_in<double>(device, recipe, x, precision, threads);
}

std::size_t dense_loaded_bytes(const Recipe& recipe, Precision precision, const SampleView& x) {
  return arithmetic_of(recipe, precision) == Precision::f32 ? cpu::vector_sample_bytes<float>(recipe, x)
                                                            : cpu::vector_sample_bytes<double>(recipe, x);
}

void fill_dense(const std::shared_ptr<Device>& device, const Recipe& recipe, const Loaded& x1, Range rows,
                const Loaded& x2, Range cols, bool symmetric, std::span<const Array> outputs,
                const std::function<void(Index)>& after) {
  const DenseLoaded& a = dense(x1);
  const DenseLoaded& b = dense(x2);
  if (a.arithmetic == Precision::f32 && outputs.front().precision == Precision::f64) {
    fail(Code::usage, "samples loaded for float32 have no kernel in float64");
  }
  const DenseLowered lowered = lower_dense(recipe, a.layout, b.layout);
  std::vector<DenseOutput> places;
  for (const Array& output : outputs) places.push_back({output.data, output.stride});
  std::vector<DenseMixture> mixture;
  for (const MixtureTerm& term : logistic_mixture()) mixture.push_back({term.deviation, term.weight});
  const DeviceBuffer steps = DeviceBuffer::of<DenseStep>(device, lowered.steps);
  const DeviceBuffer constants = DeviceBuffer::of<double>(device, lowered.constants);
  const DeviceBuffer output_list = DeviceBuffer::of<DenseOutput>(device, places);
  const DeviceBuffer terms = DeviceBuffer::of<DenseMixture>(device, mixture);

  DenseTile tile{.arithmetic = a.arithmetic,
                 .output = outputs.front().precision,
                 .steps = static_cast<const DenseStep*>(steps.data()),
                 .step_count = static_cast<std::int32_t>(lowered.steps.size()),
                 .channels = static_cast<std::int32_t>(recipe.channels),
                 .depth = static_cast<std::int32_t>(cpu::deepest_stack(recipe)),
                 .constants = static_cast<const double*>(constants.data()),
                 .mixture = static_cast<const DenseMixture*>(terms.data()),
                 .mixture_count = static_cast<std::int32_t>(mixture.size()),
                 .outputs = static_cast<const DenseOutput*>(output_list.data()),
                 .diagonal = static_cast<const double*>(a.diagonal.data())};
  const Index edge = gram_tile_edge(rows.size(), cols.size(), dense_tile_edge);
  const std::vector<Tile> tiles = symmetric ? upper_tiles(rows, edge) : rectangle_tiles(rows, cols, edge);
  const Finisher finisher(*device);
  Index pairs = 0;
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    tile.rows = a.side(tiles[k].rows);
    tile.cols = b.side(tiles[k].cols);
    tile.first_row = tiles[k].rows.begin - rows.begin;
    tile.first_col = tiles[k].cols.begin - cols.begin;
    tile.mirrored = symmetric;
    tile.upper_only = symmetric && tiles[k].on_diagonal();
    device->dense_tile(tile);
    pairs += symmetric ? tiles[k].upper_pairs() : tiles[k].rows.size() * tiles[k].cols.size();
    if ((k + 1) % tiles_at_once != 0 && k + 1 != tiles.size()) continue;
    const DenseOverflow overflow = device->finish();
    if (overflow.row >= 0) report_overflow(overflow.slot, overflow.row, overflow.col, tile.output);
    interruption_point();
    after(pairs);
  }
}

void dense_diagonal(const Loaded& x, MatrixView<double> outputs) {
  const Matrix<double>& from = dense(x).diagonal_host;
  for (Index s = 0; s < outputs.rows; ++s) std::copy_n(from.view().row(s), outputs.cols, outputs.row(s));
}

}  // namespace widelimit::cuda
