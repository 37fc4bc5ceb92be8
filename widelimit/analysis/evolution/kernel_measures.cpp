#include "widelimit/analysis/evolution/kernel_measures.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

double largest_entry(std::span<const Matrix<double>> k) {
  double largest = 0;
  for (const Matrix<double>& each : k) {
    for (Index i = 0; i < each.rows() * each.cols(); ++i) {
      if (!std::isfinite(each.data()[i])) fail(Code::numerical, "a kernel has an entry that is not finite");
      largest = std::max(largest, std::fabs(each.data()[i]));
    }
  }
  return largest;
}

/// Returns ⟨K, L⟩ of kernels divided by their largest entries, so that squares neither overflow nor underflow.
double product(std::span<const Matrix<double>> k, double k_scale, std::span<const Matrix<double>> l, double l_scale) {
  double sum = 0;
  for (std::size_t o = 0; o < k.size(); ++o) {
    const double* a = k[o].data();
    const double* b = l[o].data();
    for (Index i = 0; i < k[o].rows() * k[o].cols(); ++i) sum += (a[i] / k_scale) * (b[i] / l_scale);
  }
  return sum;
}

}  // namespace

double kernel_distance(std::span<const Matrix<double>> k, std::span<const Matrix<double>> l) {
  bool fits = k.size() == l.size();
  for (std::size_t o = 0; fits && o < k.size(); ++o) {
    fits = k[o].rows() == l[o].rows() && k[o].cols() == l[o].cols();
  }
  if (!fits) fail(Code::usage, "kernel distance needs kernels of the same samples and outputs");
  const double k_scale = largest_entry(k);
  const double l_scale = largest_entry(l);
  if (k_scale == 0 || l_scale == 0) fail(Code::numerical, "kernel distance is undefined for a zero kernel");
  const double both = product(k, k_scale, l, l_scale);
  const double norms = std::sqrt(product(k, k_scale, k, k_scale)) * std::sqrt(product(l, l_scale, l, l_scale));
  return std::clamp(1 - both / norms, 0.0, 2.0);
}

double kernel_norm(std::span<const Matrix<double>> k) {
  const double scale = largest_entry(k);
  return scale == 0 ? 0.0 : scale * std::sqrt(product(k, scale, k, scale));
}

Matrix<double> mean_kernel(std::span<const Matrix<double>> k) {
  if (k.empty()) return {};
  Matrix<double> mean(k[0].rows(), k[0].cols());
  for (const Matrix<double>& each : k) {
    for (Index i = 0; i < mean.rows() * mean.cols(); ++i) {
      mean.data()[i] += each.data()[i] / static_cast<double>(k.size());
    }
  }
  return mean;
}

ClassMeans class_means(MatrixView<const double> k, std::span<const Index> labels) {
  if (k.rows != k.cols || k.rows != std::ssize(labels)) {
    fail(Code::input, "a kernel of {} by {} does not match {} labels", k.rows, k.cols, labels.size());
  }
  ClassMeans sums;
  double same = 0;
  double different = 0;
  for (Index i = 0; i < k.rows; ++i) {
    for (Index j = 0; j < k.cols; ++j) {
      const bool alike = labels[usize(i)] == labels[usize(j)];
      (alike ? sums.same : sums.different) += k(i, j);
      (alike ? same : different) += 1;
    }
    sums.diagonal += k(i, i);
  }
  if (different == 0) fail(Code::input, "all samples are of one class; class structure needs at least two");
  const ClassMeans means{sums.same / same, sums.different / different, sums.diagonal / static_cast<double>(k.rows)};
  if (!(means.diagonal > 0) || !std::isfinite(means.diagonal)) {
    fail(Code::numerical, "the mean of K(x, x) is {}; class structure needs a positive mean", means.diagonal);
  }
  return means;
}

}  // namespace widelimit
