#pragma once

#include "widelimit/engine/host/point_strip.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Sparse coefficients of multi-output machines, one for each λ of a path. In one-vs-one with k classes, only a
/// fraction 2/k of the coefficients is nonzero; and as λ decreases, the solution of a separable pair stops changing, so
/// that consecutive λ share it.
class SparseMachines {
 public:
  /// Solution of an output, valid from λ number `from` until the next stage.
  struct Stage {
    std::size_t from = 0;
    std::size_t begin = 0;  ///< range of its coefficients
    std::size_t end = 0;
    double bias = 0;
  };

  /// All coefficients are initially 0.
  SparseMachines(Index samples, std::size_t outputs, std::size_t lambdas);

  [[nodiscard]] Index samples() const { return samples_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_.size(); }
  [[nodiscard]] std::size_t lambdas() const { return summaries_.size(); }
  [[nodiscard]] Summary& summary(std::size_t lambda) { return summaries_[lambda]; }
  [[nodiscard]] const Summary& summary(std::size_t lambda) const { return summaries_[lambda]; }

  /// Sets the path of one output; coefficient i of a solution belongs to samples[i]. Thread-safe for different outputs.
  void set(std::size_t output, std::span<const Index> samples, const SvmPath& path);
  /// Sets all coefficients of that λ to 0.
  void clear(std::size_t lambda);

  /// Returns the stages of an output in the order of λ; the first starts at 0.
  [[nodiscard]] std::span<const Stage> stages(std::size_t output) const { return outputs_[output].stages; }
  /// Returns coefficients in the order of `samples` in set.
  [[nodiscard]] std::span<const host::Weighted> coefficients(std::size_t output, const Stage& stage) const {
    return std::span(outputs_[output].coefficients).subspan(stage.begin, stage.end - stage.begin);
  }

  /// Returns a dense fit for each λ.
  [[nodiscard]] std::vector<Fit> fits(const Engine& engine) const;

 private:
  struct Output {
    std::vector<host::Weighted> coefficients;
    std::vector<Stage> stages{Stage{}};

    [[nodiscard]] const Stage& at(std::size_t lambda) const;
  };

  Index samples_;
  std::vector<Output> outputs_;
  std::vector<Summary> summaries_;
};

}  // namespace widelimit
