#include "widelimit/analysis/dynamics/descent.hpp"

#include "widelimit/engine/host/host.hpp"

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

namespace widelimit {

namespace {

constexpr double beyond_doubt = 1e30;
/// Rank-one updates of K l' between two full products.
constexpr Index updates_between_products = 256;

/// m ← a·m − b·by.
void scale_and_subtract(Matrix<double>& m, double a, double b, const Matrix<double>& by) {
  for (Index i = 0; i < m.rows() * m.cols(); ++i) m.data()[i] = a * m.data()[i] - b * by.data()[i];
}

}  // namespace

Descent::Descent(const GramMatrix& k, const DynamicsInput& input, const Start& start, Batches batches)
    : k_(k),
      columns_(k),
      input_(input),
      batches_(std::move(batches)),
      offset_(dense_or_zero(start.offset, input.samples, input.targets.cols)),
      alpha_(dense_or_zero(start.alpha, input.samples, input.targets.cols)),
      g_(input.samples, input.targets.cols),
      slopes_(input.samples, input.targets.cols),
      product_(input.samples, input.targets.cols) {
  (void)recursion_error();
}

void Descent::slopes_of(Index sample, double* slopes) const {
  const auto width = static_cast<std::size_t>(input_.targets.cols);
  loss_slopes(input_.loss, {g_.view().row(sample), width}, {input_.targets.row(sample), width}, {slopes, width});
}

void Descent::add_row(Index sample, const double* change, double scale, Matrix<double>& product) {
  host::add_outer(scale, {columns_.column(sample), usize(input_.samples)}, {change, usize(input_.targets.cols)},
                  product.view());
}

void Descent::full_step(double eta) {
  const Index width = input_.targets.cols;
  Matrix<double> now(input_.samples, width, Content::unset);
  std::vector<Index> changed;
  for (Index i = 0; i < input_.samples; ++i) {
    slopes_of(i, now.view().row(i));
    if (!std::equal(now.view().row(i), now.view().row(i) + width, slopes_.view().row(i))) changed.push_back(i);
  }
  // A loss with kinks changes few slopes a step, and a symmetric K gives its columns as rows.
  const bool few = 4 * std::ssize(changed) < input_.samples && updates_ < updates_between_products;
  if (few) {
    std::vector<double> change(static_cast<std::size_t>(width));
    for (const Index i : changed) {
      for (Index j = 0; j < width; ++j) change[static_cast<std::size_t>(j)] = now(i, j) - slopes_(i, j);
      add_row(i, change.data(), 1.0, product_);
    }
    updates_ += std::ssize(changed);
  } else {
    k_.multiply(now.data(), product_.data(), width);
    updates_ = 0;
  }
  slopes_ = std::move(now);
  const double kept = 1 - eta * input_.lambda;
  scale_and_subtract(alpha_, kept, eta, slopes_);
  scale_and_subtract(g_, kept, eta, product_);
}

void Descent::batch_step(double eta, const std::vector<Index>& batch) {
  const Index width = input_.targets.cols;
  const double weight = eta * static_cast<double>(input_.samples) / static_cast<double>(batch.size());
  Matrix<double> slopes(std::ssize(batch), width, Content::unset);
  for (Index b = 0; b < slopes.rows(); ++b) slopes_of(batch[static_cast<std::size_t>(b)], slopes.view().row(b));
  const double kept = 1 - eta * input_.lambda;
  std::for_each_n(alpha_.data(), input_.samples * width, [&](double& a) { a *= kept; });
  std::for_each_n(g_.data(), input_.samples * width, [&](double& g) { g *= kept; });
  for (Index b = 0; b < slopes.rows(); ++b) {
    const Index i = batch[static_cast<std::size_t>(b)];
    const double* slope = slopes.view().row(b);
    if (std::all_of(slope, slope + width, [](double s) { return s == 0; })) continue;
    for (Index j = 0; j < width; ++j) alpha_(i, j) -= weight * slope[j];
    add_row(i, slope, -weight, g_);
  }
}

bool Descent::step(double eta) {
  const std::vector<Index>& batch = batches_.of(steps_);
  if (batches_.full()) {
    full_step(eta);
  } else {
    batch_step(eta, batch);
  }
  offset_left_ *= 1 - eta * input_.lambda;
  ++steps_;
  return std::all_of(g_.data(), g_.data() + input_.samples * input_.targets.cols,
                     [](double g) { return std::abs(g) <= beyond_doubt; });
}

double Descent::recursion_error() {
  const Index entries = input_.samples * input_.targets.cols;
  Matrix<double> solution(input_.samples, input_.targets.cols, Content::unset);
  k_.multiply(alpha_.data(), solution.data(), input_.targets.cols);
  double error = 0;
  double largest = 0;
  for (Index i = 0; i < entries; ++i) {
    solution.data()[i] += offset_left_ * offset_.data()[i];
    error = std::max(error, std::abs(solution.data()[i] - g_.data()[i]));
    largest = std::max(largest, std::abs(solution.data()[i]));
  }
  g_ = std::move(solution);
  return largest > 0 ? error / largest : error;
}

}  // namespace widelimit
