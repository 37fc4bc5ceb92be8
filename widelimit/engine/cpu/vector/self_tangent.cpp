#include "widelimit/engine/cpu/vector/self_tangent.hpp"

#include "widelimit/engine/overflow.hpp"

#include <cmath>
#include <limits>
#include <utility>

namespace widelimit::cpu {

namespace {

void put_checked(MatrixView<double> outputs, Index slot, Index i, long double value) {
  if (!(std::abs(value) <= static_cast<long double>(std::numeric_limits<double>::max()))) {
    report_overflow(slot, i, i, Precision::f64);
  }
  outputs(slot, i) = static_cast<double>(value);
}

}  // namespace

SelfTangent::SelfTangent(Index channels, Index places)
    : stack_{Channels(static_cast<std::size_t>(channels), Variances(static_cast<std::size_t>(places), 0))} {}

void SelfTangent::advance(const Step& step, const Variances& before, const Advance& advanced) {
  const auto scale = [&](const auto& factor) {
    for (Variances& theta : stack_.back()) {
      for (std::size_t i = 0; i < theta.size(); ++i) theta[i] *= factor(i);
    }
  };
  switch (step.op) {
    case Op::affine:
      scale([&](std::size_t) { return static_cast<long double>(step.w2); });
      for (Index m = step.channel_begin; m < step.channel_end; ++m) {
        Variances& theta = stack_.back()[static_cast<std::size_t>(m)];
        for (std::size_t i = 0; i < theta.size(); ++i) theta[i] += advanced.variance[i];
      }
      break;
    case Op::dual:
      scale([&](std::size_t i) { return advanced.dot[i]; });
      break;
    case Op::layer_norm:
      scale([&](std::size_t i) { return before[i] > 0 ? 1 / before[i] : 0.0L; });
      break;
    case Op::dropout:
      scale([&](std::size_t) { return 1 / static_cast<long double>(step.rate); });
      break;
    case Op::fork:
      stack_.push_back(stack_.back());
      break;
    case Op::swap:
      std::swap(stack_.back(), stack_[stack_.size() - 2]);
      break;
    case Op::join: {
      const Channels other = std::move(stack_.back());
      stack_.pop_back();
      for (std::size_t m = 0; m < other.size(); ++m) {
        for (std::size_t i = 0; i < other[m].size(); ++i) stack_.back()[m][i] += other[m][i];
      }
      break;
    }
    default:
      break;
  }
}

void SelfTangent::write(const Step& step, const Variances& variance, MatrixView<double> outputs) const {
  for (Index i = 0; i < outputs.cols; ++i) {
    const auto place = static_cast<std::size_t>(i);
    if (step.nngp_slot >= 0) put_checked(outputs, step.nngp_slot, i, variance[place]);
    for (Index m = 0; m < step.ntk_count; ++m) {
      put_checked(outputs, step.ntk_slot + m, i, stack_.back()[static_cast<std::size_t>(m)][place]);
    }
  }
}

}  // namespace widelimit::cpu
