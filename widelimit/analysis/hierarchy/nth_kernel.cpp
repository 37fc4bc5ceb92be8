#include "widelimit/analysis/hierarchy/nth_kernel.hpp"

#include "widelimit/analysis/hierarchy/directions.hpp"
#include "widelimit/analysis/hierarchy/fourth_order.hpp"
#include "widelimit/analysis/hierarchy/replicates.hpp"
#include "widelimit/base/choice.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/finite/layers/tensor.hpp"
#include "widelimit/kernel/entries.hpp"
#include "widelimit/kernel/gram.hpp"
#include "widelimit/kernel/inputs.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/network/forms.hpp"
#include "widelimit/network/text.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

constexpr Index most_directions = Index{1} << 32U;

/// Returns dense σ dense with first-layer weights scaled such that units see w·x instead of w·x/√d.
Network two_layers(const Activation& activation, Index features) {
  return {{Layer(Dense{.w_std = std::sqrt(static_cast<double>(features))}), Layer(activation), Layer(Dense{})}};
}

void check_activation(const Activation& activation) {
  if (activation.phi == Phi::hermite) {
    fail(Code::usage, "the kernel formula of hermite holds only for inputs of variance 1; write it as a polynomial");
  }
  (void)jet(activation, 1.0);
}

/// Memory in bytes.
struct MemoryNeed {
  double least;
  double sums;  ///< of all replicates, which save time

  MemoryNeed(Index samples, Index points, Index features) {
    const auto count = [](Index value) { return static_cast<double>(value); };
    const double n = count(samples);
    least = sizeof(double) * (count(points) * (12 * n + 12 * count(Replicates::batch) + count(features)) + 6 * n * n);
    sums = sizeof(double) * count(Replicates::count) * count(points) * n;
  }
  [[nodiscard]] bool sums_fit(std::optional<std::size_t> limit) const {
    const auto room = limit ? limit : available_memory();
    return !room || least + sums <= static_cast<double>(*room);
  }
};

/// Returns all points as rows, the training samples first.
Matrix<double> points_of(const SampleView& x, const std::optional<SampleView>& test) {
  const Index features = x.shape.size();
  Matrix<double> points(x.count() + (test ? test->count() : 0), features, Content::unset);
  Index first = 0;
  const auto append = [&](const SampleView& samples) {
    const Tensor<double> rows = read_samples<double>(samples, samples.shape);
    std::copy_n(rows.data(), rows.size(), points.view().row(first));
    first += samples.count();
  };
  append(x);
  if (test) append(*test);
  return points;
}

double largest_entry(const Matrix<double>& a) {
  double largest = 0;
  for (Index i = 0; i < a.rows() * a.cols(); ++i) largest = std::max(largest, std::abs(a.data()[i]));
  return largest;
}

double relative_error(const EntryMoments& moments) {
  double error = 0;
  for (Index i = 0; i < moments.mean().rows() * moments.mean().cols(); ++i) error = std::max(error, moments.error(i));
  const double scale = largest_entry(moments.mean());
  return scale > 0 ? error / scale : 0.0;
}

struct Sampled {
  EntryMoments moments;
  Index size;  ///< directions per replicate
};

/// Samples the correction at m = 1; with a tolerance, doubles the replicates until it or the limit is reached.
Sampled sample_correction(Replicates& replicates, Index size, const NthOptions& options) {
  for (;; size *= 2) {
    EntryMoments moments = replicates.lengthened_to(size, options.progress);
    // Written such that an overflow, whose error is not a number, also ends the loop.
    const bool missed = options.tolerance && relative_error(moments) > *options.tolerance;
    if (!missed || 2 * size * Replicates::count > options.max_samples.value_or(NthOptions::default_max_samples))
      return {std::move(moments), size};
  }
}

/// Adds the correction, rows from `first` on, to Θ.
NthMatrix with_correction(const Gram& theta, const Matrix<double>& mean, const Matrix<double>& error, Index first,
                          double width) {
  const auto& ntk = std::get<Matrix<double>>(theta.ntk);
  NthMatrix result{
      .values = {ntk.rows(), ntk.cols()}, .error = {ntk.rows(), ntk.cols()}, .ntk = {ntk.rows(), ntk.cols()}};
  // Symmetrises the correction, which is symmetric up to rounding.
  const auto entry = [&](const Matrix<double>& a, Index i, Index j) {
    return theta.symmetric ? (a(i, j) + a(j, i)) / 2 : a(first + i, j);
  };
  interruptible_rows(ntk.rows(), ntk.cols(), [&](Index i) {
    for (Index j = 0; j < ntk.cols(); ++j) {
      result.ntk(i, j) = ntk(i, j);
      result.values(i, j) = ntk(i, j) + entry(mean, i, j) / width;
      result.error(i, j) = entry(error, i, j) / width;
    }
  });
  return result;
}

/// Relative size of the correction and of its error above which a remark is added.
constexpr double large_correction = 0.5;
constexpr double large_error = 0.1;

std::vector<NthRemark> remarks_on(const Activation& activation, const LabelWeights& weights, const NthKernel& found,
                                  const NthOptions& options) {
  std::vector<NthRemark> remarks;
  if (smoothness(activation) == Smoothness::kinked) {
    remarks.push_back({fmt::format(
        "{} has a kink: E[K4] is LA's definition, not the finite-width correction of such networks, which has an "
        "additional term of order 1/sqrt(m); erf, tanh and other smooth activations are validated on trained networks",
        to_string(activation.phi))});
  }
  if (weights.unlearnt > 0) {
    remarks.push_back(
        {fmt::format("{} of {} eigenvalues of the NTK are 0 up to rounding; labels in these directions are not "
                     "learned, and are omitted",
                     weights.unlearnt, weights.coefficients.size())});
  }
  if (found.relative_correction > large_correction) {
    remarks.push_back({fmt::format(
        "the correction is up to {:.2g} times the NTK at width {:g}: an expansion in 1/width requires a small "
        "correction; set the width of the network, or scale the samples down",
        found.relative_correction, options.width)});
  }
  if (!options.tolerance && found.relative_error > large_error) {
    remarks.push_back(
        {fmt::format("the standard error is {:.2g} of the correction after {} directions; take more directions",
                     found.relative_error, found.samples),
         {Remedy::more_directions}});
  }
  if (options.tolerance && found.relative_error > *options.tolerance) {
    remarks.push_back({fmt::format("the standard error is {:.2g} after {} directions, above the tolerance {:.2g}; "
                                   "allow at least {}",
                                   found.relative_error, found.samples, *options.tolerance, 2 * found.samples),
                       {Remedy::direction_limit}});
  }
  return remarks;
}

}  // namespace

void NthOptions::validate() const {
  if (samples < 2 * Replicates::count) {
    fail(Code::usage, {Remedy::more_directions}, "the number of directions is {}; standard errors need at least {}",
         samples, 2 * Replicates::count);
  }
  if (samples > most_directions) {
    fail(Code::usage, {Remedy::more_directions}, "the number of directions is {}; give at most 2^32", samples);
  }
  if (max_samples && !tolerance) {
    fail(Code::usage, {Remedy::direction_limit},
         "a limit on the number of directions has no effect without a tolerance; give the tolerance, or no limit");
  }
  if (max_samples && *max_samples > most_directions) {
    fail(Code::usage, {Remedy::direction_limit}, "the limit on directions is {}; give at most 2^32", *max_samples);
  }
  if (tolerance && !(*tolerance > 0)) fail(Code::usage, "tolerance is {}; it must be positive", *tolerance);
  if (!(width > 0) || !std::isfinite(width)) fail(Code::usage, "width is {}; it must be positive and finite", width);
}

Activation parse_activation(std::string_view text) {
  const std::string_view written = without_blanks(text);
  const std::string_view name = written.substr(0, written.find_first_of(" \t\r\n("));
  std::vector<std::string_view> known;
  for (const Form& form : forms()) {
    if (std::holds_alternative<Activation>(form.prototype.value)) known.push_back(form.name);
  }
  if (std::find(known.begin(), known.end(), name) == known.end()) {
    const std::string nearest = suggestion(name, known);
    fail(Code::usage, "unknown activation '{}'{}", name.substr(0, 40),
         nearest.empty() ? fmt::format("; activations are {}", fmt::join(known, ", ")) : nearest);
  }
  Network network;
  try {
    network = Network::parse(text);
  } catch (const Error& error) {
    fail(Code::usage, "activation '{}': {}", text, error.what());
  }
  if (network.layers.size() != 1) fail(Code::usage, "activation '{}' has several layers; give one activation", text);
  return std::get<Activation>(network.layers.front().value);
}

NthKernel nth_kernel(const Activation& activation, const SampleView& x, std::span<const double> y,
                     const std::optional<SampleView>& test, const NthOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  options.validate();
  check_activation(activation);
  (void)x.rows({"tangent hierarchies", "they belong to two-layer networks on vectors: give samples of numbers"});
  check_samples(x);
  if (x.count() == 0) fail(Code::input, "there are no training samples");
  if (x.shape.size() == 0) fail(Code::input, "samples have no features");
  if (test) check_same_shape(x, *test);
  if (std::ssize(y) != x.count()) fail(Code::input, "{} labels for {} samples", y.size(), x.count());
  check_targets({y.data(), x.count(), 1, 1}, x.count());
  const Index n = x.count();
  const Index features = x.shape.size();
  const Index all = n + (test ? test->count() : 0);
  const MemoryNeed need(n, all, features);
  require_memory(need.least, options.memory, "this kernel", "take fewer samples or test points",
                 {Remedy::fewer_samples, Remedy::more_memory});

  const Network network = two_layers(activation, features);
  const GramOptions how{.kind = Kind::ntk, .precision = Precision::f64, .progress = options.progress};
  const Gram theta = gram(network, x, how, engine);
  const LabelWeights weights = label_weights({view_of(theta.ntk), engine}, y, options.progress);
  const Matrix<double> points = points_of(x, test);
  const bool antithetic = !has_parity(activation);
  const Directions directions(points.view().block(0, 0, n, features), antithetic, options.seed, engine);
  FourthOrderSum sum(activation, points.view(), weights, engine);
  Replicates replicates(sum, directions, all, n, options.tolerance && need.sums_fit(options.memory));
  Index first_size = (options.samples + Replicates::count - 1) / Replicates::count;
  if (antithetic) first_size += first_size % 2;
  auto [moments, size] = sample_correction(replicates, first_size, options);

  NthKernel result;
  result.samples = Replicates::count * size;
  result.relative_error = relative_error(moments);
  Matrix<double> mean;
  Matrix<double> error;
  if (const auto pair = moments.finish(mean, error)) {
    fail(Code::numerical, "the correction of point {} against sample {} overflows; scale the samples down", pair->first,
         pair->second);
  }
  result.train = with_correction(theta, mean, error, 0, options.width);
  result.quadrature_error = theta.quadrature_error;
  const double scale = largest_entry(result.train.ntk);
  result.relative_correction = scale > 0 ? largest_entry(mean) / scale / options.width : 0.0;
  if (test) {
    const Gram cross = gram(network, *test, x, how, engine);
    result.test = with_correction(cross, mean, error, n, options.width);
    result.quadrature_error = std::max(result.quadrature_error, cross.quadrature_error);
  }
  result.remarks = remarks_on(activation, weights, result, options);
  result.seconds = seconds_since(start);
  return result;
}

}  // namespace widelimit
