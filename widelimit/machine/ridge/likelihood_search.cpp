#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/machine/fit.hpp"
#include "widelimit/machine/iteration_progress.hpp"
#include "widelimit/machine/ridge/marginal_likelihood.hpp"
#include "widelimit/machine/ridge/projected_bfgs.hpp"
#include "widelimit/network/weight_std.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

namespace widelimit {

namespace {

constexpr std::size_t parameter_count = 3;
using Triple = std::array<double, parameter_count>;
constexpr std::array<std::string_view, parameter_count> parameter_names{"w_std", "b_std", "noise"};
/// Factor by which random starts differ from the first: the kernel scales with w_std to the power of twice the depth.
constexpr Triple start_spread{2, 10, 10};
constexpr double usual_b_std = 0.1;
constexpr double usual_noise_share = 0.1;
constexpr ParameterRange usual_noise_range{1e-6, 10};
/// Relative error of ∂K; in the gradient, A⁻¹ amplifies it by the condition number of A.
constexpr double slope_rounding = 1.2e-12;
/// Largest gradient per target that counts as rounding: a gradient g can raise log p by about g²/2 per target, which is
/// negligible below this value.
constexpr double largest_hidden_gradient = 1e-3;

ProcessParameters parameters_of(const Triple& t) { return {t[0], t[1], t[2]}; }

double mean_square(MatrixView<const double> targets) {
  double sum = 0;
  for (Index i = 0; i < targets.rows; ++i) {
    for (Index j = 0; j < targets.cols; ++j) sum += targets(i, j) * targets(i, j);
  }
  const double mean = sum / static_cast<double>(targets.rows * targets.cols);
  return mean > 0 && std::isfinite(mean) ? mean : 1.0;
}

void check_range(std::string_view name, const ParameterRange& range) {
  const bool fixed_at_zero = range.lower == 0 && range.upper == 0 && name != "w_std";
  if (fixed_at_zero) return;
  if (!std::isfinite(range.upper) || !(range.lower > 0) || !(range.lower <= range.upper)) {
    fail(Code::input, "{} between {} and {}; the bounds must be positive, finite and in ascending order{}", name,
         range.lower, range.upper, name == "w_std" ? "" : ", or both 0");
  }
}

/// The negative log likelihood per target as a function of the logarithms of the free parameters.
class LikelihoodSearch {
 public:
  LikelihoodSearch(const Network& network, const SampleView& x, MatrixView<const double> targets,
                   const LikelihoodSearchOptions& options, const Engine& engine)
      : network_(network),
        x_(x),
        targets_(targets),
        options_(options),
        engine_(engine),
        scale_(1 / static_cast<double>(targets.rows * targets.cols)),
        progress_(options.progress, options.starts * options.max_iterations) {
    const double size = mean_square(targets);
    ranges_ = {
        options.w_std_range, options.b_std_range,
        options.noise_range.value_or(ParameterRange{usual_noise_range.lower * size, usual_noise_range.upper * size})};
    const WeightStd own = first_std(network).value_or(WeightStd{});
    first_ = {options.w_std.value_or(own.w_std), options.b_std.value_or(own.b_std > 0 ? own.b_std : usual_b_std),
              options.noise.value_or(usual_noise_share * size)};
    for (std::size_t p = 0; p < parameter_count; ++p) {
      check_range(parameter_names[p], ranges_[p]);
      first_[p] = std::clamp(first_[p], ranges_[p].lower, ranges_[p].upper);
      if (ranges_[p].lower == ranges_[p].upper) continue;
      moving_.push_back(p);
      box_.lower.push_back(std::log(ranges_[p].lower));
      box_.upper.push_back(std::log(ranges_[p].upper));
    }
    if (moving_.empty()) fail(Code::input, "w_std, b_std and noise are all fixed; at least one must vary");
    box_.tolerance = options.tolerance;
    box_.max_iterations = options.max_iterations;
  }

  [[nodiscard]] Triple start(Index number) const {
    Triple from = first_;
    const Random random(options_.seed, static_cast<std::uint64_t>(number));
    for (const std::size_t p : moving_) {
      if (number > 0) from[p] *= std::pow(start_spread[p], 2 * random.uniform(p) - 1);
      from[p] = std::clamp(from[p], ranges_[p].lower, ranges_[p].upper);
    }
    return from;
  }

  [[nodiscard]] LikelihoodStart climb(Index number) {
    const Triple from = start(number);
    LikelihoodStart result{.from = parameters_of(from), .to = parameters_of(from), .from_value = {}, .value = {}};
    std::vector<double> logs;
    for (const std::size_t p : moving_) logs.push_back(std::log(from[p]));
    const BoxObjective objective = [&](std::span<const double> x, bool gradient) { return at(from, x, gradient); };
    first_step_ = number * options_.max_iterations;
    evaluations_ = 0;
    const std::optional<BoxMinimum> found = minimise_in_box(objective, logs, box_);
    progress_.at(first_step_ + options_.max_iterations);
    if (!found) {
      result.ending = Ending::not_positive_definite;
      return result;
    }
    result.to = parameters_of(moved(from, found->x));
    result.from_value = -found->first_value / scale_;
    result.value = -found->value / scale_;
    result.gradient = found->projected_gradient;
    result.iterations = found->iterations;
    result.rounded = found->stalled && is_hidden(result);
    result.ending = found->converged || result.rounded ? Ending::converged : Ending::iteration_limit;
    return result;
  }

  [[nodiscard]] Network network_at(const ProcessParameters& p) const { return with_std(network_, {p.w_std, p.b_std}); }
  [[nodiscard]] MarginalLikelihood likelihood_at(const ProcessParameters& p, bool gradient, bool diagnose) {
    return marginal_likelihood(network_at(p), x_, targets_,
                               {.kind = options_.kind,
                                .noise = p.noise,
                                .gradient = gradient,
                                .diagnose = diagnose,
                                .memory = options_.memory,
                                .progress = progress_.get()},
                               engine_);
  }

 private:
  /// Whether the remaining gradient is within its rounding error.
  [[nodiscard]] bool is_hidden(const LikelihoodStart& start) {
    const double condition = likelihood_at(start.to, false, false).summary.condition.value_or(0);
    return start.gradient <= std::min(slope_rounding * condition, largest_hidden_gradient);
  }

  [[nodiscard]] Triple moved(Triple from, std::span<const double> logs) const {
    for (std::size_t k = 0; k < moving_.size(); ++k) {
      const ParameterRange& range = ranges_[moving_[k]];
      // Rounding: exp(log b) may differ from b.
      from[moving_[k]] = logs[k] <= box_.lower[k]   ? range.lower
                         : logs[k] >= box_.upper[k] ? range.upper
                                                    : std::clamp(std::exp(logs[k]), range.lower, range.upper);
    }
    return from;
  }

  [[nodiscard]] std::optional<ObjectiveAt> at(const Triple& from, std::span<const double> logs, bool gradient) {
    // An iteration takes at least two evaluations: without and with gradient.
    progress_.at(first_step_ + std::min(++evaluations_ / 2, options_.max_iterations - 1));
    try {
      const MarginalLikelihood found = likelihood_at(parameters_of(moved(from, logs)), gradient, false);
      if (!found.summary.converged()) return std::nullopt;
      ObjectiveAt result{-scale_ * found.value, {}};
      for (const std::size_t p : moving_) result.gradient.push_back(-scale_ * found.gradient[p]);
      return result;
    } catch (const Error& error) {
      // The kernel overflows float64; a step of the search may cause that.
      if (error.code() == Code::numerical) return std::nullopt;
      throw;
    }
  }

  const Network& network_;
  const SampleView& x_;
  MatrixView<const double> targets_;
  const LikelihoodSearchOptions& options_;
  const Engine& engine_;
  double scale_;
  IterationProgress progress_;
  Index first_step_ = 0;  ///< of the current start
  Index evaluations_ = 0;
  std::array<ParameterRange, parameter_count> ranges_;
  Triple first_{};
  std::vector<std::size_t> moving_;  ///< parameters that are not fixed
  BfgsOptions box_;
};

/// Returns the start with the largest likelihood, or nullptr if none has one.
const LikelihoodStart* best_start(const std::vector<LikelihoodStart>& starts) {
  const LikelihoodStart* best = nullptr;
  for (const LikelihoodStart& start : starts) {
    if (start.value && (best == nullptr || *start.value > *best->value)) best = &start;
  }
  return best;
}

}  // namespace

void LikelihoodSearchOptions::validate() const {
  if (kind == Kind::both) fail(Code::usage, "a Gaussian process has one covariance; choose nngp or ntk");
  if (starts < 1 || max_iterations < 1) fail(Code::input, "a search needs at least one start and one iteration");
  if (!(tolerance > 0)) fail(Code::input, "the tolerance is {}; it must be positive", tolerance);
  for (const auto& given : {w_std, b_std, noise}) {
    if (given && !(std::isfinite(*given) && *given >= 0)) {
      fail(Code::input, "the starting value is {}; w_std, b_std and noise must be finite and not negative", *given);
    }
  }
}

LikelihoodOptimum optimise_marginal_likelihood(const Network& network, const SampleView& x,
                                               MatrixView<const double> targets, const LikelihoodSearchOptions& options,
                                               const Engine& engine) {
  const auto begin = Clock::now();
  options.validate();
  check_targets(targets, x.count());
  if (count_weight_layers(network) == 0)
    fail(Code::input, "the network has no weight layer, hence no w_std to optimise");
  LikelihoodSearch search(network, x, targets, options, engine);
  LikelihoodOptimum result;
  for (Index number = 0; number < options.starts; ++number) result.starts.push_back(search.climb(number));
  const LikelihoodStart* best = best_start(result.starts);
  result.parameters = best != nullptr ? best->to : result.starts.front().from;
  result.network = search.network_at(result.parameters);
  const MarginalLikelihood found = search.likelihood_at(result.parameters, true, true);
  result.value = found.value;
  result.gradient = found.gradient;
  result.quadrature_error = found.quadrature_error;
  Summary& summary = result.summary = found.summary;
  summary.method = fmt::format("projected BFGS in log-parameters, {} start{}; {}", options.starts,
                               options.starts == 1 ? "" : "s", found.summary.method);
  if (best == nullptr) summary.ending = Ending::not_positive_definite;
  summary.iterations = 0;
  for (const LikelihoodStart& start : result.starts) summary.iterations += start.iterations;
  if (best != nullptr) {
    summary.gradient = best->gradient;
    summary.ending = best->ending;
    if (best->rounded) {
      summary.message =
          fmt::format("the gradient is within its rounding error: K + σ²I has a condition number of {:.1g}",
                      summary.condition.value_or(0));
    }
    if (best->ending == Ending::iteration_limit) {
      summary.message =
          best->iterations < options.max_iterations
              ? "no step increases the likelihood: its rounding error, or the boundary of the region where "
                "K + σ²I has a factor, is reached; allow more noise or a larger tolerance"
              : "the iteration limit is reached; allow more iterations, or start from the parameters found";
    }
  }
  summary.seconds = seconds_since(begin);
  return result;
}

}  // namespace widelimit
