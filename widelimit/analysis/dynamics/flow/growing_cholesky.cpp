#include "widelimit/analysis/dynamics/flow/growing_cholesky.hpp"

#include "widelimit/engine/host/host.hpp"

#include <cmath>

namespace widelimit {

void GrowingCholesky::forward(std::span<double> beside) const {
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    const std::vector<double>& row = rows_[i];
    beside[i] = (beside[i] - host::dot({row.data(), i}, {beside.data(), i})) / row[i];
  }
}

void GrowingCholesky::backward(std::span<double> x) const {
  for (std::size_t i = rows_.size(); i-- > 0;) {
    const std::vector<double>& row = rows_[i];
    x[i] /= row[i];
    host::axpy(-x[i], {row.data(), i}, {x.data(), i});
  }
}

void GrowingCholesky::append(std::span<const double> x, double pivot) {
  std::vector<double> row(x.begin(), x.end());
  row.push_back(std::sqrt(pivot));
  rows_.push_back(std::move(row));
}

void GrowingCholesky::remove(Index k) {
  rows_.erase(rows_.begin() + k);
  // Row j has one entry too many: a rotation of columns j and j + 1 annihilates it and updates the rows below.
  for (auto j = static_cast<std::size_t>(k); j < rows_.size(); ++j) {
    const double length = std::hypot(rows_[j][j], rows_[j][j + 1]);
    const double c = rows_[j][j] / length;
    const double s = rows_[j][j + 1] / length;
    rows_[j][j] = length;
    rows_[j].pop_back();
    for (std::size_t i = j + 1; i < rows_.size(); ++i) {
      const double a = rows_[i][j];
      const double b = rows_[i][j + 1];
      rows_[i][j] = c * a + s * b;
      rows_[i][j + 1] = c * b - s * a;
    }
  }
}

}  // namespace widelimit
