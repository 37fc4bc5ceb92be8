#include "widelimit/engine/cpu/path.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/image/image_trace.hpp"
#include "widelimit/engine/cpu/vector/unit_rows.hpp"
#include "widelimit/engine/overflow.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace widelimit::cpu {

namespace {

struct ImageLoaded final : CpuLoaded {
  void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
            std::span<const MatrixView<float>> outputs) const override;
  void tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
            std::span<const MatrixView<double>> outputs) const override;

  Matrix<double> unit;  ///< position vectors of all images divided by their norms, n·P × channels
  std::vector<ImageTrace> traces;

  [[nodiscard]] MatrixView<const double> image(Index i, Index positions) const {
    return unit.view().block(i * positions, 0, positions, unit.cols());
  }
};

std::unique_ptr<Loaded> load_images(const Recipe& recipe, const SampleView& x, Precision precision, int threads,
                                    const std::function<void(Index done)>& after) {
  auto loaded = std::make_unique<ImageLoaded>();
  const Index n = x.count();
  const Index positions = recipe.input.positions();
  loaded->unit = Matrix<double>(n * positions, recipe.input.channels);
  loaded->diagonal_values = Matrix<double>(recipe.outputs, n);
  loaded->traces.resize(static_cast<std::size_t>(n));
  const Variances variances = normalise_rows(x, recipe.input.channels, loaded->unit.view(), threads);
  std::vector<double> errors(static_cast<std::size_t>(n), 0.0);

  const auto trace = [&](Index i) {
    const Variances own(variances.begin() + i * positions, variances.begin() + (i + 1) * positions);
    TracedImage traced = trace_image(recipe, loaded->image(i, positions), own, precision,
                                     [&](const Step& step, const TracePair& traces, PairState& state) {
                                       each_output(step, traces, state, [&](Index slot, double value) {
                                         if (!std::isfinite(value)) report_overflow(slot, i, i, Precision::f64);
                                         loaded->diagonal_values(slot, i) = value;
                                       });
                                     });
    loaded->traces[static_cast<std::size_t>(i)] = std::move(traced.trace);
    errors[static_cast<std::size_t>(i)] = traced.error;
  };
  parallel_for(n, threads, trace, after);
  for (const double error : errors) loaded->error = std::max(loaded->error, error);
  return loaded;
}

template <typename Out>
void image_tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
                std::span<const MatrixView<Out>> outputs) {
  const auto& a = dynamic_cast<const ImageLoaded&>(x1);
  const auto& b = dynamic_cast<const ImageLoaded&>(x2);
  const Index positions = recipe.input.positions();
  for (Index i = rows.begin; i < rows.end; ++i) {
    for (Index j = cols.begin; j < cols.end; ++j) {
      run_images(recipe, a.image(i, positions), a.traces[static_cast<std::size_t>(i)], b.image(j, positions),
                 b.traces[static_cast<std::size_t>(j)],
                 [&](const Step& step, const TracePair& traces, PairState& state) {
                   each_output(step, traces, state, [&](Index slot, double value) {
                     const auto result = static_cast<Out>(value);
                     if (!std::isfinite(result)) report_overflow(slot, i, j, precision_of<Out>);
                     outputs[static_cast<std::size_t>(slot)](i - rows.begin, j - cols.begin) = result;
                   });
                 });
    }
  }
}

void ImageLoaded::tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                       std::span<const MatrixView<float>> outputs) const {
  image_tile(recipe, *this, rows, other, cols, outputs);
}

void ImageLoaded::tile(const Recipe& recipe, Range rows, const Loaded& other, Range cols,
                       std::span<const MatrixView<double>> outputs) const {
  image_tile(recipe, *this, rows, other, cols, outputs);
}

class ImagePath final : public Path {
 public:
  ImagePath(const Recipe& recipe, Precision precision, std::string obstacle)
      : recipe_(recipe), precision_(precision), obstacle_(std::move(obstacle)) {}

  [[nodiscard]] std::string route() const override {
    return fmt::format("general image path ({}), {}, double", obstacle_,
                       recipe_.all_pairs ? "all position pairs" : "equal positions");
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const SampleView& x, int threads,
                                             const std::function<void(Index)>& after) const override {
    return load_images(recipe_, x, precision_, threads, after);
  }
  [[nodiscard]] std::size_t loaded_bytes(const SampleView& /*x*/) const override {
    std::size_t kept = usize(recipe_.input.size() + recipe_.outputs) * sizeof(double);
    for (const Step& step : recipe_.steps) {
      const Index places = std::max(step.before.positions(), step.after.positions());
      kept += sizeof(Features) + sizeof(Matrix<double>) + allocation_overhead;
      kept += usize(feature_count(step) * (padded(places) + strip_padding)) * sizeof(double);
      if (step.op == Op::attend) kept += usize(step.before.positions() * step.before.positions()) * sizeof(double);
    }
    return kept + usize(recipe_.input.positions()) * sizeof(long double);
  }
  /// A pair is enough work per task.
  [[nodiscard]] Index tile_edge() const override { return 4; }

 private:
  const Recipe& recipe_;
  Precision precision_;
  std::string obstacle_;
};

}  // namespace

std::unique_ptr<Path> image_path(const Recipe& recipe, Precision precision, std::string obstacle) {
  return std::make_unique<ImagePath>(recipe, precision, std::move(obstacle));
}

}  // namespace widelimit::cpu
