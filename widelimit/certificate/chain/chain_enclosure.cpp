#include "widelimit/certificate/chain/chain_enclosure.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

Interval square(double x) { return Interval::of(x) * Interval::of(x); }

/// √(1 − ρ²): least where |ρ| is largest.
Interval sine_of(const Interval& rho) {
  const double most = std::max(std::abs(rho.low), std::abs(rho.high));
  const double least = rho.low <= 0 && rho.high >= 0 ? 0 : std::min(std::abs(rho.low), std::abs(rho.high));
  const Interval one = Interval::of(1);
  const auto at = [&](double r) { return sqrt((one - Interval::of(r)) * (one + Interval::of(r))); };
  return {at(most).low, at(least).high};
}

/// A number's derivatives by ρ and by the logarithm of ‖x̃‖.
struct Slopes {
  Interval by_rho = Interval::of(0), by_norm = Interval::of(0);
};

Slopes operator*(const Interval& factor, const Slopes& a) { return {factor * a.by_rho, factor * a.by_norm}; }
Slopes operator+(const Slopes& a, const Slopes& b) { return {a.by_rho + b.by_rho, a.by_norm + b.by_norm}; }
bool finite(const Slopes& a) { return finite(a.by_rho) && finite(a.by_norm); }

/// A variance q = value·4^exponent, whose value is kept near 1.
class Variance {
 public:
  /// n²/features of a norm n in units of 2^exponent.
  Variance(const Interval& norm, int exponent, double features)
      : value_(norm * norm / Interval::of(features)), exponent_(exponent) {
    settle();
  }

  [[nodiscard]] const Interval& value() const { return value_; }
  [[nodiscard]] Deviation deviation() const { return {sqrt(value_), exponent_}; }
  /// A number in units of 2^exponent.
  [[nodiscard]] Interval in_units(double x) const { return scaled(Interval::of(x), -exponent_); }

  void multiply_square(double w) {
    const int exponent = scale_exponent(std::abs(w));
    const Interval mantissa = scaled(Interval::of(w), -exponent);
    multiply(mantissa * mantissa);
    exponent_ += exponent;
  }
  void multiply(const Interval& factor) {
    value_ = factor * value_;
    settle();
  }
  void add(const Interval& term) {
    value_ = value_ + term;
    settle();
  }
  /// So that a bias is no large number in its units.
  void make_room_for(double bias) {
    const int exponent = scale_exponent(std::abs(bias));
    if (exponent > exponent_) move_to(exponent);
  }

 private:
  void settle() {
    const int half = scale_exponent(value_.high) / 2;
    if (half != 0) move_to(exponent_ + half);
  }
  void move_to(int exponent) {
    value_ = scaled(value_, 2 * (exponent_ - exponent));
    exponent_ = exponent;
  }

  Interval value_;
  int exponent_;
};

/// A dense layer with a bias takes variances t = w²q to t + b², and correlations to
///   h = (√(tt')ρ + bb')/√((t + b²)(t' + b'²)),
/// where b and b' are one bias in the units of either side.
class BiasedAffine {
 public:
  BiasedAffine(const Interval& t, const Interval& b, const Interval& other, const Interval& other_b)
      : t_(t),
        b_(b),
        other_(other),
        other_b_(other_b),
        square_(b * b),
        other_square_(other_b * other_b),
        after_(t + square_),
        other_after_(other + other_square_) {}

  /// b², by which the variances grow.
  [[nodiscard]] const Interval& growth() const { return square_; }
  [[nodiscard]] const Interval& other_growth() const { return other_square_; }
  /// ∂h/∂ρ = √(tt')/√((t + b²)(t' + b'²)), which grows with t and is no larger than 1.
  [[nodiscard]] Interval factor() const {
    return positive() ? Interval{factor_at(t_.low).low, factor_at(t_.high).high} : Interval{0, 1};
  }
  /// h grows with ρ; in t it grows up to (ρb/b')²t', where it is √((ρ²t' + b'²)/(t' + b'²)), and falls from there
  /// (ρ > 0).
  [[nodiscard]] Interval correlation(const Interval& rho) const {
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
  [[nodiscard]] Interval correlation_growth(const Interval& rho) const {
    return Interval::of(0.5) * b_ * (rho * sqrt(t_ * other_) * b_ - t_ * other_b_) /
           (after_ * sqrt(after_ * other_after_));
  }
  /// The share of the variance that is not the bias, and half of what is: t·∂(log factor)/∂t.
  [[nodiscard]] Interval share() const { return t_ / after_; }
  [[nodiscard]] Interval factor_growth() const { return Interval::of(0.5) * square_ / after_; }

 private:
  /// Else nothing can be divided by the variances.
  [[nodiscard]] bool positive() const { return after_.low > 0 && other_after_.low > 0; }
  [[nodiscard]] Interval at(double t, double rho) const {
    const Interval point = Interval::of(t);
    return (sqrt(point * other_) * Interval::of(rho) + b_ * other_b_) / sqrt((point + square_) * other_after_);
  }
  [[nodiscard]] Interval factor_at(double t) const {
    const Interval point = Interval::of(t);
    return sqrt(point * other_ / ((point + square_) * other_after_));
  }

  Interval t_, b_, other_, other_b_, square_, other_square_, after_, other_after_;
};

/// One pair, layer after layer: variances q, q' with the growth ∂(log q)/∂(log ‖x̃‖), the correlation ρ, and the tangent
/// kernel relative to the deviations, ϑ = Θ/√(qq').
class PairEnclosure {
 public:
  PairEnclosure(const LiftedPair& pair, Index features, bool sloped)
      : first_(pair.norm, pair.exponent, static_cast<double>(features)),
        second_(pair.other, pair.other_exponent, static_cast<double>(features)),
        rho_(pair.rho),
        sloped_(sloped) {}

  /// The first layer, whose bias the pair has in it.
  void enter(const ChainLayer& layer) {
    first_.multiply_square(layer.w_std);
    second_.multiply_square(layer.w_std);
    if (layer.trained) add_correlation();
  }
  void pass(const ChainLayer& layer) { layer.rectifier ? pass_rectifier(layer) : pass_affine(layer); }

  [[nodiscard]] EnclosedEntry entry(Kind kind) const {
    const Slopes& slopes = kind == Kind::ntk ? theta_slopes_ : rho_slopes_;
    return {.scale = first_.deviation(),
            .other = second_.deviation(),
            .value = kind == Kind::ntk ? theta_ : rho_,
            .by_rho = slopes.by_rho,
            .by_norm = slopes.by_norm,
            .sloped = sloped_ && finite(slopes)};
  }

 private:
  void add_correlation() {
    theta_ = theta_ + rho_;
    theta_slopes_ = theta_slopes_ + rho_slopes_;
  }

  void pass_affine(const ChainLayer& layer) {
    first_.multiply_square(layer.w_std);
    second_.multiply_square(layer.w_std);
    if (layer.b_std != 0) add_bias(layer.b_std);
    if (layer.trained) add_correlation();
  }

  void add_bias(double b) {
    first_.make_room_for(b);
    second_.make_room_for(b);
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

  /// With P = ½(1+s²) and h = ½(1−s)²: q ← Pq, ρ ← (sρ + hκ₁(ρ))/P, whose derivative is D = (s + hκ₀(ρ))/P, ϑ ← Dϑ; and
  /// dD/dρ = h/(πP√(1−ρ²)).
  void pass_rectifier(const ChainLayer& layer) {
    const Interval s = Interval::of(layer.slope), one = Interval::of(1), half = Interval::of(0.5);
    const Interval power = half * (one + s * s), bend = half * (one - s) * (one - s) / power;
    const Interval slope = s / power + bend * kappa0(rho_);
    if (sloped_) {
      const Interval pi{std::numbers::pi, above(std::numbers::pi)};  // the double lies below π
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

bool lifts(const Chain& chain) {
  return !chain.layers.empty() && !chain.layers.front().rectifier && chain.layers.front().w_std != 0;
}

}  // namespace

Interval lifted_coordinate(const Chain& chain) {
  if (!lifts(chain)) return Interval::of(0);
  const ChainLayer& layer = chain.layers.front();
  return Interval::of(std::abs(layer.b_std)) * sqrt(Interval::of(static_cast<double>(chain.features))) /
         Interval::of(std::abs(layer.w_std));
}

EnclosedEntry enclose_entry(const Chain& chain, Kind kind, const LiftedPair& pair, bool sloped) {
  PairEnclosure enclosure(pair, chain.features, sloped);
  for (std::size_t k = 0; k < chain.layers.size(); ++k) {
    k == 0 && lifts(chain) ? enclosure.enter(chain.layers[k]) : enclosure.pass(chain.layers[k]);
  }
  return enclosure.entry(kind);
}

}  // namespace widelimit
