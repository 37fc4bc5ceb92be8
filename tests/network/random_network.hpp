#pragma once

#include "widelimit/base/random.hpp"
#include "widelimit/network/network.hpp"

#include <cmath>
#include <string>

namespace widelimit::test {

/// Draws networks from the structs only, independent of the table of forms.
class RandomNetwork {
 public:
  explicit RandomNetwork(std::uint64_t seed) : random_(seed) {}

  Network network() { return {layers(3)}; }

 private:
  Index below(Index bound) { return static_cast<Index>(random_.below(static_cast<std::uint64_t>(bound), next_++)); }
  bool coin() { return below(2) == 0; }
  /// Round numbers, and full doubles over many orders of magnitude.
  double positive() {
    if (coin()) return 0.1 * static_cast<double>(1 + below(30));
    return std::exp(80 * (random_.uniform(next_++) - 0.5));
  }
  double any() { return coin() ? positive() : -positive(); }
  double not_negative() { return below(4) == 0 ? 0.0 : positive(); }
  Extent extent() { return coin() ? Extent{1 + below(5), 1 + below(5)} : Extent{1 + below(4095), 1 + below(4095)}; }
  Padding padding() { return static_cast<Padding>(below(3)); }
  std::string word() {
    std::string text;
    for (Index i = below(12); i >= 0; --i) text += "abzAZ_019"[below(9)];
    return text;
  }

  Activation activation() {
    Activation result;
    result.phi = static_cast<Phi>(below(21));
    if (result.phi == Phi::leaky_relu) result.slope = any();
    if (result.phi == Phi::rbf) result.gamma = positive();
    if (result.phi == Phi::monomial || result.phi == Phi::hermite) result.degree = below(33);
    if (result.phi == Phi::rectified_monomial) result.degree = below(9);
    if (result.phi == Phi::custom) result.name = word();
    if (result.phi == Phi::polynomial) {
      for (Index i = below(33); i >= 0; --i) result.coef.push_back(below(4) == 0 ? 0.0 : any());
    }
    return result;
  }

  Layer layer(Index nesting) {
    switch (below(nesting > 0 ? 12 : 10)) {
      case 0:
        return Dense{not_negative(), not_negative(), coin()};
      case 1:
        return coin() ? Conv{} : Conv{extent(), extent(), padding(), not_negative(), not_negative(), coin()};
      case 2: {
        const Extent window = extent();
        return Pool{static_cast<Pooling>(below(3)), window, coin() ? window : extent(), padding()};
      }
      case 3:
        return GlobalPool{static_cast<Pooling>(below(2))};
      case 4:
        if (coin()) return Flatten{};
        return Aggregate{coin() ? NodeScale::degree : NodeScale::uniform};
      case 5:
        return LayerNorm{};
      case 6:
        return Dropout{random_.uniform(next_++)};
      case 7:
        return Attention{coin()};
      case 8:
        return Scale{random_.normal(next_++)};
      case 9:
        return activation();
      default:
        return coin() ? Residual{layers(nesting - 1), layers(nesting - 1)}
                      : Residual{layers(nesting - 1), std::nullopt};
    }
  }

  Layers layers(Index nesting) {
    Layers result;
    for (Index i = below(6); i >= 0; --i) result.push_back(layer(nesting));
    return result;
  }

  Random random_;
  std::uint64_t next_ = 0;
};

}  // namespace widelimit::test
