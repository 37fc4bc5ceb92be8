#include "widelimit/kernel/gram.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/kernel/device_gram.hpp"
#include "widelimit/kernel/inputs.hpp"
#include "widelimit/kernel/traverse.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Calls f with a value of the type that a run-time precision denotes.
template <typename F>
auto with_type(Precision precision, const F& f) {
  return precision == Precision::f32 ? f(float{}) : f(double{});
}

/// Fills all of a Gram matrix into matrices of the engine. Returns the largest quadrature error of a sample.
double fill(const GramTask& task, const Engine& engine, std::span<const EngineMatrix> outputs, Progress* progress) {
  double error = 0;
  Traversal(task, one_panel(task), engine).each_pair([&](const Panel& rows, const Panel& cols) {
    const auto loaded = [&](const Panel& samples) -> const Loaded& {
      ProgressTicker ticker(progress, samples.range().size(), "samples");
      return samples.loaded([&](Index done) { ticker.at(done); });
    };
    const Loaded& x1 = loaded(rows);
    const Loaded& x2 = loaded(cols);
    if (task.symmetric()) {
      // For pooled images, the diagonal costs one row of pairs per sample; it has a separate progress bar and runs
      // first.
      ProgressTicker ticker(progress, rows.range().size(), "samples");
      rows.diagonal([&](Index done) { ticker.at(done); });
    }
    error = std::max({error, x1.quadrature_error(), x2.quadrature_error()});
    ProgressTicker ticker(progress, task.pairs(), "pairs");
    engine.kernels().fill(*task.recipe, x1, {0, x1.count()}, x2, {0, x2.count()}, task.symmetric(), outputs,
                          [&](Index done) { ticker.at(done); });
  });
  return error;
}

/// Fills all of a Gram matrix into host matrices, one per output: in place if the engine uses host memory, tile by tile
/// if its memory cannot hold the outputs. Returns the largest quadrature error of a sample.
template <typename T>
double fill_host(const GramTask& task, const Engine& engine, const std::vector<MatrixView<T>>& views,
                 Progress* progress) {
  const Algebra& algebra = engine.algebra();
  if (!fits_engine(task, engine)) return fill_host_by_tiles<T>(task, engine, views, progress);
  std::vector<EngineMatrix> outputs;
  bool in_place = true;
  for (const auto& view : views) {
    const auto own = algebra.over(MatrixView<const T>(view));
    in_place = own.has_value();
    outputs.push_back(own ? *own : algebra.allocate(view.rows, view.cols, precision_of<T>));
  }
  const double error = fill(task, engine, outputs, progress);
  for (std::size_t s = 0; s < views.size() && !in_place; ++s) algebra.read(outputs[s], views[s]);
  return error;
}

/// The same into newly allocated matrices.
struct HostMatrices {
  std::vector<AnyMatrix> outputs;
  double quadrature_error = 0;
};
HostMatrices host_matrices(const GramTask& task, const Engine& engine, Progress* progress) {
  return with_type(task.precision, [&]<typename T>(T /*type*/) {
    HostMatrices result;
    std::vector<MatrixView<T>> views;
    for (Index s = 0; s < task.recipe->outputs; ++s) {
      result.outputs.emplace_back(Matrix<T>(task.x1.count(), task.columns().count(), Content::unset));
      views.push_back(std::get<Matrix<T>>(result.outputs.back()).view());
    }
    result.quadrature_error = fill_host<T>(task, engine, views, progress);
    return result;
  });
}

Gram gram_of(const GramTask& task, const GramOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  HostMatrices matrices = host_matrices(task, engine, options.progress);
  Gram result;
  if (has(options.kind, Kind::nngp)) result.nngp = std::move(matrices.outputs.front());
  if (has(options.kind, Kind::ntk)) result.ntk = std::move(matrices.outputs.back());
  result.symmetric = task.symmetric();
  result.route = engine.kernels().route(*task.recipe, task.precision);
  result.quadrature_error = matrices.quadrature_error;
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace

std::string quadrature_warning(double quadrature_error, Precision precision) {
  const double tolerated = precision == Precision::f32 ? 1e-6 : 1e-10;
  if (!(quadrature_error > tolerated)) return "";
  return fmt::format(
      "quadrature leaves a relative error of about {:.0e} in the kernel: an activation is not smooth enough at the "
      "scale of the data; scale the data, or use an activation with a closed form",
      quadrature_error);
}

std::string zero_kernel_warning(const Network& network, Kind kind) {
  if (!has(kind, Kind::ntk) || has_trained_layer(network.layers)) return "";
  return fmt::format("no layer of '{}' is trained, so that its NTK is 0 at every pair of samples", network.to_text());
}

void require_trained_layer(const Network& network, Kind kind) {
  const std::string warning = zero_kernel_warning(network, kind);
  if (warning.empty()) return;
  fail(Code::input, "{}; make a layer trainable, or choose the kernel nngp, which does not depend on training",
       warning);
}

Kind parse_kind(std::string_view text) {
  if (text == "ntk") return Kind::ntk;
  if (text == "nngp") return Kind::nngp;
  if (text == "nngp,ntk" || text == "ntk,nngp") return Kind::both;
  fail(Code::usage, "kernel kind '{}' is unknown; choose ntk, nngp or nngp,ntk", text);
}

Gram gram(const Network& network, const SampleView& x, const GramOptions& options, const Engine& engine) {
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, recipe_outputs(options.kind));
  return gram_of({&recipe, x, std::nullopt, options.precision}, options, engine);
}

Gram gram(const Network& network, const SampleView& x1, const SampleView& x2, const GramOptions& options,
          const Engine& engine) {
  check_samples(x1);
  check_samples(x2);
  check_same_shape(x1, x2);
  const Recipe recipe = lower(network, x1.shape, recipe_outputs(options.kind));
  const SameKind same(x1, x2);
  return gram_of({&recipe, same.x1(), same.x2(), options.precision}, options, engine);
}

GramMatrix gram_matrix(const Network& network, const SampleView& x, const GramOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  if (options.kind == Kind::both)
    fail(Code::usage, "kind is both, but a Gram matrix holds one kernel; choose nngp or ntk");
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, recipe_outputs(options.kind));
  const EngineMatrix k = engine.algebra().allocate(x.count(), x.count(), options.precision);
  fill({&recipe, x, std::nullopt, options.precision}, engine, {&k, 1}, options.progress);
  return {k, engine};
}

EngineGram engine_gram(const Network& network, const SampleView& x1, const std::optional<SampleView>& x2,
                       const GramOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  check_samples(x1);
  if (x2) check_samples(*x2);
  check_same_shape(x1, x2.value_or(x1));
  const Recipe recipe = lower(network, x1.shape, recipe_outputs(options.kind));
  const SameKind same(x1, x2.value_or(x1));
  GramTask task{&recipe, same.x1(), std::nullopt, options.precision};
  if (x2) task.x2 = same.x2();
  std::vector<EngineMatrix> outputs;
  for (Index s = 0; s < recipe.outputs; ++s) {
    outputs.push_back(engine.algebra().allocate(task.x1.count(), task.columns().count(), options.precision));
  }
  EngineGram result;
  result.quadrature_error = fill(task, engine, outputs, options.progress);
  if (has(options.kind, Kind::nngp)) result.nngp = outputs.front();
  if (has(options.kind, Kind::ntk)) result.ntk = outputs.back();
  result.symmetric = task.symmetric();
  result.route = engine.kernels().route(recipe, options.precision);
  result.seconds = seconds_since(start);
  return result;
}

Diagonal diagonal(const Network& network, const SampleView& x, const Engine& engine, Precision precision,
                  Progress* progress) {
  const Interruptible interruptible(progress);
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, RecipeOutputs::both);
  const GramTask task{&recipe, x, std::nullopt, precision};
  Diagonal result{Matrix<double>(recipe.outputs, x.count()), 0};
  Traversal(task, one_panel(task), engine).each_panel([&](const Panel& samples) {
    ProgressTicker loading(progress, x.count(), "samples");
    const Loaded& loaded = samples.loaded([&](Index done) { loading.at(done); });
    result.quadrature_error = loaded.quadrature_error();
    ProgressTicker ticker(progress, x.count(), "samples");
    engine.kernels().diagonal(recipe, loaded, result.values.view(), [&](Index done) { ticker.at(done); });
  });
  return result;
}

LayerContributions layer_contributions(const Network& network, const SampleView& x, const GramOptions& options,
                                       const Engine& engine) {
  const Interruptible interruptible(options.progress);
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, RecipeOutputs::per_layer);
  HostMatrices matrices = host_matrices({&recipe, x, std::nullopt, options.precision}, engine, options.progress);
  return {recipe.weight_layers, std::move(matrices.outputs), matrices.quadrature_error};
}

Sweep sweep(const Network& network, const SampleView& x, const GramOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, RecipeOutputs::sweep);
  const GramTask task{&recipe, x, std::nullopt, options.precision};
  const Index n = x.count();
  const Index depths = recipe.channels;
  Sweep result{depths - 1, n, {}, 0};
  with_type(options.precision, [&](auto zero) {
    using T = decltype(zero);
    Matrix<T> stack(depths * depths * n, n, Content::unset);
    std::vector<MatrixView<T>> views;
    for (Index i = 0; i < depths; ++i) {
      for (Index j = 0; j <= i; ++j) views.push_back(stack.view().block((i * depths + j) * n, 0, n, n));
      const Index frozen_beyond = depths - 1 - i;
      T* const beyond = stack.data() + (i * depths + i + 1) * n * n;
      clear_pages(beyond, static_cast<std::size_t>(frozen_beyond * n * n) * sizeof(T));
    }
    result.quadrature_error = fill_host<T>(task, engine, views, options.progress);
    result.values = std::move(stack);
    return 0;
  });
  return result;
}

}  // namespace widelimit
