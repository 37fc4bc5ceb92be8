#include "widelimit/engine/cpu/cpu.hpp"

#include "widelimit/base/parallel.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/engine/cpu/algebra/blas_library.hpp"
#include "widelimit/engine/cpu/algebra/cpu_algebra.hpp"
#include "widelimit/engine/cpu/path.hpp"
#include "widelimit/engine/cpu/vector/strip.hpp"
#include "widelimit/engine/tiles.hpp"

#include <fmt/format.h>

namespace widelimit {

namespace cpu {

bool CpuLoaded::mirrored_tile(const Recipe&, Range, Range, std::span<const MatrixView<float>>,
                              std::span<const MatrixView<float>>) const {
  return false;
}

bool CpuLoaded::mirrored_tile(const Recipe&, Range, Range, std::span<const MatrixView<double>>,
                              std::span<const MatrixView<double>>) const {
  return false;
}

void CpuLoaded::diagonal(const Recipe& recipe, int /*threads*/, MatrixView<double> outputs,
                         const std::function<void(Index)>& /*after*/) const {
  for (Index slot = 0; slot < recipe.outputs; ++slot) {
    for (Index i = 0; i < count(); ++i) outputs(slot, i) = diagonal_values(slot, i);
  }
}

}  // namespace cpu

namespace {

using cpu::CpuLoaded;

std::unique_ptr<cpu::Path> path_of(const Recipe& recipe, Precision precision) {
  if (recipe.input.nodes) return cpu::graph_path(recipe, precision);
  if (recipe.on_vectors()) return cpu::vector_path(recipe, precision);
  std::string obstacle;
  if (auto planes = cpu::plane_path(recipe, precision, obstacle)) return planes;
  return cpu::image_path(recipe, precision, std::move(obstacle));
}

class CpuKernels final : public Kernels {
 public:
  explicit CpuKernels(int threads) : threads_(threads) {}

  [[nodiscard]] std::string obstacle(const Recipe&, Precision) const override { return {}; }
  [[nodiscard]] std::string route(const Recipe& recipe, Precision precision) const override {
    return path_of(recipe, precision)->route();
  }
  [[nodiscard]] std::unique_ptr<Loaded> load(const Recipe& recipe, const SampleView& x, Precision precision,
                                             const std::function<void(Index)>& after) const override {
    return path_of(recipe, precision)->load(x, threads_, after);
  }
  [[nodiscard]] std::size_t loaded_bytes(const Recipe& recipe, Precision precision,
                                         const SampleView& x) const override {
    return path_of(recipe, precision)->loaded_bytes(x);
  }
  [[nodiscard]] Index tile_edge(const Recipe& recipe) const override {
    return path_of(recipe, Precision::f64)->tile_edge();
  }

  void fill(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols, bool symmetric,
            std::span<const EngineMatrix> outputs, const std::function<void(Index)>& after) const override {
    if (outputs.front().precision() == Precision::f32) {
      fill_by_tiles<float>(*this, threads_, recipe, x1, rows, x2, cols, symmetric, cpu::views_of<float>(outputs),
                           after);
    } else {
      fill_by_tiles<double>(*this, threads_, recipe, x1, rows, x2, cols, symmetric, cpu::views_of<double>(outputs),
                            after);
    }
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<float>> outputs) const override {
    of(x1).tile(recipe, rows, x2, cols, outputs);
  }
  void tile(const Recipe& recipe, const Loaded& x1, Range rows, const Loaded& x2, Range cols,
            std::span<const MatrixView<double>> outputs) const override {
    of(x1).tile(recipe, rows, x2, cols, outputs);
  }
  void mirrored_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                     std::span<const MatrixView<float>> outputs,
                     std::span<const MatrixView<float>> mirrored) const override {
    if (of(x).mirrored_tile(recipe, rows, cols, outputs, mirrored)) return;
    Kernels::mirrored_tile(recipe, x, rows, cols, outputs, mirrored);
  }
  void mirrored_tile(const Recipe& recipe, const Loaded& x, Range rows, Range cols,
                     std::span<const MatrixView<double>> outputs,
                     std::span<const MatrixView<double>> mirrored) const override {
    if (of(x).mirrored_tile(recipe, rows, cols, outputs, mirrored)) return;
    Kernels::mirrored_tile(recipe, x, rows, cols, outputs, mirrored);
  }
  void diagonal(const Recipe& recipe, const Loaded& x, MatrixView<double> outputs,
                const std::function<void(Index)>& after) const override {
    of(x).diagonal(recipe, threads_, outputs, after);
  }

 private:
  [[nodiscard]] static const CpuLoaded& of(const Loaded& x) { return dynamic_cast<const CpuLoaded&>(x); }

  int threads_;
};

class Cpu final : public Engine {
 public:
  explicit Cpu(int threads) : threads_(team_size(threads)), kernels_(threads_), algebra_(threads_) {}

  [[nodiscard]] std::string name() const override { return "cpu"; }
  [[nodiscard]] std::string description() const override {
    return fmt::format("{} thread{}, {} vectors, {}", threads_, threads_ == 1 ? "" : "s", cpu::vector_target(),
                       blas_description());
  }
  [[nodiscard]] int threads() const override { return threads_; }
  [[nodiscard]] const Kernels& kernels() const override { return kernels_; }
  [[nodiscard]] const Algebra& algebra() const override { return algebra_; }

 private:
  int threads_;
  CpuKernels kernels_;
  cpu::CpuAlgebra algebra_;
};

}  // namespace

std::unique_ptr<Engine> make_cpu_engine(int threads) { return std::make_unique<Cpu>(threads); }

}  // namespace widelimit
