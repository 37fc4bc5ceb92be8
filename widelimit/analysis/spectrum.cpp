#include "widelimit/analysis/spectrum.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

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

namespace {

double largest_entry(const AnyMatrix& matrix) {
  return std::visit(
      [](const auto& m) {
        double largest = 0;
        for (Index k = 0; k < m.rows() * m.cols(); ++k) {
          largest = std::max(largest, std::fabs(static_cast<double>(m.data()[k])));
        }
        return largest;
      },
      matrix);
}

void check_labels(const AnyMatrix& gram, Index labels) {
  std::visit(
      [&](const auto& m) {
        if (m.rows() != m.cols() || m.rows() != labels) {
          fail(Code::usage, "a matrix of {} by {} does not match {} labels", m.rows(), m.cols(), labels);
        }
      },
      gram);
}

/// ‖YᵀY‖ = ‖YYᵀ‖.
double outer_norm(const Matrix<double>& targets) {
  double squares = 0;
  for (Index a = 0; a < targets.cols(); ++a) {
    for (Index b = 0; b < targets.cols(); ++b) {
      double product = 0;
      for (Index i = 0; i < targets.rows(); ++i) product += targets(i, a) * targets(i, b);
      squares += product * product;
    }
  }
  return std::sqrt(squares);
}

}  // namespace

double alignment(const AnyMatrix& gram, const Matrix<double>& targets) {
  check_labels(gram, targets.rows());
  const double scale = largest_entry(gram);
  const double target_norm = outer_norm(targets);
  if (scale == 0.0 || target_norm == 0.0) return 0.0;
  return std::visit(
      [&](const auto& k) {
        double product = 0;
        double squares = 0;
        for (Index i = 0; i < k.rows(); ++i) {
          for (Index j = 0; j < k.cols(); ++j) {
            const double entry = static_cast<double>(k(i, j)) / scale;
            double together = 0;
            for (Index c = 0; c < targets.cols(); ++c) together += targets(i, c) * targets(j, c);
            product += entry * together;
            squares += entry * entry;
          }
        }
        return product / (std::sqrt(squares) * target_norm);
      },
      gram);
}

double neighbour_accuracy(const AnyMatrix& gram, std::span<const Index> labels) {
  check_labels(gram, std::ssize(labels));
  if (labels.size() < 2) return 0.0;
  return std::visit(
      [&](const auto& k) {
        Index right = 0;
        for (Index i = 0; i < k.rows(); ++i) {
          Index nearest = 0;
          double least = std::numeric_limits<double>::infinity();
          for (Index j = 0; j < k.cols(); ++j) {
            // Half the squared distance up to a constant; the factor ½ avoids overflow near the largest double.
            const double distance = 0.5 * static_cast<double>(k(j, j)) - static_cast<double>(k(i, j));
            if (j == i || distance >= least) continue;
            least = distance;
            nearest = j;
          }
          right += labels[static_cast<std::size_t>(i)] == labels[static_cast<std::size_t>(nearest)] ? 1 : 0;
        }
        return static_cast<double>(right) / static_cast<double>(k.rows());
      },
      gram);
}

}  // namespace widelimit
