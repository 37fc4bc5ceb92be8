#include "widelimit/recipe/quadrature/logistic_mixture.hpp"

namespace widelimit {

namespace {

/// Density of Kolmogorov's distribution: 8k Σ (−1)^{n+1} n² e^{−2n²k²} for large k, and the equivalent series √2π Σ
/// ((2n−1)²π²/4k⁴ − 1/k²) e^{−(2n−1)²π²/8k²} for small k.
long double kolmogorov_density(long double k) {
  const long double pi = std::numbers::pi_v<long double>;
  long double sum = 0;
  for (int n = 1; n <= 8; ++n) {
    const auto m = static_cast<long double>(n);
    if (k > 1) {
      sum += (n % 2 == 1 ? 8 : -8) * k * m * m * std::exp(-2 * m * m * k * k);
    } else {
      const long double odd = (2 * m - 1) * pi / k;
      sum += std::sqrt(2 * pi) * (odd * odd / 4 - 1) / (k * k) * std::exp(-odd * odd / 8);
    }
  }
  return sum;
}

std::vector<MixtureTerm> make_mixture() {
  constexpr long double step = 0.12L;
  constexpr long double negligible = 1e-15L;
  std::vector<MixtureTerm> terms;
  long double total = 0;
  for (int j = -40; j <= 40; ++j) {
    const long double k = std::exp(step * static_cast<long double>(j));
    const long double weight = step * k * kolmogorov_density(k);
    if (weight < negligible) continue;
    terms.push_back({static_cast<double>(2 * k), static_cast<double>(weight)});
    total += weight;
  }
  for (MixtureTerm& term : terms) term.weight = static_cast<double>(static_cast<long double>(term.weight) / total);
  return terms;
}

}  // namespace

const std::vector<MixtureTerm>& logistic_mixture() {
  static const std::vector<MixtureTerm> terms = make_mixture();
  return terms;
}

bool is_logistic(Phi phi) {
  return phi == Phi::tanh || phi == Phi::sigmoid || phi == Phi::swish || phi == Phi::softplus;
}

}  // namespace widelimit
