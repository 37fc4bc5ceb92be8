#include "widelimit/engine/cpu/cpu.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/blas.hpp"
#include "widelimit/engine/cpu/image/image_engine.hpp"
#include "widelimit/engine/cpu/loaded.hpp"
#include "widelimit/engine/cpu/loaded_bytes.hpp"
#include "widelimit/engine/cpu/plane/plane_engine.hpp"
#include "widelimit/engine/cpu/vector/apply.hpp"
#include "widelimit/engine/cpu/vector/strip.hpp"
#include "widelimit/engine/cpu/vector/vector_engine.hpp"

#include <fmt/format.h>

namespace widelimit {

namespace {

class Cpu final : public Backend {
 public:
  explicit Cpu(int threads) : threads_(team_size(threads)) {}

  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} thread{}, {} vectors, {}", threads_, threads_ == 1 ? "" : "s", cpu::vector_target(),
                       blas_description());
  }
  [[nodiscard]] int threads() const override { return threads_; }
  [[nodiscard]] std::string route(const Recipe& recipe, Precision precision) const override {
    if (!recipe.on_vectors()) {
      const std::string obstacle = cpu::plane_obstacle(recipe);
      if (!obstacle.empty()) {
        return fmt::format("general image path ({}), {}, double", obstacle,
                           recipe.all_pairs ? "all position pairs" : "equal positions");
      }
      return fmt::format("displacement planes ({}), 16 pairs at a time, {}", cpu::plane_count(recipe),
                         in_float(recipe, precision) ? "float" : "double");
    }
    return in_float(recipe, precision) ? "strips of pairs, float" : "strips of pairs, double";
  }

  [[nodiscard]] std::unique_ptr<Loaded> load(const Recipe& recipe, const SampleView& x, Precision precision,
                                             const std::function<void(Index)>& after) const override {
    if (!recipe.on_vectors()) {
      if (!cpu::plane_obstacle(recipe).empty()) return cpu::load_images(recipe, x, precision, threads_, after);
      if (in_float(recipe, precision)) return cpu::load_planes<float>(recipe, x, precision, threads_, after);
      return cpu::load_planes<double>(recipe, x, precision, threads_, after);
    }
    if (in_float(recipe, precision)) return cpu::load_vectors<float>(recipe, x, precision, threads_);
    return cpu::load_vectors<double>(recipe, x, precision, threads_);
  }

  [[nodiscard]] std::size_t loaded_bytes(const Recipe& recipe, Precision precision) const override {
    if (recipe.on_vectors()) return cpu::loaded_vector_bytes(recipe, in_float(recipe, precision));
    if (!cpu::plane_obstacle(recipe).empty()) return cpu::loaded_image_bytes(recipe);
    return cpu::loaded_plane_bytes(recipe, in_float(recipe, precision));
  }

  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<float>> outputs) const override {
    if (cpu::holds_planes<float>(x1)) {
      cpu::plane_tile<float>(recipe, x1, rows, x2, cols, outputs);
    } else if (cpu::holds_planes<double>(x1)) {
      cpu::plane_tile<double>(recipe, x1, rows, x2, cols, outputs);
    } else if (!recipe.on_vectors()) {
      cpu::image_tile(recipe, x1, rows, x2, cols, outputs);
    } else if (cpu::runs_in_float(recipe)) {
      cpu::vector_tile<float>(recipe, x1, rows, x2, cols, outputs);
    } else {
      cpu::vector_tile<double>(recipe, x1, rows, x2, cols, outputs);
    }
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<double>> outputs) const override {
    if (cpu::holds_planes<double>(x1)) {
      cpu::plane_tile<double>(recipe, x1, rows, x2, cols, outputs);
    } else if (!recipe.on_vectors()) {
      cpu::image_tile(recipe, x1, rows, x2, cols, outputs);
    } else {
      cpu::vector_tile<double>(recipe, x1, rows, x2, cols, outputs);
    }
  }

  void mirrored_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                     std::span<const MatrixView<float>> outputs,
                     std::span<const MatrixView<float>> mirrored) const override {
    if (!recipe.on_vectors()) {
      Backend::mirrored_tile(recipe, x, rows, cols, outputs, mirrored);
    } else if (cpu::runs_in_float(recipe)) {
      cpu::mirrored_vector_tile<float>(recipe, x, rows, cols, outputs, mirrored);
    } else {
      cpu::mirrored_vector_tile<double>(recipe, x, rows, cols, outputs, mirrored);
    }
  }
  void mirrored_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                     std::span<const MatrixView<double>> outputs,
                     std::span<const MatrixView<double>> mirrored) const override {
    if (!recipe.on_vectors()) {
      Backend::mirrored_tile(recipe, x, rows, cols, outputs, mirrored);
    } else {
      cpu::mirrored_vector_tile<double>(recipe, x, rows, cols, outputs, mirrored);
    }
  }

  void diagonal(const Recipe& recipe, const Loaded& x, MatrixView<double> outputs) const override {
    if (cpu::holds_planes<float>(x)) return cpu::plane_diagonal<float>(recipe, x, threads_, outputs);
    if (cpu::holds_planes<double>(x)) return cpu::plane_diagonal<double>(recipe, x, threads_, outputs);
    const auto& loaded = dynamic_cast<const cpu::CpuLoaded&>(x);
    for (Index slot = 0; slot < recipe.outputs; ++slot) {
      for (Index i = 0; i < x.count(); ++i) outputs(slot, i) = loaded.diagonal(slot, i);
    }
  }

  /// Vectors: the matrix product packs both sides of each tile, so tiles are large. Planes: 16 pairs at a time;
  /// equal positions alone are so little work that tiles are larger. General images: a pair is work enough.
  [[nodiscard]] Index tile_edge(const Recipe& recipe) const override {
    if (recipe.on_vectors()) return 1024;
    if (!cpu::plane_obstacle(recipe).empty()) return 4;
    return recipe.all_pairs ? 16 : 64;
  }

  void for_each(Index count, const std::function<void(Index)>& task,
                const std::function<void()>& after) const override {
    parallel_for(count, threads_, task, [&](Index) { after(); });
  }

 private:
  [[nodiscard]] static bool in_float(const Recipe& recipe, Precision precision) {
    return precision == Precision::f32 && cpu::runs_in_float(recipe);
  }

  int threads_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(int threads) { return std::make_unique<Cpu>(threads); }

}  // namespace widelimit
