#include "widelimit/machine/model.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/array.hpp"
#include "widelimit/machine/factor/cholesky.hpp"
#include "widelimit/machine/posterior_factor.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Progress adapter: converts the progress of a strip of samples to a fraction of all samples.
class StripProgress : public Progress {
 public:
  StripProgress(Progress* whole, Index total) : whole_(whole), total_(total) {}
  void begin(Index first, Index count) {
    first_ = first;
    count_ = count;
  }
  [[nodiscard]] Progress* get() { return whole_ != nullptr ? this : nullptr; }
  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override {
    if (unit != "pairs") return whole_->update(first_, total_, "samples");
    const double part = total > 0 ? static_cast<double>(done) / static_cast<double>(total) : 1;
    return whole_->update(first_ + static_cast<Index>(part * static_cast<double>(count_)), total_, "samples");
  }

 private:
  Progress* whole_;
  Index total_;
  Index first_ = 0;
  Index count_ = 0;
};

/// Non-spatial networks and classical kernels treat an image as a vector; if both shapes are images, they must still be
/// equal, since the order of values depends on the shape.
void check_shape(const Model& model, const SampleView& samples) {
  const auto* network = std::get_if<Network>(&model.kernel);
  const bool spatial = network != nullptr && is_spatial(*network);
  const bool flat = !spatial && (samples.shape.is_vector() || model.shape.is_vector());
  const bool same = flat ? samples.shape.size() == model.shape.size() : samples.shape == model.shape;
  if (!same) {
    fail(Code::input, "the model was fitted to samples of shape {}; these have shape {}", to_string(model.shape),
         to_string(samples.shape));
  }
}

/// Returns a copy of the samples in the storage format of the support: sparse or dense.
AnySamples copy_like(const SampleView& support, const SampleView& samples) {
  const SparseView* sparse = samples.sparse();
  if ((support.sparse() != nullptr) == (sparse != nullptr)) return copy_of(samples);
  return sparse != nullptr ? AnySamples(dense_copy(*sparse)) : AnySamples(sparse_copy(samples));
}

/// Returns the scaled rows begin … begin + count.
Dataset strip_of(const Model& model, const SampleView& samples, Index begin, Index count) {
  Dataset strip;
  strip.name = "samples";
  strip.shape = model.shape;
  strip.values = copy_like(model.support_view(), samples.part(begin, count));
  require_finite(strip.values, "samples", begin);
  if (model.scaling) model.scaling->apply(strip);
  return strip;
}

/// Returns the kernel of the model without its label-aware part, of every sample of x1 with every sample of x2; without
/// x2, of x1 with itself.
AnyMatrix base_kernel(const Model& model, const SampleView& x1, const std::optional<SampleView>& x2,
                      const Engine& engine, Progress* progress) {
  if (const auto* classical = std::get_if<ClassicalKernel>(&model.kernel)) {
    return classical_gram(*classical, x1, x2, model.precision, engine, progress);
  }
  const auto& network = std::get<Network>(model.kernel);
  const GramOptions options{.kind = model.kind, .precision = model.precision, .progress = progress};
  Gram found = x2 ? gram(network, x1, *x2, options, engine) : gram(network, x1, options, engine);
  return model.kind == Kind::ntk ? std::move(found.ntk) : std::move(found.nngp);
}

/// Returns K(strip, support).
AnyMatrix kernel_rows(const Model& model, const SampleView& strip, const Engine& engine, const PairFunctions* own,
                      Progress* progress) {
  AnyMatrix rows = base_kernel(model, strip, model.support_view(), engine, progress);
  if (model.label_aware) {
    (void)add_label_aware(*model.label_aware, KernelPart::test, rows, {model.support_view(), strip, own}, engine);
  }
  return rows;
}

/// Calls visit(first sample, K(strip, support), strip) for strips of samples that fit into the memory limit.
template <typename Visit>
void each_strip(const Model& model, const SampleView& samples, const Engine& engine, const PredictOptions& options,
                const Visit& visit) {
  const Index held = model.support_view().sparse() != nullptr ? 2 * samples.longest() + 1 : model.shape.size();
  const Index row_bytes = static_cast<Index>(sizeof(double)) * (model.supports() + held);
  const Index longest = std::max<Index>(1, static_cast<Index>(options.memory) / row_bytes);
  StripProgress progress(options.progress, samples.count());
  for (Index begin = 0; begin < samples.count(); begin += longest) {
    const Index count = std::min(longest, samples.count() - begin);
    progress.begin(begin, count);
    const Dataset strip = strip_of(model, samples, begin, count);
    const AnyMatrix k = model.supports() > 0
                            ? kernel_rows(model, strip.view(), engine, options.pair_features, progress.get())
                            : AnyMatrix(Matrix<double>(count, 0));
    visit(begin, view_of(k), strip.view());
  }
}

Fit fit_of(const Model& model) {
  Fit fit;
  fit.alpha = model.alpha.copy();
  fit.bias = model.bias;
  return fit;
}

void write_decisions(const Fit& fit, const AnyView& k, const Engine& engine, Index begin, Matrix<double>& g) {
  const Matrix<double> part = decision(fit, k, engine);
  std::copy_n(part.data(), part.rows() * part.cols(), g.view().row(begin));
}

/// Returns K(x, x) of each sample of a strip.
std::vector<double> own_kernels(const Model& model, const SampleView& strip, const Engine& engine) {
  if (const auto* network = std::get_if<Network>(&model.kernel)) {
    const Matrix<double> both = diagonal(*network, strip, engine, model.precision).values;
    const double* row = both.view().row(model.kind == Kind::nngp ? 0 : 1);
    return {row, row + both.cols()};
  }
  std::vector<double> values;
  for (Index i = 0; i < strip.count(); ++i) {
    interruption_point();
    const AnyMatrix k = classical_gram(std::get<ClassicalKernel>(model.kernel), strip.part(i, 1), std::nullopt,
                                       model.precision, engine);
    values.push_back(std::visit([](const auto& m) { return static_cast<double>(m(0, 0)); }, k));
  }
  return values;
}

/// Returns U of K + λ/2·I = UᵀU over the support.
EngineMatrix posterior_factor(const Model& model, const Engine& engine, const PredictOptions& options) {
  const auto n = static_cast<double>(model.supports());
  require_memory(2 * sizeof(double) * n * n, options.factor_memory, "the variance of this model",
                 "use a model fitted without posterior, or allow more memory");
  const AnyMatrix k = base_kernel(model, model.support_view(), std::nullopt, engine, options.progress);
  Cholesky cholesky({{view_of(k), engine}, {}, model.lambda / 2}, FactorPrecision::f64, options.progress);
  if (cholesky.failed_minor() != 0) {
    fail(Code::numerical, "K + λ/2·I of the model is not positive definite here; fit it again with a larger λ");
  }
  return cholesky.factor();
}

/// Returns mean, variance and covariance of all samples in one piece.
Posterior joint_posterior(const Model& model, const SampleView& samples, const EngineMatrix& factor,
                          const Engine& engine, const PredictOptions& options) {
  const auto tests = static_cast<double>(samples.count());
  require_memory(sizeof(double) * tests * (2 * static_cast<double>(model.supports()) + 2 * tests),
                 options.factor_memory, "the covariance of these samples",
                 "predict fewer samples, or allow more memory");
  const Dataset scaled = strip_of(model, samples, 0, samples.count());
  const AnyMatrix cross = kernel_rows(model, scaled.view(), engine, options.pair_features, options.progress);
  const AnyMatrix own = base_kernel(model, scaled.view(), std::nullopt, engine, options.progress);
  Posterior result{decision(fit_of(model), view_of(cross), engine),
                   {},
                   posterior_covariance(factor, engine, view_of(cross), view_of(own))};
  for (Index t = 0; t < samples.count(); ++t) result.variance.push_back(result.covariance(t, t));
  return result;
}

}  // namespace

Dataset scaled_samples(const Model& model, const SampleView& samples) {
  check_shape(model, samples);
  return strip_of(model, samples, 0, samples.count());
}

EngineMatrix PosteriorFactor::of(const Model& model, const Engine& engine, const PredictOptions& options) {
  std::unique_lock lock(guard_, std::defer_lock);
  while (!lock.try_lock_for(progress_interval)) interruption_point();
  if (!factor_ || engine_ != engine.name()) {
    factor_.reset();  // at most one factor in memory
    factor_ = posterior_factor(model, engine, options);
    engine_ = engine.name();
    ++factorisations_;
  }
  return *factor_;
}

Matrix<double> predict_decisions(const Model& model, const SampleView& samples, const Engine& engine,
                                 const PredictOptions& options) {
  const Interruptible interruptible(options.progress);
  model.validate();
  check_shape(model, samples);
  require_pair_functions(model.label_aware ? &*model.label_aware : nullptr, options.pair_features);
  const Fit fit = fit_of(model);
  Matrix<double> g(samples.count(), model.outputs());
  each_strip(model, samples, engine, options,
             [&](Index begin, const AnyView& k, const SampleView&) { write_decisions(fit, k, engine, begin, g); });
  return g;
}

Posterior predict_posterior(const Model& model, const SampleView& samples, const Engine& engine,
                            const PredictOptions& options) {
  PosteriorFactor once;
  return predict_posterior(model, samples, engine, once, options);
}

Posterior predict_posterior(const Model& model, const SampleView& samples, const Engine& engine, PosteriorFactor& kept,
                            const PredictOptions& options) {
  const Interruptible interruptible(options.progress);
  model.validate();
  if (!model.posterior) fail(Code::usage, "the model has no posterior; fit ridge with a posterior");
  check_shape(model, samples);
  const Fit fit = fit_of(model);
  const EngineMatrix factor = kept.of(model, engine, options);
  if (options.covariance) return joint_posterior(model, samples, factor, engine, options);
  Posterior result{Matrix<double>(samples.count(), model.outputs()), {}};
  each_strip(model, samples, engine, options, [&](Index begin, const AnyView& k, const SampleView& strip) {
    write_decisions(fit, k, engine, begin, result.mean);
    const auto variance = posterior_variance(factor, engine, k, own_kernels(model, strip, engine));
    result.variance.insert(result.variance.end(), variance.begin(), variance.end());
  });
  return result;
}

}  // namespace widelimit
