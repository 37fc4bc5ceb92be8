#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"
#include "widelimit/engine/cpu/vector/vector_samples.hpp"
#include "widelimit/engine/cuda/dense_lowering.hpp"
#include "widelimit/engine/cuda/path.hpp"
#include "widelimit/engine/overflow.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/recipe/quadrature/logistic_mixture.hpp"

#include <algorithm>
#include <limits>

namespace widelimit::cuda {

namespace {

/// Samples in device memory.
struct DenseLoaded final : DeviceLoaded {
  std::shared_ptr<Device> device;
  Precision arithmetic = Precision::f64;
  Index samples = 0;
  Index dimension = 0;
  DenseLayout layout;
  DeviceBuffer unit;
  /// Digits of the unit rows; empty unless products are computed by digits.
  DeviceBuffer digits;
  DeviceBuffer digit_unit_device;
  std::vector<double> digit_unit_host;
  DeviceBuffer features;
  DeviceBuffer deviations;
  DeviceBuffer rounded_deviations;
  DeviceBuffer diagonal_device;  ///< outputs × n
  Matrix<double> diagonal_host;  ///< the same
  double error = 0.0;

  [[nodiscard]] Index count() const override { return samples; }
  [[nodiscard]] double quadrature_error() const override { return error; }
  void fill(const Recipe& recipe, Range rows, const Loaded& other, Range cols, bool symmetric,
            std::span<const Array> outputs, const std::function<void(Index)>& after) const override;
  void diagonal(MatrixView<double> outputs, const std::function<void(Index)>& /*after*/) const override {
    for (Index s = 0; s < outputs.rows; ++s) std::copy_n(diagonal_host.view().row(s), outputs.cols, outputs.row(s));
  }
  void split_digits();
  [[nodiscard]] DigitRows digit_memory() const {
    auto* const forward = static_cast<std::int8_t*>(digits.data());
    return {.forward = forward,
            .backward = forward + digit_rows(samples) * digit_columns(dimension),
            .unit = static_cast<double*>(digit_unit_device.data())};
  }
  [[nodiscard]] DenseSide side(Range range) const {
    return {.unit = static_cast<const double*>(unit.data()),
            .digits = digit_unit_host.empty() ? DigitRows{} : digit_memory(),
            .dimension = dimension,
            .features = features.data(),
            .deviations = static_cast<const double*>(deviations.data()),
            .rounded_deviations = static_cast<const float*>(rounded_deviations.data()),
            .samples = samples,
            .first = range.begin,
            .count = range.size()};
  }
};

Precision arithmetic_of(const Recipe& recipe, Precision precision) {
  return precision == Precision::f32 && cpu::runs_in_float(recipe) ? Precision::f32 : Precision::f64;
}

/// Uploads the unit rows in pieces: sparse rows become dense on the device.
DeviceBuffer upload_units(const std::shared_ptr<Device>& device, const cpu::UnitRows<double>& unit, Index n, Index d) {
  DeviceBuffer buffer(device, usize(n * d) * sizeof(double));
  const Array all{buffer.data(), n, d, d, Precision::f64};
  const Index rows = std::clamp<Index>((Index{1} << 24) / std::max<Index>(1, d), 1, std::max<Index>(1, n));
  Matrix<double> piece;
  for (Index begin = 0; begin < n; begin += rows) {
    const Index count = std::min(rows, n - begin);
    MatrixView<const double> part;
    if (unit.is_sparse()) {
      if (piece.rows() == 0) piece = Matrix<double>(rows, d, Content::unset);
      const MatrixView<double> copied = piece.view().block(0, 0, count, d);
      unit.copy_rows(begin, copied);
      part = copied;
    } else {
      part = unit.dense().block(begin, 0, count, d);
    }
    upload(*device, part, block(all, begin, 0, count, d));
  }
  return buffer;
}

/// Uploads a host matrix, rounded to T.
template <typename T>
DeviceBuffer upload_rounded(const std::shared_ptr<Device>& device, const Matrix<double>& m) {
  std::vector<T> values(m.data(), m.data() + m.rows() * m.cols());
  return DeviceBuffer::of<T>(device, values);
}

/// Waits for running kernels on scope exit, so that no memory they read is released early.
class Finisher {
 public:
  explicit Finisher(Device& device) : device_(device) {}
  Finisher(const Finisher&) = delete;
  Finisher& operator=(const Finisher&) = delete;
  ~Finisher() {
    try {
      (void)device_.finish();
    } catch (const Error&) {
      return;  // the exception in flight takes precedence
    }
  }

 private:
  Device& device_;
};

/// Tiles between two synchronisations: some hundredths of a second for small networks.
constexpr Index tiles_at_once = 16;

/// Tile edges: products of this size keep all multiprocessors busy, and squares on the diagonal, half of which is
/// computed twice, are few. The shape of a product affects the bits in float64, but not with digits.
constexpr Index dense_tile_edge = 2048;
constexpr Index digit_tile_edge = 4096;
constexpr Index least_tile_edge = 64;

/// Returns the largest edge whose sums of digits, in all lanes, take at most an eighth of the free memory.
Index edge_by_memory(std::size_t free) {
  const auto bytes = [](Index edge) { return dense_lanes * product_bytes(DenseProducts::digits_to_last, edge, edge); };
  Index edge = digit_tile_edge;
  while (edge > least_tile_edge && bytes(edge) > free / 8) edge /= 2;
  return edge;
}

void DenseLoaded::split_digits() {
  digits = DeviceBuffer(device, 2 * usize(digit_rows(samples) * digit_columns(dimension)));
  digit_unit_device = DeviceBuffer(device, usize(samples) * sizeof(double));
  device->split_digits({unit.data(), samples, dimension, dimension, Precision::f64}, digit_memory());
  digit_unit_host.resize(usize(samples));
  device->download_bytes(digit_unit_device.data(), usize(samples) * sizeof(double), digit_unit_host.data());
}

/// How the products of a tile are computed: by digits, with S₃ only if a pair may need it, or in float64 if the samples
/// have no digits.
DenseProducts products_of(const DenseLoaded& a, Range rows, const DenseLoaded& b, Range cols) {
  if (a.digit_unit_host.empty() || rows.size() == 0 || cols.size() == 0) return DenseProducts::f64;
  const auto largest = [](const std::vector<double>& unit, Range range) {
    return *std::max_element(unit.begin() + range.begin, unit.begin() + range.end);
  };
  const double units = largest(a.digit_unit_host, rows) * largest(b.digit_unit_host, cols);
  return units > last_sum_limit(a.dimension) ? DenseProducts::digits_to_last : DenseProducts::digits;
}

void DenseLoaded::fill(const Recipe& recipe, Range rows, const Loaded& other, Range cols, bool symmetric,
                       std::span<const Array> outputs, const std::function<void(Index)>& after) const {
  require_digits(arithmetic, outputs);
  const auto& b = dynamic_cast<const DenseLoaded&>(other);
  const DenseLowered lowered = lower_dense(recipe, layout, b.layout);
  std::vector<DenseOutput> places;
  for (const Array& output : outputs) places.push_back({output.data, output.stride});
  std::vector<DenseMixture> mixture;
  for (const MixtureTerm& term : logistic_mixture()) mixture.push_back({term.deviation, term.weight});
  const DeviceBuffer steps = DeviceBuffer::of<DenseStep>(device, lowered.steps);
  const DeviceBuffer constants = DeviceBuffer::of<double>(device, lowered.constants);
  const DeviceBuffer output_list = DeviceBuffer::of<DenseOutput>(device, places);
  const DeviceBuffer terms = DeviceBuffer::of<DenseMixture>(device, mixture);

  DenseTile tile{.arithmetic = arithmetic,
                 .output = outputs.front().precision,
                 .steps = static_cast<const DenseStep*>(steps.data()),
                 .step_count = static_cast<std::int32_t>(lowered.steps.size()),
                 .channels = static_cast<std::int32_t>(recipe.channels),
                 .depth = static_cast<std::int32_t>(cpu::deepest_stack(recipe)),
                 .chain = lowered.is_chain(),
                 .constants = static_cast<const double*>(constants.data()),
                 .mixture = static_cast<const DenseMixture*>(terms.data()),
                 .mixture_count = static_cast<std::int32_t>(mixture.size()),
                 .outputs = static_cast<const DenseOutput*>(output_list.data()),
                 .diagonal = static_cast<const double*>(diagonal_device.data())};
  // A tile of a larger matrix is not split again: its shape, and thus its bits, equal those in the whole matrix.
  const bool by_digits = !digit_unit_host.empty();
  const Index most = by_digits ? edge_by_memory(device->facts().free_memory) : dense_tile_edge;
  const bool one_tile = !symmetric && std::max(rows.size(), cols.size()) <= most;
  const Index edge = one_tile ? most : gram_tile_edge(rows.size(), cols.size(), most);
  const std::vector<Tile> tiles = symmetric ? upper_tiles(rows, edge) : rectangle_tiles(rows, cols, edge);
  const Finisher finisher(*device);
  Index pairs = 0;
  for (std::size_t k = 0; k < tiles.size(); ++k) {
    tile.rows = side(tiles[k].rows);
    tile.cols = b.side(tiles[k].cols);
    tile.products = products_of(*this, tiles[k].rows, b, tiles[k].cols);
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

class DensePath final : public Path {
 public:
  DensePath(std::shared_ptr<Device> device, const Recipe& recipe, Precision precision)
      : device_(std::move(device)), recipe_(recipe), precision_(precision) {}

  [[nodiscard]] std::string obstacle() const override {
    if (std::string reason = host_only_activation(recipe_); !reason.empty()) return reason;
    if (cpu::deepest_stack(recipe_) > dense_depth) {
      return fmt::format("more than {} nested branches", dense_depth - 1);
    }
    if (recipe_.outputs > 256) return "more than 256 outputs";
    return {};
  }
  [[nodiscard]] std::string route() const override {
    return arithmetic_of(recipe_, precision_) == Precision::f32 ? "tiles of pairs on the device, float"
                                                                : "tiles of pairs on the device, double";
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                             const std::function<void(Index)>& /*after*/) const override {
    // Always in double: nearly parallel pairs need the extra precision; the rest is rounded on upload.
    cpu::VectorSamples<double> samples = cpu::load_vector_samples<double>(recipe_, x, precision_, threads);
    auto loaded = std::make_unique<DenseLoaded>();
    loaded->device = device_;
    const Index n = x.count();
    loaded->arithmetic = arithmetic_of(recipe_, precision_);
    loaded->samples = n;
    loaded->dimension = recipe_.input.channels;
    loaded->layout = dense_layout(recipe_, samples.features);
    loaded->unit = upload_units(device_, samples.unit, n, loaded->dimension);
    if (multiplies_digits() && n > 0) loaded->split_digits();
    Matrix<double> features(loaded->layout.features, n, Content::unset);
    Matrix<double> deviations(loaded->layout.deviations, n, Content::unset);
    for (std::size_t k = 0; k < recipe_.steps.size(); ++k) {
      const cpu::Features& from = samples.features[k];
      Matrix<double>& to = recipe_.steps[k].op == Op::emit ? deviations : features;
      for (Index f = 0; f < from.f64.rows(); ++f) {
        std::copy_n(from.array<double>(f), n, to.view().row(loaded->layout.first[k] + f));
      }
    }
    loaded->features = loaded->arithmetic == Precision::f32 ? upload_rounded<float>(device_, features)
                                                            : upload_rounded<double>(device_, features);
    loaded->deviations = upload_rounded<double>(device_, deviations);
    for (Index k = 0; k < deviations.rows() * n; ++k) {
      double& r = deviations.data()[k];
      if (r > cpu::float_safe || (r > 0 && r < 1 / cpu::float_safe)) r = std::numeric_limits<double>::quiet_NaN();
    }
    loaded->rounded_deviations = upload_rounded<float>(device_, deviations);
    loaded->diagonal_device = upload_rounded<double>(device_, samples.diagonal);
    loaded->diagonal_host = std::move(samples.diagonal);
    loaded->error = samples.error;
    return loaded;
  }
  [[nodiscard]] std::size_t loaded_bytes(const SampleView& x) const override {
    const Index d = recipe_.input.channels;
    std::size_t bytes = cpu::vector_sample_bytes<double>(recipe_, x);
    if (x.sparse() != nullptr) bytes += usize(d) * sizeof(double);  // rows are dense on the device
    if (!multiplies_digits()) return bytes;
    const Index n = std::max<Index>(1, x.count());
    const Index digits = (2 * digit_rows(n) * digit_columns(d) + n - 1) / n;
    return bytes + usize(digits) + 2 * sizeof(double);  // the unit of the digits is kept on both sides
  }
  [[nodiscard]] Index tile_edge() const override { return dense_tile_edge; }

 private:
  [[nodiscard]] bool multiplies_digits() const {
    return arithmetic_of(recipe_, precision_) == Precision::f32 && recipe_.input.channels <= most_digit_dimension;
  }

  std::shared_ptr<Device> device_;
  const Recipe& recipe_;
  Precision precision_;
};

}  // namespace

std::unique_ptr<Path> dense_path(std::shared_ptr<Device> device, const Recipe& recipe, Precision precision) {
  return std::make_unique<DensePath>(std::move(device), recipe, precision);
}

}  // namespace widelimit::cuda
