#include "widelimit/machine/model.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/array.hpp"
#include "widelimit/network/shape.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// What a strip of samples reports, as a part of all of them.
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

/// Networks that read no positions, and classical kernels, see an image as a vector.
void check_shape(const Model& model, const SampleView& samples) {
  const auto* network = std::get_if<Network>(&model.kernel);
  const bool spatial = network != nullptr && is_spatial(*network);
  const bool same = spatial ? samples.shape == model.shape : samples.shape.size() == model.shape.size();
  if (!same) {
    fail(Code::input, "the model was fitted to samples of shape {}; these have shape {}", to_string(model.shape),
         to_string(samples.shape));
  }
}

/// Rows begin … begin + count, scaled.
Dataset strip_of(const Model& model, const SampleView& samples, Index begin, Index count) {
  Dataset strip;
  strip.name = "samples";
  strip.shape = model.shape;
  std::visit(
      [&](const auto& rows) {
        Matrix<std::remove_const_t<std::remove_pointer_t<decltype(rows.data)>>> copy(count, rows.cols, Content::unset);
        for (Index i = 0; i < count; ++i) std::copy_n(rows.row(begin + i), rows.cols, copy.view().row(i));
        strip.values = std::move(copy);
      },
      samples.values);
  require_finite(strip.values, fmt::format("samples from {}", begin));
  if (model.scaling) model.scaling->apply(strip);
  return strip;
}

AnyMatrix kernel_rows(const Model& model, const SampleView& strip, const Backend& backend, Progress* progress) {
  if (const auto* classical = std::get_if<ClassicalKernel>(&model.kernel)) {
    return classical_gram(*classical, strip, model.support_view(), model.precision, backend.threads(), progress);
  }
  const GramOptions options{.kind = model.kind, .precision = model.precision, .progress = progress};
  Gram block = gram(std::get<Network>(model.kernel), strip, model.support_view(), options, backend);
  return model.kind == Kind::ntk ? std::move(block.ntk) : std::move(block.nngp);
}

}  // namespace

Matrix<double> predict_decisions(const Model& model, const SampleView& samples, const Backend& backend,
                                 const PredictOptions& options) {
  model.validate();
  check_shape(model, samples);
  Fit fit;
  fit.alpha = Matrix<double>(model.supports(), model.outputs(), Content::unset);
  std::copy_n(model.alpha.data(), model.supports() * model.outputs(), fit.alpha.data());
  fit.bias = model.bias;
  const Index row_bytes = static_cast<Index>(sizeof(double)) * (model.supports() + model.shape.size());
  const Index longest = std::max<Index>(1, static_cast<Index>(options.memory) / row_bytes);
  Matrix<double> g(samples.count(), model.outputs());
  StripProgress progress(options.progress, samples.count());
  for (Index begin = 0; begin < samples.count(); begin += longest) {
    const Index count = std::min(longest, samples.count() - begin);
    progress.begin(begin, count);
    const Dataset strip = strip_of(model, samples, begin, count);
    const AnyMatrix k = model.supports() > 0 ? kernel_rows(model, strip.view(), backend, progress.get())
                                             : AnyMatrix(Matrix<double>(count, 0));
    const Matrix<double> part = decision(fit, view_of(k));
    std::copy_n(part.data(), part.rows() * part.cols(), g.view().row(begin));
  }
  return g;
}

}  // namespace widelimit
