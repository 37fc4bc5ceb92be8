#include "widelimit/finite/tangent/largest_eigenvalue.hpp"

#include "widelimit/base/random.hpp"
#include "widelimit/finite/tangent/ntk_product.hpp"

#include <cmath>

namespace widelimit {

namespace {

template <std::floating_point T>
double norm(const Tensor<T>& v) {
  double sum = 0;
  for (const T value : v.values()) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

}  // namespace

template <std::floating_point T>
std::optional<double> largest_eigenvalue(const Architecture& architecture, const Parameters<T>& parameters,
                                         const Tensor<T>& x, const PowerMethodOptions& options, const Engine& engine,
                                         Progress* progress) {
  Tensor<T> v(x.count(), architecture.output);
  Random(0).normals(0, v.size(), 1.0, v.data());
  double largest = 0;
  for (int step = 0; step < options.max_iterations; ++step) {
    stop_if_asked(progress);
    const double size = norm(v);
    if (!(size > 0) || !std::isfinite(size)) return std::nullopt;
    for (Index i = 0; i < v.size(); ++i) v[i] = static_cast<T>(static_cast<double>(v[i]) / size);
    v = ntk_product(architecture, parameters, x, x, v, engine, progress);
    const double next = norm(v);
    const bool settled = std::fabs(next - largest) <= options.tolerance * next;
    largest = next;
    if (settled && options.tolerance > 0) break;
  }
  return largest > 0 && std::isfinite(largest) ? std::optional(largest) : std::nullopt;
}

template std::optional<double> largest_eigenvalue(const Architecture&, const Parameters<float>&, const Tensor<float>&,
                                                  const PowerMethodOptions&, const Engine&, Progress*);
template std::optional<double> largest_eigenvalue(const Architecture&, const Parameters<double>&, const Tensor<double>&,
                                                  const PowerMethodOptions&, const Engine&, Progress*);

}  // namespace widelimit
