#pragma once

#include "widelimit/engine/enclosure/interval.hpp"
#include "widelimit/engine/enclosure/scaled.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>

/// Kernel entries of chains of dense layers and rectifiers, with or without biases, enclosed layer by layer; shared by
/// host and device code.                                                 [docs/theory/certificates-proof.md#biases]
namespace widelimit {

/// A layer: dense (or an untrained scale), or a rectifier.
struct ChainStep {
  double slope = 0;  ///< rectifier: slope for negative inputs, ≥ 0
  double w_std = 1;  ///< affine
  double b_std = 0;
  std::int32_t rectifier = 0, trained = 1;  ///< affine: adds its Σ to the NTK
};

/// Non-owning view of the layers.
struct ChainView {
  const ChainStep* steps = nullptr;
  std::int32_t depth = 0;
  std::int32_t tangent = 1;  ///< nonzero: entries of the NTK; else of the NNGP
  std::int32_t lifts = 0;    ///< nonzero: the bias of the first layer is a coordinate of its inputs
  double features = 1;
};

/// Two inputs of the first layer in the form x̃ = (x, b√d/w): its bias is one more, constant coordinate.
struct LiftedPair {
  Interval norm;   ///< ‖x̃‖, in units of 2^exponent
  Interval other;  ///< ‖x̃'‖, in units of 2^other_exponent
  Interval rho;    ///< cosine of x̃ and x̃'
  int exponent = 0, other_exponent = 0;
};

/// √q of a variance q, in units of 2^exponent.
struct Deviation {
  Interval value;
  int exponent = 0;
  [[nodiscard]] WIDELIMIT_BOTH Interval in_units_of(int other) const { return scaled(value, exponent - other); }
};

/// A kernel entry Θ = scale·other·value, where scale depends on x only, other on x' only, and value, without biases in
/// later layers, on the cosine only; and the derivatives of value.
struct EnclosedEntry {
  Deviation scale, other;
  Interval value;
  Interval by_rho;      ///< ∂/∂ρ
  Interval by_norm;     ///< ‖x̃‖·∂/∂‖x̃‖
  bool sloped = false;  ///< derivatives are valid
};

namespace enclosure {

WIDELIMIT_BOTH inline Interval square(double x) { return Interval::of(x) * Interval::of(x); }

/// √(1 − ρ²), smallest at the largest |ρ|.
WIDELIMIT_BOTH inline Interval sine_of(const Interval& rho) {
  const double most = std::max(std::abs(rho.low), std::abs(rho.high));
  const double least = rho.low <= 0 && rho.high >= 0 ? 0 : std::min(std::abs(rho.low), std::abs(rho.high));
  const Interval one = Interval::of(1);
  const auto at = [&](double r) { return sqrt((one - Interval::of(r)) * (one + Interval::of(r))); };
  return {at(most).low, at(least).high};
}

/// Derivatives with respect to ρ and to log ‖x̃‖.
struct Slopes {
  Interval by_rho = Interval::of(0), by_norm = Interval::of(0);
};

WIDELIMIT_BOTH inline Slopes operator*(const Interval& factor, const Slopes& a) {
  return {factor * a.by_rho, factor * a.by_norm};
}
WIDELIMIT_BOTH inline Slopes operator+(const Slopes& a, const Slopes& b) {
  return {a.by_rho + b.by_rho, a.by_norm + b.by_norm};
}
WIDELIMIT_BOTH inline bool finite(const Slopes& a) { return finite(a.by_rho) && finite(a.by_norm); }

/// A variance q = value·4^exponent with value kept near 1.
class Variance {
 public:
  /// Variance n²/features of a norm n in units of 2^exponent.
  WIDELIMIT_BOTH Variance(const Interval& norm, int exponent, double features)
      : value_(norm * norm / Interval::of(features)), exponent_(exponent) {
    normalise();
  }

  [[nodiscard]] WIDELIMIT_BOTH const Interval& value() const { return value_; }
  [[nodiscard]] WIDELIMIT_BOTH Deviation deviation() const { return {sqrt(value_), exponent_}; }
  /// Returns x in units of 2^exponent.
  [[nodiscard]] WIDELIMIT_BOTH Interval in_units(double x) const { return scaled(Interval::of(x), -exponent_); }

  WIDELIMIT_BOTH void multiply_square(double w) {
    const int exponent = scale_exponent(std::abs(w));
    const Interval mantissa = scaled(Interval::of(w), -exponent);
    multiply(mantissa * mantissa);
    exponent_ += exponent;
  }
  WIDELIMIT_BOTH void multiply(const Interval& factor) {
    value_ = factor * value_;
    normalise();
  }
  WIDELIMIT_BOTH void add(const Interval& term) {
    value_ = value_ + term;
    normalise();
  }
  /// Raises the exponent so that the bias is not large in its units.
  WIDELIMIT_BOTH void raise_exponent(double bias) {
    const int exponent = scale_exponent(std::abs(bias));
    if (exponent > exponent_) move_to(exponent);
  }

 private:
  WIDELIMIT_BOTH void normalise() {
    const int half = scale_exponent(value_.high) / 2;
    if (half != 0) move_to(exponent_ + half);
  }
  WIDELIMIT_BOTH void move_to(int exponent) {
    value_ = scaled(value_, 2 * (exponent_ - exponent));
    exponent_ = exponent;
  }

  Interval value_;
  int exponent_;
};

/// A dense layer with bias maps variances t = w²q to t + b², and correlations to
///   h = (√(tt')ρ + bb')/√((t + b²)(t' + b'²)),
/// where b and b' are the same bias in the units of either side.
class BiasedAffine {
 public:
  WIDELIMIT_BOTH BiasedAffine(const Interval& t, const Interval& b, const Interval& other, const Interval& other_b)
      : t_(t),
        b_(b),
        other_(other),
        other_b_(other_b),
        square_(b * b),
        other_square_(other_b * other_b),
        after_(t + square_),
        other_after_(other + other_square_) {}

  /// b², the increment of the variances.
  [[nodiscard]] WIDELIMIT_BOTH const Interval& growth() const { return square_; }
  [[nodiscard]] WIDELIMIT_BOTH const Interval& other_growth() const { return other_square_; }
  /// ∂h/∂ρ = √(tt')/√((t + b²)(t' + b'²)), increasing in t and at most 1.
  [[nodiscard]] WIDELIMIT_BOTH Interval factor() const {
    return positive() ? Interval{factor_at(t_.low).low, factor_at(t_.high).high} : Interval{0, 1};
  }
  /// h increases with ρ. For ρ > 0 it increases in t up to (ρb/b')²t', where it is √((ρ²t' + b'²)/(t' + b'²)), and
  /// decreases from there.
  [[nodiscard]] WIDELIMIT_BOTH Interval correlation(const Interval& rho) const {
    if (!positive()) return {-1, 1};
    const double low = std::min(at(t_.low, rho.low).low, at(t_.high, rho.low).low);
    double high = std::max(at(t_.low, rho.high).high, at(t_.high, rho.high).high);
    const Interval part = square(rho.high) * other_, top = part * square_, here = t_ * other_square_;
    if (rho.high > 0 && top.high >= here.low && top.low <= here.high) {
      high = std::max(high, sqrt((part + other_square_) / other_after_).high);
    }
    return clamp(Interval{low, high}, -1, 1);
  }
  /// t·∂h/∂t = ½b(ρ√(tt')b − tb')/((t + b²)√((t + b²)(t' + b'²))).
  [[nodiscard]] WIDELIMIT_BOTH Interval correlation_growth(const Interval& rho) const {
    return Interval::of(0.5) * b_ * (rho * sqrt(t_ * other_) * b_ - t_ * other_b_) /
           (after_ * sqrt(after_ * other_after_));
  }
  /// Fraction of the variance without the bias; and t·∂(log factor)/∂t, half the fraction of the bias.
  [[nodiscard]] WIDELIMIT_BOTH Interval share() const { return t_ / after_; }
  [[nodiscard]] WIDELIMIT_BOTH Interval factor_growth() const { return Interval::of(0.5) * square_ / after_; }

 private:
  /// Otherwise divisions by the variances are undefined.
  [[nodiscard]] WIDELIMIT_BOTH bool positive() const { return after_.low > 0 && other_after_.low > 0; }
  [[nodiscard]] WIDELIMIT_BOTH Interval at(double t, double rho) const {
    const Interval point = Interval::of(t);
    return (sqrt(point * other_) * Interval::of(rho) + b_ * other_b_) / sqrt((point + square_) * other_after_);
  }
  [[nodiscard]] WIDELIMIT_BOTH Interval factor_at(double t) const {
    const Interval point = Interval::of(t);
    return sqrt(point * other_ / ((point + square_) * other_after_));
  }

  Interval t_, b_, other_, other_b_, square_, other_square_, after_, other_after_;
};

/// State of one pair, layer by layer: variances q, q' with ∂(log q)/∂(log ‖x̃‖), the correlation ρ, and the tangent
/// kernel relative to the standard deviations, ϑ = Θ/√(qq').
class PairEnclosure {
 public:
  WIDELIMIT_BOTH PairEnclosure(const LiftedPair& pair, double features, bool sloped)
      : first_(pair.norm, pair.exponent, features),
        second_(pair.other, pair.other_exponent, features),
        rho_(pair.rho),
        sloped_(sloped) {}

  /// First layer, whose bias is already in the pair.
  WIDELIMIT_BOTH void enter(const ChainStep& layer) {
    first_.multiply_square(layer.w_std);
    second_.multiply_square(layer.w_std);
    if (layer.trained != 0) add_correlation();
  }
  WIDELIMIT_BOTH void pass(const ChainStep& layer) {
    layer.rectifier != 0 ? pass_rectifier(layer) : pass_affine(layer);
  }

  [[nodiscard]] WIDELIMIT_BOTH EnclosedEntry entry(bool tangent) const {
    const Slopes& slopes = tangent ? theta_slopes_ : rho_slopes_;
    return {.scale = first_.deviation(),
            .other = second_.deviation(),
            .value = tangent ? theta_ : rho_,
            .by_rho = slopes.by_rho,
            .by_norm = slopes.by_norm,
            .sloped = sloped_ && finite(slopes)};
  }

 private:
  WIDELIMIT_BOTH void add_correlation() {
    theta_ = theta_ + rho_;
    theta_slopes_ = theta_slopes_ + rho_slopes_;
  }

  WIDELIMIT_BOTH void pass_affine(const ChainStep& layer) {
    first_.multiply_square(layer.w_std);
    second_.multiply_square(layer.w_std);
    if (layer.b_std != 0) add_bias(layer.b_std);
    if (layer.trained != 0) add_correlation();
  }

  WIDELIMIT_BOTH void add_bias(double b) {
    first_.raise_exponent(b);
    second_.raise_exponent(b);
    const BiasedAffine affine(first_.value(), first_.in_units(b), second_.value(), second_.in_units(b));
    const Interval factor = affine.factor();
    if (sloped_) {
      theta_slopes_.by_norm = theta_slopes_.by_norm + theta_ * (affine.factor_growth() * growth_);
      theta_slopes_ = factor * theta_slopes_;
      rho_slopes_ = factor * rho_slopes_;
      rho_slopes_.by_norm = rho_slopes_.by_norm + affine.correlation_growth(rho_) * growth_;
      growth_ = growth_ * affine.share();
    }
    theta_ = factor * theta_;
    rho_ = affine.correlation(rho_);
    first_.add(affine.growth());
    second_.add(affine.other_growth());
  }

  /// With P = ½(1+s²) and h = ½(1−s)²: q ← Pq, ρ ← (sρ + hκ₁(ρ))/P with derivative D = (s + hκ₀(ρ))/P, ϑ ← Dϑ; dD/dρ =
  /// h/(πP√(1−ρ²)).
  WIDELIMIT_BOTH void pass_rectifier(const ChainStep& layer) {
    const Interval s = Interval::of(layer.slope), one = Interval::of(1), half = Interval::of(0.5);
    const Interval power = half * (one + s * s), bend = half * (one - s) * (one - s) / power;
    const Interval slope = s / power + bend * kappa0(rho_);
    if (sloped_) {
      const Interval pi{std::numbers::pi, above(std::numbers::pi)};  // the double is below π
      const Interval sine = sine_of(rho_);
      sloped_ = sine.low > 0 || bend.high == 0;
      const Interval opening = sine.low > 0 ? theta_ * (bend / (pi * sine)) : Interval::of(0);
      theta_slopes_ = slope * theta_slopes_ + opening * rho_slopes_;
      rho_slopes_ = slope * rho_slopes_;
      sloped_ = sloped_ && finite(theta_slopes_) && finite(rho_slopes_);
    }
    theta_ = slope * theta_;
    rho_ = clamp(s / power * rho_ + bend * kappa1(rho_), -1, 1);
    first_.multiply(power);
    second_.multiply(power);
  }

  Variance first_, second_;
  Interval growth_ = Interval::of(2);
  Interval rho_, theta_ = Interval::of(0);
  bool sloped_;
  Slopes rho_slopes_{Interval::of(1), Interval::of(0)}, theta_slopes_;
};

}  // namespace enclosure

/// Propagates intervals through the layers. Tight for the correlations, which increase with those of the previous layer
/// and are unimodal in ‖x̃‖.
[[nodiscard]] WIDELIMIT_BOTH inline EnclosedEntry enclose_entry(const ChainView& chain, const LiftedPair& pair,
                                                                bool sloped) {
  enclosure::PairEnclosure result(pair, chain.features, sloped);
  for (int k = 0; k < chain.depth; ++k) {
    k == 0 && chain.lifts != 0 ? result.enter(chain.steps[k]) : result.pass(chain.steps[k]);
  }
  return result.entry(chain.tangent != 0);
}

}  // namespace widelimit
