#include "widelimit/backend/cpu/cpu.hpp"

#include "widelimit/backend/cpu/apply.hpp"
#include "widelimit/backend/cpu/image_engine.hpp"
#include "widelimit/backend/cpu/loaded.hpp"
#include "widelimit/backend/cpu/loaded_bytes.hpp"
#include "widelimit/backend/cpu/strip.hpp"
#include "widelimit/backend/cpu/vector_engine.hpp"
#include "widelimit/base/blas.hpp"
#include "widelimit/base/parallel.hpp"

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
      return recipe.all_pairs ? "general image path, all position pairs, double"
                              : "general image path, equal positions, double";
    }
    return in_float(recipe, precision) ? "strips of pairs, float" : "strips of pairs, double";
  }

  [[nodiscard]] std::unique_ptr<Loaded> load(const Recipe& recipe, const SampleView& x, Precision precision,
                                             const std::function<void(Index)>& after) const override {
    if (!recipe.on_vectors()) return cpu::load_images(recipe, x, threads_, after);
    if (in_float(recipe, precision)) return cpu::load_vectors<float>(recipe, x, threads_);
    return cpu::load_vectors<double>(recipe, x, threads_);
  }

  [[nodiscard]] std::size_t loaded_bytes(const Recipe& recipe, Precision precision) const override {
    return recipe.on_vectors() ? cpu::loaded_vector_bytes(recipe, in_float(recipe, precision))
                               : cpu::loaded_image_bytes(recipe);
  }

  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<float>> outputs) const override {
    if (!recipe.on_vectors()) {
      cpu::image_tile(recipe, x1, rows, x2, cols, outputs);
    } else if (cpu::runs_in_float(recipe)) {
      cpu::vector_tile<float>(recipe, x1, rows, x2, cols, outputs);
    } else {
      cpu::vector_tile<double>(recipe, x1, rows, x2, cols, outputs);
    }
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<double>> outputs) const override {
    if (!recipe.on_vectors()) {
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
    const auto& loaded = dynamic_cast<const cpu::CpuLoaded&>(x);
    for (Index slot = 0; slot < recipe.outputs; ++slot) {
      for (Index i = 0; i < x.count(); ++i) outputs(slot, i) = loaded.diagonal(slot, i);
    }
  }

  /// Vectors: the matrix product packs both sides of each tile anew, so tiles are large. Images: a pair is work enough,
  /// so tiles are small and the threads evenly busy.
  [[nodiscard]] Index tile_edge(const Recipe& recipe, Precision /*precision*/) const override {
    return recipe.on_vectors() ? 1024 : 4;
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
