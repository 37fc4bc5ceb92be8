#include "widelimit/finite/training/stable_rate.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/ntk_product.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index most_samples = 256;
constexpr int power_steps = 8;

template <std::floating_point T>
double norm(const Tensor<T>& v) {
  double sum = 0;
  for (const T value : v.values()) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

}  // namespace

template <std::floating_point T>
std::optional<double> stable_rate(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                                  const Loss& loss, double lambda, int threads) {
  const std::optional<double> curvature = largest_curvature(loss.kind);
  if (!curvature || x.count() == 0) return std::nullopt;
  Tensor<T> some(std::min(most_samples, x.count()), x.shape());
  std::copy_n(x.data(), some.size(), some.data());
  Tensor<T> v(some.count(), architecture.output);
  Random(0).normals(0, v.size(), 1.0, v.data());
  double largest = 0;
  for (int step = 0; step < power_steps; ++step) {
    const double size = norm(v);
    if (!(size > 0) || !std::isfinite(size)) return std::nullopt;
    for (Index i = 0; i < v.size(); ++i) v[i] = static_cast<T>(static_cast<double>(v[i]) / size);
    v = ntk_product(architecture, parameters, some, some, v, threads);
    largest = norm(v);
  }
  if (!(largest > 0) || !std::isfinite(largest)) return std::nullopt;
  const double all = largest * static_cast<double>(x.count()) / static_cast<double>(some.count());
  return 2 / (lambda + *curvature * all);
}

template std::optional<double> stable_rate(const Architecture&, const Parameters<float>&, const Tensor<float>&,
                                           const Loss&, double, int);
template std::optional<double> stable_rate(const Architecture&, const Parameters<double>&, const Tensor<double>&,
                                           const Loss&, double, int);

}  // namespace widelimit
