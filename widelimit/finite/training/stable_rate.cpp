#include "widelimit/finite/training/stable_rate.hpp"

#include "widelimit/finite/tangent/ntk_product.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

constexpr Index most_samples = 256;
constexpr int power_steps = 8;
constexpr double least_curvature = 1;
constexpr double kinked_curvature = 10;

/// Maximum distance of the first step, relative to the norm of the smallest layer.
constexpr double longest_move = 0.2;
/// Maximum change of a layer's output in a step of Adam, relative to its initial output.
constexpr double adaptive_move = 0.5;

/// Returns the smallest initial norm of the weights of a trained layer.
double smallest_layer(const Architecture& architecture) {
  double smallest = std::numeric_limits<double>::infinity();
  for (const WeightSlot& slot : architecture.slots) {
    const double size = slot.w_start * std::sqrt(static_cast<double>(slot.fan_in) * static_cast<double>(slot.fan_out));
    if (slot.trained && size > 0) smallest = std::min(smallest, size);
  }
  return smallest;
}

/// λ_max of (n/|B|)·Θ̂(B, B), also for the full batch; std::nullopt if it is not positive and finite.
template <std::floating_point T>
std::optional<double> largest_of_batch(const Architecture& architecture, const Parameters<T>& parameters,
                                       const Tensor<T>& x, const RateProblem& problem, const Engine& engine) {
  const Index batch = problem.batch == 0 ? x.count() : std::min(problem.batch, x.count());
  if (batch == 0) return std::nullopt;
  Tensor<T> some(std::min(most_samples, batch), x.shape());
  std::copy_n(x.data(), some.size(), some.data());
  const std::optional<double> largest =
      largest_eigenvalue(architecture, parameters, some, {power_steps, 0}, engine, problem.progress);
  if (!largest) return std::nullopt;
  return *largest * static_cast<double>(x.count()) / static_cast<double>(some.count());
}

}  // namespace

double descent_curvature(LossKind kind) {
  const std::optional<double> own = largest_curvature(kind);
  return own ? std::max(*own, least_curvature) : kinked_curvature;
}

template <std::floating_point T>
std::optional<double> stable_rate(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                                  const RateProblem& problem, const Engine& engine) {
  const std::optional<double> curvature = largest_curvature(problem.loss.kind);
  if (!curvature) return std::nullopt;
  const std::optional<double> largest = largest_of_batch(architecture, parameters, x, problem, engine);
  return largest ? std::optional(2 / (problem.lambda + *curvature * *largest)) : std::nullopt;
}

template <std::floating_point T>
double default_rate(const Architecture& architecture, const Parameters<T>& parameters, const Tensor<T>& x,
                    const RateProblem& problem, const Engine& engine) {
  const std::optional<double> largest = largest_of_batch(architecture, parameters, x, problem, engine);
  const double curvature = largest ? descent_curvature(problem.loss.kind) * *largest : 1.0;
  const bool batches = problem.batch > 0 && problem.batch < x.count();
  const double rate = 1 / (problem.lambda + (batches ? 2 * curvature : curvature));
  if (!largest || problem.slope == 0) return rate;
  const double gradient = problem.slope * std::sqrt(static_cast<double>(x.count()) * *largest);
  return std::min(rate, longest_move * smallest_layer(architecture) / gradient);
}

double adaptive_rate(const Architecture& architecture) {
  double rate = std::numeric_limits<double>::infinity();
  for (const WeightSlot& slot : architecture.slots) {
    if (!slot.trained || !(slot.w_start > 0)) continue;
    rate = std::min(rate, adaptive_move * slot.w_start / std::sqrt(static_cast<double>(slot.fan_in)));
  }
  return std::isfinite(rate) ? rate : adaptive_move;
}

template std::optional<double> stable_rate(const Architecture&, const Parameters<float>&, const Tensor<float>&,
                                           const RateProblem&, const Engine&);
template std::optional<double> stable_rate(const Architecture&, const Parameters<double>&, const Tensor<double>&,
                                           const RateProblem&, const Engine&);
template double default_rate(const Architecture&, const Parameters<float>&, const Tensor<float>&, const RateProblem&,
                             const Engine&);
template double default_rate(const Architecture&, const Parameters<double>&, const Tensor<double>&, const RateProblem&,
                             const Engine&);

}  // namespace widelimit
