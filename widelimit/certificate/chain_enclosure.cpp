#include "widelimit/certificate/chain_enclosure.hpp"

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

/// A dense layer with a bias takes variances t = w²q to t + b², and correlations to
///   h = (√(tt')ρ + b²)/√((t + b²)(t' + b²)).
class BiasedAffine {
 public:
  BiasedAffine(const Interval& t, const Interval& other, const Interval& b)
      : t_(t), other_(other), b_(b), after_(t + b), other_after_(other + b) {}

  [[nodiscard]] const Interval& variance() const { return after_; }
  [[nodiscard]] const Interval& other_variance() const { return other_after_; }
  /// ∂h/∂ρ = √(tt')/√((t + b²)(t' + b²)), which grows with t.
  [[nodiscard]] Interval factor() const { return {factor_at(t_.low).low, factor_at(t_.high).high}; }
  /// h grows with ρ; in t it grows up to ρ²t', where it is √((ρ²t' + b²)/(t' + b²)), and falls from there (ρ > 0).
  [[nodiscard]] Interval correlation(const Interval& rho) const {
    const double low = std::min(at(t_.low, rho.low).low, at(t_.high, rho.low).low);
    double high = std::max(at(t_.low, rho.high).high, at(t_.high, rho.high).high);
    const Interval top = square(rho.high) * other_;
    if (rho.high > 0 && top.high >= t_.low && top.low <= t_.high) high = sqrt((top + b_) / other_after_).high;
    return clamp(Interval{low, high}, -1, 1);
  }
  /// t·∂h/∂t = ½b²(ρ√(tt') − t)/((t + b²)√((t + b²)(t' + b²))).
  [[nodiscard]] Interval correlation_growth(const Interval& rho) const {
    return Interval::of(0.5) * b_ * (rho * sqrt(t_ * other_) - t_) / (after_ * sqrt(after_ * other_after_));
  }
  /// The share of the variance that is not the bias, and half of what is: t·∂(log factor)/∂t.
  [[nodiscard]] Interval share() const { return t_ / after_; }
  [[nodiscard]] Interval factor_growth() const { return Interval::of(0.5) * b_ / after_; }

 private:
  [[nodiscard]] Interval at(double t, double rho) const {
    const Interval point = Interval::of(t);
    return (sqrt(point * other_) * Interval::of(rho) + b_) / sqrt((point + b_) * other_after_);
  }
  [[nodiscard]] Interval factor_at(double t) const {
    const Interval point = Interval::of(t);
    return sqrt(point * other_ / ((point + b_) * other_after_));
  }

  Interval t_, other_, b_, after_, other_after_;
};

/// One pair, layer after layer: variances q, q' with the growth ∂(log q)/∂(log ‖x̃‖), the correlation ρ, and the tangent
/// kernel relative to the deviations, ϑ = Θ/√(qq').
class PairEnclosure {
 public:
  PairEnclosure(const LiftedPair& pair, Index features, bool sloped)
      : first_(pair.norm * pair.norm / Interval::of(static_cast<double>(features))),
        second_(pair.other * pair.other / Interval::of(static_cast<double>(features))),
        rho_(pair.rho),
        sloped_(sloped) {}

  /// The first layer, whose bias the pair has in it.
  void enter(const ChainLayer& layer) {
    const Interval w = square(layer.w_std);
    first_ = w * first_;
    second_ = w * second_;
    if (layer.trained) add_correlation();
  }
  void pass(const ChainLayer& layer) { layer.rectifier ? pass_rectifier(layer) : pass_affine(layer); }

  [[nodiscard]] EnclosedEntry entry(Kind kind) const {
    const Slopes& slopes = kind == Kind::ntk ? theta_slopes_ : rho_slopes_;
    return {.scale = sqrt(first_),
            .other = sqrt(second_),
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
    const Interval w = square(layer.w_std);
    first_ = w * first_;
    second_ = w * second_;
    if (layer.b_std != 0) add_bias(square(layer.b_std));
    if (layer.trained) add_correlation();
  }

  void add_bias(const Interval& b) {
    const BiasedAffine affine(first_, second_, b);
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
    first_ = affine.variance();
    second_ = affine.other_variance();
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
    first_ = power * first_;
    second_ = power * second_;
  }

  Interval first_, second_, growth_ = Interval::of(2);
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
