#include "widelimit/analysis/spectrum/label_spectrum.hpp"

#include "widelimit/base/error.hpp"

#include <cmath>
#include <limits>

namespace widelimit {

namespace {

/// Labels with a larger fraction in the null space cannot be interpolated.
constexpr double null_share = 1e-12;
/// Largest exact integer in float64.
constexpr double most_steps = 9007199254740992.0;

}  // namespace

LabelSpectrum::LabelSpectrum(const KernelSpectrum& spectrum, MatrixView<const double> y)
    : eigenvalues_(spectrum.eigenvalues()),
      projections_(spectrum.project(y)),
      energy_(usize(spectrum.samples()), 0.0),
      rank_(spectrum.rank()) {
  double null_energy = 0;
  for (Index i = 0; i < spectrum.samples(); ++i) {
    double& own = energy_[usize(i)];
    for (Index c = 0; c < projections_.cols(); ++c) own += projections_(i, c) * projections_(i, c);
    total_ += own;
    if (i >= rank_) {
      eigenvalues_[usize(i)] = 0;
      null_energy += own;
    }
  }
  if (!(total_ > 0)) fail(Code::input, "all labels are 0; at least one must be nonzero");
  if (!std::isfinite(total_)) fail(Code::input, "the sum of squares of the labels exceeds float64; scale the labels");
  floor_ = null_energy / total_;
}

std::vector<double> LabelSpectrum::cumulative_energy() const {
  std::vector<double> shares;
  double sum = 0;
  for (const double own : energy_) shares.push_back((sum += own) / total_);
  return shares;
}

std::optional<double> LabelSpectrum::norm() const {
  if (floor_ > null_share) return std::nullopt;
  double sum = 0;
  for (Index i = 0; i < rank_; ++i) sum += energy_[usize(i)] / eigenvalues_[usize(i)];
  if (!std::isfinite(sum)) return std::nullopt;
  return sum;
}

std::optional<double> LabelSpectrum::complexity() const {
  const auto squared = norm();
  if (!squared) return std::nullopt;
  return std::sqrt(2 * *squared / static_cast<double>(energy_.size()));
}

double LabelSpectrum::loss(double time) const {
  if (!(time >= 0)) fail(Code::usage, "time {} is invalid; it must not be negative", time);
  double sum = 0;
  for (std::size_t i = 0; i < energy_.size(); ++i) {
    // Avoids 0·∞ in the null space.
    sum += eigenvalues_[i] == 0 ? energy_[i] : energy_[i] * std::exp(-2 * eigenvalues_[i] * time);
  }
  return sum;
}

double LabelSpectrum::loss_after(Index steps, double rate) const {
  if (steps < 0) fail(Code::usage, "the number of steps is {}; choose 0 or more", steps);
  if (!(rate > 0) || !std::isfinite(rate)) fail(Code::usage, "the learning rate is {}; it must be positive", rate);
  // Accepts 2/λ₁ up to rounding, at which the first direction keeps its error.
  if (rate * eigenvalues_.front() > 2 * (1 + 4 * std::numeric_limits<double>::epsilon())) {
    fail(Code::usage, "gradient descent at the rate {:.6g} diverges; choose one up to 2/λ₁ = {:.6g}", rate,
         2 / eigenvalues_.front());
  }
  double sum = 0;
  for (std::size_t i = 0; i < energy_.size(); ++i) {
    const double move = rate * eigenvalues_[i];
    // log|1 − ηλ|; log1p is accurate for slow directions.
    const double each = move < 1 ? std::log1p(-move) : std::log(std::abs(1 - move));
    sum += steps == 0 ? energy_[i] : energy_[i] * std::exp(2 * static_cast<double>(steps) * each);
  }
  return sum;
}

void LabelSpectrum::require_reachable(double epsilon) const {
  if (!(epsilon > 0)) fail(Code::usage, "ε is {}; it must be positive", epsilon);
  if (reaches(epsilon)) return;
  fail(Code::numerical,
       "the loss never falls to {:.3g} of its initial value: {} of the {} eigenvalues are 0 up to rounding, and a "
       "fraction {:.3g} of ‖y‖² lies in their eigenspace, which is never learned; choose a larger ε, remove repeated "
       "samples with different labels, or add to the diagonal of the kernel",
       epsilon, std::ssize(energy_) - rank_, energy_.size(), floor_);
}

double LabelSpectrum::time_to(double epsilon) const {
  require_reachable(epsilon);
  if (epsilon >= 1) return 0;
  const double aim = epsilon * total_;
  double high = 1 / eigenvalues_.front();
  while (loss(high) > aim) {
    high *= 2;
    if (!std::isfinite(high)) fail(Code::numerical, "the time to {:.3g} is beyond float64; scale the kernel", epsilon);
  }
  double low = 0;
  // The loss is decreasing in t; bisection ends at two adjacent floating-point numbers.
  for (double middle = high / 2; middle > low && middle < high; middle = low + (high - low) / 2) {
    (loss(middle) > aim ? low : high) = middle;
  }
  return high;
}

Index LabelSpectrum::steps_to(double epsilon, double rate) const {
  require_reachable(epsilon);
  if (epsilon >= 1) return 0;
  const double aim = epsilon * total_;
  Index high = 1;
  while (loss_after(high, rate) > aim) {
    if (static_cast<double>(high) >= most_steps) {
      fail(Code::numerical, "the loss needs more than 2⁵³ steps of size {:.3g} to fall to {:.3g} of its initial value",
           rate, epsilon);
    }
    high *= 2;
  }
  Index low = 0;
  while (high - low > 1) {
    const Index middle = low + (high - low) / 2;
    (loss_after(middle, rate) > aim ? low : high) = middle;
  }
  return high;
}

}  // namespace widelimit
