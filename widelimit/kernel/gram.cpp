#include "widelimit/kernel/gram.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/kernel/inputs.hpp"

namespace widelimit {

namespace {

/// One precision at run time becomes a type.
template <typename F>
auto with_type(Precision precision, const F& f) {
  return precision == Precision::f32 ? f(float{}) : f(double{});
}

/// The matrices a recipe writes, allocated; filled by fill(views) with a view on each.
template <typename T, typename Fill>
std::vector<AnyMatrix> allocate_and_fill(Index outputs, Index rows, Index cols, const Fill& fill) {
  std::vector<AnyMatrix> matrices;
  std::vector<MatrixView<T>> views;
  for (Index s = 0; s < outputs; ++s) {
    matrices.emplace_back(Matrix<T>(rows, cols, Content::unset));
    views.push_back(std::get<Matrix<T>>(matrices.back()).view());
  }
  fill(views);
  return matrices;
}

Gram as_gram(std::vector<AnyMatrix> matrices, Kind kind) {
  Gram gram;
  if (has(kind, Kind::nngp)) gram.nngp = std::move(matrices.front());
  if (has(kind, Kind::ntk)) gram.ntk = std::move(matrices.back());
  return gram;
}

/// All pairs of x1 and x2, or of x1 with itself where x2 is not given, into host matrices: in place where the engine
/// works in host memory.
template <typename T>
void fill_host(const Engine& engine, const Recipe& recipe, const Loaded& x1, const Loaded* x2,
               const std::vector<MatrixView<T>>& views, Progress* progress) {
  const Algebra& algebra = engine.algebra();
  const Loaded& columns = x2 != nullptr ? *x2 : x1;
  const Index pairs = x2 != nullptr ? x1.count() * x2->count() : x1.count() * (x1.count() + 1) / 2;
  std::vector<EngineMatrix> outputs;
  bool in_place = true;
  for (const auto& view : views) {
    const auto own = algebra.over(MatrixView<const T>(view));
    in_place = own.has_value();
    outputs.push_back(own ? *own : algebra.allocate(view.rows, view.cols, precision_of<T>));
  }
  ProgressTicker ticker(progress, pairs, "pairs");
  engine.kernels().fill(recipe, x1, {0, x1.count()}, columns, {0, columns.count()}, x2 == nullptr, outputs,
                        [&](Index done) { ticker.at(done); });
  for (std::size_t s = 0; s < views.size() && !in_place; ++s) algebra.read(outputs[s], views[s]);
}

std::unique_ptr<Loaded> load(const Engine& engine, const Recipe& recipe, const SampleView& x,
                             const GramOptions& options) {
  const std::string obstacle = engine.kernels().obstacle(recipe, options.precision);
  if (!obstacle.empty()) fail(Code::usage, "{} cannot compute this kernel: {}", engine.name(), obstacle);
  ProgressTicker ticker(options.progress, x.count(), "samples");
  return engine.kernels().load(recipe, x, options.precision, [&](Index done) { ticker.at(done); });
}

}  // namespace

std::string quadrature_warning(double quadrature_error, Precision precision) {
  const double tolerated = precision == Precision::f32 ? 1e-6 : 1e-10;
  if (!(quadrature_error > tolerated)) return "";
  return fmt::format(
      "quadrature leaves a relative error of about {:.0e} in the kernel: an activation is not smooth enough at the "
      "scale "
      "of the data; scale the data, or use an activation with a closed form",
      quadrature_error);
}

Kind parse_kind(std::string_view text) {
  if (text == "ntk") return Kind::ntk;
  if (text == "nngp") return Kind::nngp;
  if (text == "nngp,ntk" || text == "ntk,nngp") return Kind::both;
  fail(Code::usage, "kernel kind '{}' is unknown; choose ntk, nngp or nngp,ntk", text);
}

Gram gram(const Network& network, const SampleView& x, const GramOptions& options, const Engine& engine) {
  const auto start = Clock::now();
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, wanted(options.kind));
  const auto loaded = load(engine, recipe, x, options);
  Gram result =
      as_gram(with_type(options.precision,
                        [&](auto zero) {
                          using T = decltype(zero);
                          return allocate_and_fill<T>(recipe.outputs, x.count(), x.count(), [&](const auto& views) {
                            fill_host<T>(engine, recipe, *loaded, nullptr, views, options.progress);
                          });
                        }),
              options.kind);
  result.symmetric = true;
  result.route = engine.kernels().route(recipe, options.precision);
  result.quadrature_error = loaded->quadrature_error();
  result.seconds = seconds_since(start);
  return result;
}

Gram gram(const Network& network, const SampleView& x1, const SampleView& x2, const GramOptions& options,
          const Engine& engine) {
  const auto start = Clock::now();
  check_samples(x1);
  check_samples(x2);
  check_same_shape(x1, x2);
  const Recipe recipe = lower(network, x1.shape, wanted(options.kind));
  const auto loaded1 = load(engine, recipe, x1, options);
  const auto loaded2 = load(engine, recipe, x2, options);
  Gram result =
      as_gram(with_type(options.precision,
                        [&](auto zero) {
                          using T = decltype(zero);
                          return allocate_and_fill<T>(recipe.outputs, x1.count(), x2.count(), [&](const auto& views) {
                            fill_host<T>(engine, recipe, *loaded1, loaded2.get(), views, options.progress);
                          });
                        }),
              options.kind);
  result.route = engine.kernels().route(recipe, options.precision);
  result.quadrature_error = std::max(loaded1->quadrature_error(), loaded2->quadrature_error());
  result.seconds = seconds_since(start);
  return result;
}

GramMatrix gram_matrix(const Network& network, const SampleView& x, const GramOptions& options, const Engine& engine) {
  if (options.kind == Kind::both) fail(Code::usage, "a Gram matrix is of one kernel; choose nngp or ntk");
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, wanted(options.kind));
  const auto loaded = load(engine, recipe, x, options);
  const Index n = x.count();
  const EngineMatrix k = engine.algebra().allocate(n, n, options.precision);
  ProgressTicker ticker(options.progress, n * (n + 1) / 2, "pairs");
  engine.kernels().fill(recipe, *loaded, {0, n}, *loaded, {0, n}, true, {&k, 1}, [&](Index done) { ticker.at(done); });
  return {k, engine};
}

Diagonal diagonal(const Network& network, const SampleView& x, const Engine& engine, Precision precision) {
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, Wanted::both);
  const auto loaded = load(engine, recipe, x, {.precision = precision});
  Diagonal result{Matrix<double>(recipe.outputs, x.count()), loaded->quadrature_error()};
  engine.kernels().diagonal(recipe, *loaded, result.values.view());
  return result;
}

LayerContributions layer_contributions(const Network& network, const SampleView& x, const GramOptions& options,
                                       const Engine& engine) {
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, Wanted::per_layer);
  const auto loaded = load(engine, recipe, x, options);
  return {recipe.weight_layers,
          with_type(options.precision,
                    [&](auto zero) {
                      using T = decltype(zero);
                      return allocate_and_fill<T>(recipe.outputs, x.count(), x.count(), [&](const auto& views) {
                        fill_host<T>(engine, recipe, *loaded, nullptr, views, options.progress);
                      });
                    }),
          loaded->quadrature_error()};
}

Sweep sweep(const Network& network, const SampleView& x, const GramOptions& options, const Engine& engine) {
  check_samples(x);
  const Recipe recipe = lower(network, x.shape, Wanted::sweep);
  const auto loaded = load(engine, recipe, x, options);
  const Index n = x.count();
  const Index depths = recipe.channels;
  Sweep result{depths - 1, n, {}, loaded->quadrature_error()};
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
    fill_host<T>(engine, recipe, *loaded, nullptr, views, options.progress);
    result.values = std::move(stack);
    return 0;
  });
  return result;
}

}  // namespace widelimit
