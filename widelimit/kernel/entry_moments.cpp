#include "widelimit/kernel/entry_moments.hpp"

#include "widelimit/base/interruption.hpp"

#include <cmath>

namespace widelimit {

void EntryMoments::add(const Matrix<double>& value) {
  const auto n = static_cast<double>(++count_);
  interruptible_rows(mean_.rows() * mean_.cols(), 1, [&](Index i) {
    const double difference = value.data()[i] - mean_.data()[i];
    mean_.data()[i] += difference / n;
    root_.data()[i] = std::hypot(root_.data()[i], difference * std::sqrt((n - 1.0) / n));
  });
}

double EntryMoments::error(Index i) const {
  const auto n = static_cast<double>(count_);
  return root_.data()[i] / std::sqrt(n * (n - 1.0));
}

std::optional<std::pair<Index, Index>> EntryMoments::finish(Matrix<double>& mean, Matrix<double>& error) {
  std::optional<std::pair<Index, Index>> offender;
  interruptible_rows(mean_.rows() * mean_.cols(), 1, [&](Index i) {
    root_.data()[i] = this->error(i);
    if (!offender && (!std::isfinite(mean_.data()[i]) || !std::isfinite(root_.data()[i]))) {
      offender = {i / mean_.cols(), i % mean_.cols()};
    }
  });
  mean = std::move(mean_);
  error = std::move(root_);
  return offender;
}

}  // namespace widelimit
