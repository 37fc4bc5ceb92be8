#include "widelimit/analysis/spectrum.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Returns the eigenvalues of the matrix, largest first.
std::vector<double> symmetric_eigenvalues(const GramMatrix& k) {
  if (k.samples() > 40'000) fail(Code::resource, "{} rows are too many for eigenvalues", k.samples());
  if (k.samples() == 0) return {};
  std::vector<double> values = k.algebra().eigenvalues(k.algebra().copy_of(k.matrix(), Precision::f64), nullptr);
  std::reverse(values.begin(), values.end());
  return values;
}

void check_square(const GramMatrix& k) {
  if (k.matrix().rows() != k.matrix().cols()) {
    fail(Code::usage, "eigenvalues need a square matrix; this one is {} by {}", k.matrix().rows(), k.matrix().cols());
  }
  (void)k.asymmetry();
}

/// Rounding of the entries perturbs eigenvalues by up to n·ε·λ₁; a smaller λ_n is noise.
std::optional<double> condition_number(const std::vector<double>& values, double epsilon) {
  if (values.empty()) return std::nullopt;
  const double noise = static_cast<double>(values.size()) * epsilon * values.front();
  if (!(values.back() > noise)) return std::nullopt;
  return values.front() / values.back();
}

double participation(const std::vector<double>& values) {
  const double largest = values.empty() ? 0.0 : std::max(values.front(), -values.back());
  if (largest == 0.0) return 0.0;
  double sum = 0;
  double squares = 0;
  for (const double value : values) {
    sum += value / largest;
    squares += (value / largest) * (value / largest);
  }
  return sum * sum / squares;
}

}  // namespace

std::vector<double> eigenvalues(const GramMatrix& k) {
  check_square(k);
  return symmetric_eigenvalues(k);
}

Spectrum spectrum(const GramMatrix& k, const SpectrumOptions& options) {
  if (options.most < 1 || options.subset < 1) fail(Code::usage, "a spectrum needs at least one row");
  check_square(k);
  Spectrum result;
  result.of = k.samples();
  result.sampled = k.samples();
  if (result.of <= options.most) {
    result.eigenvalues = symmetric_eigenvalues(k);
  } else {
    std::vector<Index> chosen = permutation(result.of, options.seed);
    chosen.resize(usize(std::min(options.subset, result.of)));
    result.note = fmt::format("Of a random subset of {} of the {} samples.", chosen.size(), result.of);
    result.sampled = std::ssize(chosen);
    result.eigenvalues = symmetric_eigenvalues(k.part(chosen));
  }
  result.condition = condition_number(result.eigenvalues, k.epsilon());
  result.effective_dimension = participation(result.eigenvalues);
  return result;
}

}  // namespace widelimit
