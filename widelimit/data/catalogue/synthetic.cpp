#include "widelimit/data/catalogue/synthetic.hpp"

#include "widelimit/base/random.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace widelimit {

namespace {

constexpr std::uint64_t place_stream = 1;
constexpr std::uint64_t noise_stream = 2;
constexpr std::uint64_t cloud_stream = 3;

/// Archimedean spiral arms r = t, half a turn apart.
void spiral(double t, int side, const SyntheticOptions& options, std::uint64_t, double* xy) {
  const double angle = 2 * std::numbers::pi * options.turns * t + std::numbers::pi * side;
  xy[0] = t * std::cos(angle);
  xy[1] = t * std::sin(angle);
}

/// Circles of radius 1 and ½.
void circle(double t, int side, const SyntheticOptions&, std::uint64_t, double* xy) {
  const double radius = side == 0 ? 1.0 : 0.5;
  xy[0] = radius * std::cos(2 * std::numbers::pi * t);
  xy[1] = radius * std::sin(2 * std::numbers::pi * t);
}

/// Upper half circle, and lower half circle shifted by (1, ½).
void moon(double t, int side, const SyntheticOptions&, std::uint64_t, double* xy) {
  const double angle = std::numbers::pi * t;
  xy[0] = side == 0 ? std::cos(angle) : 1 - std::cos(angle);
  xy[1] = side == 0 ? std::sin(angle) : 0.5 - std::sin(angle);
}

/// Unit-variance Gaussians centred at (−1, −1) and (1, 1).
void gaussian(double, int side, const SyntheticOptions& options, std::uint64_t index, double* xy) {
  const Random random(options.seed, cloud_stream);
  const double centre = side == 0 ? -1 : 1;
  xy[0] = centre + random.normal(2 * index);
  xy[1] = centre + random.normal(2 * index + 1);
}

constexpr std::array<Synthetic, 4> synthetic_table{{
    {"spirals", "two interleaved spirals in the plane", 0.02, spiral},
    {"circles", "a circle inside another", 0.05, circle},
    {"moons", "two interleaved half circles", 0.1, moon},
    {"gaussians", "two overlapping normal clouds", 0.0, gaussian},
}};

}  // namespace

std::span<const Synthetic> synthetics() { return synthetic_table; }

Dataset make_synthetic(const Synthetic& kind, const SyntheticOptions& options) {
  constexpr Index most = Index{1} << 24;
  if (options.n < 2 || options.n > most) {
    fail(Code::usage, "{}: n = {} samples; give 2 to {}", kind.name, options.n, most);
  }
  if (!std::isfinite(options.noise) || !std::isfinite(options.turns) || std::abs(options.noise) > 1e100 ||
      std::abs(options.turns) > 1e6) {
    fail(Code::usage, "{}: noise {} or turns {} is out of range", kind.name, options.noise, options.turns);
  }
  const double noise = options.noise < 0 ? kind.noise : options.noise;
  const Random places(options.seed, place_stream);
  const Random noise_source(options.seed, noise_stream);
  Dataset data;
  data.name = kind.name;
  data.shape = {1, 1, 2};
  data.class_names = {"0", "1"};
  Matrix<double> matrix(options.n, 2);
  for (Index i = 0; i < options.n; ++i) {
    const auto index = static_cast<std::uint64_t>(i);
    const int side = static_cast<int>(i % 2);
    double* xy = matrix.view().row(i);
    kind.point(places.uniform(index), side, options, index, xy);
    xy[0] += noise * noise_source.normal(2 * index);
    xy[1] += noise * noise_source.normal(2 * index + 1);
    data.labels.push_back(side);
  }
  data.values = std::move(matrix);
  return data;
}

}  // namespace widelimit
