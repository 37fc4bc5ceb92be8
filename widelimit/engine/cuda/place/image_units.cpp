#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/image/image_trace.hpp"
#include "widelimit/engine/cpu/vector/unit_rows.hpp"
#include "widelimit/engine/cuda/place/place_units.hpp"
#include "widelimit/engine/overflow.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit::cuda {

namespace {

/// Images whose traces are kept in memory at once.
constexpr Index images_of_a_unit = 256;

/// Appends the pooling weights of each place after: scale·r/r_after, from the features r/R and R/r_after.
void add_pooling(const Step& step, const cpu::Features& features, UnitRecord& record) {
  const auto windows = cpu::window_sources(step);
  const auto after = usize(step.after.positions());
  std::vector<std::int32_t> starts{0};
  std::vector<std::int32_t> places;
  for (std::size_t p = 0; p < after; ++p) {
    for (const auto& sources : windows) {
      if (sources[p] < 0) continue;
      places.push_back(static_cast<std::int32_t>(sources[p]));
      record.weights.push_back(step.scale * features.f64(0, sources[p]) * features.f64(1, static_cast<Index>(p)));
    }
    starts.push_back(static_cast<std::int32_t>(places.size()));
  }
  record.lists.insert(record.lists.end(), starts.begin(), starts.end());
  record.lists.insert(record.lists.end(), places.begin(), places.end());
}

/// Appends ζ(p, k)·r_k/r_p,after in column-major order.
void add_attention(const Matrix<double>& zeta, const cpu::Features& features, UnitRecord& record) {
  for (Index k = 0; k < zeta.cols(); ++k) {
    for (Index p = 0; p < zeta.rows(); ++p) {
      record.weights.push_back(zeta(p, k) * features.f64(0, k) * features.f64(1, p));
    }
  }
}

/// Writes image positions divided by their norms to `unit`; returns their variances. Vectors are images with one
/// position, and may be sparse.
cpu::Variances load_positions(const Recipe& recipe, const SampleView& x, int threads, MatrixView<double> unit) {
  if (!recipe.on_vectors()) return cpu::normalise_rows(x, recipe.input.channels, unit, threads);
  cpu::UnitRows<double> rows;
  cpu::Variances variances = rows.load(x, recipe.input.channels, threads);
  if (rows.is_sparse()) {
    rows.copy_rows(0, unit);
  } else {
    for (Index i = 0; i < unit.rows; ++i) std::copy_n(rows.dense().row(i), unit.cols, unit.row(i));
  }
  return variances;
}

UnitRecord image_record(const Recipe& recipe, const LoweredPlaces& lowered, MatrixView<const double> unit,
                        const cpu::ImageTrace& trace) {
  UnitRecord record;
  record.entries.resize(recipe.steps.size() + 1);
  for (const Index positions : lowered.positions) record.places.push_back(static_cast<std::int32_t>(positions));
  record.begin_weights(0);
  for (Index c = 0; c < unit.cols; ++c) {
    for (Index p = 0; p < unit.rows; ++p) record.weights.push_back(unit(p, c));
  }
  for (std::size_t k = 0; k < recipe.steps.size(); ++k) {
    const Step& step = recipe.steps[k];
    const cpu::Features& features = trace.features[k];
    const auto row = [&](Index f, Index count) {
      record.weights.insert(record.weights.end(), features.array<double>(f), features.array<double>(f) + count);
    };
    switch (step.op) {
      case Op::window:
      case Op::flatten:
        record.begin_weights(k + 1);
        row(0, step.before.positions());
        row(1, step.after.positions());
        break;
      case Op::pool:
        record.begin_weights(k + 1);
        record.begin_lists(k + 1);
        add_pooling(step, features, record);
        break;
      case Op::attend:
        record.begin_weights(k + 1);
        add_attention(trace.attention[k], features, record);
        break;
      case Op::emit:
        record.begin_weights(k + 1);
        row(0, 1);
        break;
      default:
        if (features.f64.rows() > 0) record.add_features(k + 1, features, step.before.positions());
        break;
    }
  }
  return record;
}

}  // namespace

LoadedPlaces load_images(const std::shared_ptr<Device>& device, const Recipe& recipe, const LoweredPlaces& lowered,
                         const SampleView& x, Precision precision, int threads, const AfterSamples& after) {
  const Index n = x.count();
  const Index positions = recipe.input.positions();
  LoadedPlaces loaded;
  loaded.samples = n;
  loaded.diagonal = Matrix<double>(recipe.outputs, n);
  std::vector<UnitRecord> records(usize(n));
  std::vector<double> errors(usize(n), 0.0);
  for (Index begin = 0; begin < n; begin += images_of_a_unit) {
    const Index count = std::min(images_of_a_unit, n - begin);
    Matrix<double> unit(count * positions, recipe.input.channels);
    const cpu::Variances variances = load_positions(recipe, x.part(begin, count), threads, unit.view());
    const auto trace = [&](Index k) {
      const Index i = begin + k;
      const MatrixView<const double> image = unit.view().block(k * positions, 0, positions, unit.cols());
      const cpu::Variances own(variances.begin() + k * positions, variances.begin() + (k + 1) * positions);
      const cpu::TracedImage traced = cpu::trace_image(
          recipe, image, own, precision, [&](const Step& step, const cpu::TracePair& traces, cpu::PairState& state) {
            cpu::each_output(step, traces, state, [&](Index slot, double value) {
              if (!std::isfinite(value)) report_overflow(slot, i, i, Precision::f64);
              loaded.diagonal(slot, i) = value;
            });
          });
      records[usize(i)] = image_record(recipe, lowered, image, traced.trace);
      errors[usize(i)] = traced.error;
    };
    parallel_for(count, threads, trace, [&](Index done) { after(begin + done); });
  }
  for (const double error : errors) loaded.error = std::max(loaded.error, error);
  loaded.units = DeviceUnits(device, lowered, std::move(records));
  return loaded;
}

std::size_t loaded_image_bytes(const Recipe& recipe) {
  std::size_t numbers = usize(recipe.input.size() + recipe.outputs);
  for (const Step& step : recipe.steps) {
    const Index before = step.before.positions();
    numbers += usize(cpu::feature_count(step) * std::max(before, step.after.positions()));
    numbers += sizeof(PlaceEntry) / sizeof(double);
    if (step.op == Op::attend) numbers += usize(before * before);
    if (step.op == Op::pool) numbers += 2 * usize(step.after.positions() * step.size.positions());
  }
  return 3 * numbers * sizeof(double);  // records, their concatenation, and temporaries
}

}  // namespace widelimit::cuda
