#pragma once

#include "widelimit/engine/cpu/vector/apply.hpp"

#include <algorithm>
#include <utility>
#include <vector>

namespace widelimit::cpu {

/// Runs the strips of one row through all steps: a stack with one strip per open fork.
template <typename T>
class StripStack {
 public:
  /// For strips of at most `longest` elements.
  StripStack(const Recipe& recipe, Index longest) : channels_(recipe.channels) {
    Index depth = 1;
    Index deepest = 1;
    for (const Step& step : recipe.steps) {
      depth += step.op == Op::fork ? 1 : (step.op == Op::join ? -1 : 0);
      deepest = std::max(deepest, depth);
    }
    memory_ = Matrix<T>(deepest * (2 + channels_), padded(longest));
    strips_.resize(static_cast<std::size_t>(deepest));
  }

  /// Starts with `size` correlations at `rho` (used in place) and no forks. `follower`, if not null, is a layer without
  /// bias that is fused with the preceding step.
  void restart(T* rho, Index size, const Step* follower) {
    const Index stride = memory_.cols();
    for (std::size_t level = 0; level < strips_.size(); ++level) {
      T* base = memory_.data() + static_cast<Index>(level) * (2 + channels_) * stride;
      strips_[level] = {size, level == 0 ? rho : base, base + stride, base + 2 * stride, stride, channels_};
    }
    top_ = 0;
    train_with(follower);
  }

  [[nodiscard]] const Strip<T>& top() const { return strips_[top_]; }

  void run(const Step& step, const FeatureSides<T>& features, const Step* follower) {
    train_with(follower);
    switch (step.op) {
      case Op::fork:
        copy(strips_[top_], strips_[top_ + 1]), ++top_;
        break;
      case Op::swap:
        std::swap(strips_[top_], strips_[top_ - 1]);
        break;
      case Op::join:
        --top_;
        apply(step, features, strips_[top_ + 1], strips_[top_]);
        break;
      default:
        apply(step, features, Strip<T>{}, strips_[top_]);
        break;
    }
  }

 private:
  void train_with(const Step* follower) {
    strips_[top_].trained_begin = follower != nullptr ? follower->channel_begin : 0;
    strips_[top_].trained_end = follower != nullptr ? follower->channel_end : 0;
  }

  static void copy(const Strip<T>& from, const Strip<T>& to) {
    std::copy_n(from.rho, from.size, to.rho);
    std::copy_n(from.t, from.size, to.t);
    for (Index m = 0; m < from.channels; ++m) {
      std::copy_n(from.theta + m * from.theta_stride, from.size, to.theta + m * to.theta_stride);
    }
  }

  Index channels_;
  Matrix<T> memory_;
  std::vector<Strip<T>> strips_;
  std::size_t top_ = 0;
};

}  // namespace widelimit::cpu
