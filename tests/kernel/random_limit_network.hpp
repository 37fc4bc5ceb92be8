#pragma once

#include "widelimit/base/random.hpp"
#include "widelimit/network/network.hpp"

#include <fmt/format.h>

#include <string>
#include <vector>

namespace widelimit::test {

/// Draws series-parallel networks over all layers and activations; most have a limit formula, some have none.
/// Fast-growing activations follow small weights, so that means over random networks converge.
class RandomLimitNetwork {
 public:
  RandomLimitNetwork(std::uint64_t seed, bool image) : random_(23, seed), image_(image) {
    positions_ = image;
    std::string text = begin();
    for (Index k = 1 + below(3); k > 0; --k) text += " " + block(2);
    if (positions_) text += pick({" flatten", " global_avg_pool", " global_sum_pool"});
    if (below(3) == 0) text += " " + weights() + " " + activation();
    text_ = text + " dense";
  }

  [[nodiscard]] const std::string& text() const { return text_; }

 private:
  Index below(Index bound) { return static_cast<Index>(random_.below(static_cast<std::uint64_t>(bound), next_++)); }
  bool coin() { return below(2) == 0; }
  std::string pick(const std::vector<std::string>& list) {
    return list[static_cast<std::size_t>(below(static_cast<Index>(list.size())))];
  }

  std::string begin() {
    switch (below(12)) {
      case 0:
        return "scale(by=0.7) " + weights();
      case 1:
        return image_ ? "avg_pool " + weights() : "residual{ dense } dense";
      case 2:
        return "dropout(rate=0.8) " + weights();
      default:
        return weights();
    }
  }

  std::string weights() {
    const std::string arguments = fmt::format("w_std={}, b_std={}", pick({"1", "1.4", "0.7"}), pick({"0", "0", "0.3"}));
    if (!positions_ || below(4) == 0) return fmt::format("dense({})", arguments);
    return fmt::format("conv(kernel={}, padding={}, {})", pick({"3x3", "1x1", "2x1"}), pick({"SAME", "CIRCULAR"}),
                       arguments);
  }

  std::string activation() {
    return pick({"relu",
                 "relu",
                 "relu",
                 "leaky_relu(slope=0.3)",
                 "abs",
                 "erf",
                 "gelu",
                 "sin",
                 "cos",
                 "sign",
                 "gaussian",
                 "rbf(gamma=0.4)",
                 "rectified_monomial(degree=0)",
                 "rectified_monomial(degree=1)",
                 "identity",
                 "tanh",
                 "sigmoid",
                 "swish",
                 "softplus",
                 "polynomial(coef=[0.1, 0.6, 0.1])"});
  }

  std::string steep() {
    return pick({"dense(w_std=0.4) exp", "dense(w_std=0.5) monomial(degree=2)", "dense(w_std=0.5) monomial(degree=3)",
                 "dense(w_std=0.5) rectified_monomial(degree=2)", "dense layer_norm hermite(degree=2)"});
  }

  /// A block that usually expects a Gaussian state and usually returns one.
  std::string block(Index nesting) {
    switch (below(14)) {
      case 0:
        return activation() + " " + activation() + " " + weights();
      case 1:
        return activation() + " scale(by=-0.8) " + activation() + " " + weights();
      case 2:
        return "layer_norm " + activation() + " " + weights();
      case 3:
        return activation() + " layer_norm " + weights();
      case 4:
        return activation() + " dropout(rate=0.7) " + weights();
      case 5:
        return steep() + " " + weights();
      case 6:
        return positions_ ? activation() + " " + pick({"avg_pool", "sum_pool"}) +
                                "(window=2x2, strides=1x1, padding=SAME) " + weights()
                          : "dropout(rate=0.7) " + weights();
      case 7:
        return positions_ ? "attention" : "scale(by=1.2)";
      case 8:
      case 9:
        return nesting > 0 ? "residual{ " + activation() + " " + block(nesting - 1) + " }" : weights();
      case 10:
        return nesting > 0 ? "residual{ " + block(nesting - 1) + " " + weights() + " | " + block(nesting - 1) + " }"
                           : activation();
      case 11:
        return activation();
      default:
        return activation() + " " + weights();
    }
  }

  Random random_;
  std::uint64_t next_ = 0;
  bool image_;
  bool positions_ = false;
  std::string text_;
};

}  // namespace widelimit::test
