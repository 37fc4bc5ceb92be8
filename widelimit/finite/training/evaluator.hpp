#pragma once

#include "widelimit/base/clock.hpp"
#include "widelimit/finite/backward.hpp"
#include "widelimit/finite/tangent/tangent.hpp"

namespace widelimit {

/// Forwards polls for cancellation at a limited rate: passes over few samples take microseconds.
class ThrottledProgress final : public Progress {
 public:
  explicit ThrottledProgress(Progress* listener)
      : listener_(listener), next_(std::chrono::steady_clock::now() + progress_interval) {}
  [[nodiscard]] Progress* get() { return listener_ != nullptr ? this : nullptr; }
  bool update(std::int64_t done, std::int64_t total, std::string_view unit) override;

 private:
  Progress* listener_;
  std::chrono::steady_clock::time_point next_;
};

/// Evaluates a network as a function of its weights on successive sets of samples: the network itself, or the network
/// linearised at weights w₀, f(w₀) + J(w₀)(w − w₀). Reuses the memory of its passes.
template <std::floating_point T>
class Evaluator {
 public:
  /// `centre`: w₀ of a linearised network, which must outlive this object; null: the network itself. `progress` is
  /// polled between layers and may cancel a pass.
  Evaluator(const Architecture& architecture, const Parameters<T>* centre, const Engine& engine,
            Progress* progress = nullptr);
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;

  /// Sets the samples: rows `rows` of `x`, or `count` rows from `first` on.
  void set_samples(const Tensor<T>& x, std::span<const Index> rows);
  void set_samples(const Tensor<T>& x, Index first, Index count);

  /// The samples, which may be modified before the next evaluation.
  [[nodiscard]] Tensor<T>& samples() { return trace_.input(); }

  /// Returns f(w) on the samples.
  const Tensor<T>& outputs(const Parameters<T>& w, const std::optional<DropoutDraw>& dropout = {});
  /// Returns the factors of the gradient of Σ signal·f at the w of the last outputs(); signal() must be set before.
  [[nodiscard]] Tensor<T>& signal();
  const Gradient<T>& gradient(const Parameters<T>& w);

 private:
  const Architecture& architecture_;
  const Parameters<T>* centre_;
  const Engine& engine_;
  ThrottledProgress throttled_;
  PassOptions pass_;
  Trace<T> trace_;
  Gradient<T> gradient_;
  bool fresh_ = true;         ///< whether the trace of a linearised network must be recomputed for new samples
  Parameters<T> difference_;  ///< w − w₀
  Trace<T> changes_;
  Tensor<T> sum_;
};

/// Computes to = w − v.
template <std::floating_point T>
void subtract(const Parameters<T>& w, const Parameters<T>& v, Parameters<T>& to, const Engine& engine);

}  // namespace widelimit
