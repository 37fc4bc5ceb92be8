#pragma once

#include "widelimit/engine/host/point_strip.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/svm/svm_path.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// Machines of several outputs, one for each λ of a path, by their coefficients that are not 0. In one-vs-one of k
/// classes these are one in k/2; and as λ falls the solution of a pair that can be separated changes no more, so that
/// λ after λ shares it.
class SparseMachines {
 public:
  /// An output from one λ on, until its next stage.
  struct Stage {
    std::size_t from = 0;
    std::size_t begin = 0;  ///< of its coefficients
    std::size_t end = 0;
    double bias = 0;
  };

  /// All coefficients are 0 until they are set.
  SparseMachines(Index samples, std::size_t outputs, std::size_t lambdas);

  [[nodiscard]] Index samples() const { return samples_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_.size(); }
  [[nodiscard]] std::size_t lambdas() const { return summaries_.size(); }
  [[nodiscard]] Summary& summary(std::size_t lambda) { return summaries_[lambda]; }
  [[nodiscard]] const Summary& summary(std::size_t lambda) const { return summaries_[lambda]; }

  /// Coefficient i of a solution is that of samples[i]. Several outputs may be set at a time.
  void set(std::size_t output, std::span<const Index> samples, const SvmPath& path);
  /// All coefficients of that λ become 0.
  void clear(std::size_t lambda);

  /// Of an output, in the order of the λ; the first is from 0.
  [[nodiscard]] std::span<const Stage> stages(std::size_t output) const { return outputs_[output].stages; }
  /// In the order of `samples` in set.
  [[nodiscard]] std::span<const host::Weighted> coefficients(std::size_t output, const Stage& stage) const {
    return std::span(outputs_[output].coefficients).subspan(stage.begin, stage.end - stage.begin);
  }

  /// One for each λ.
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
