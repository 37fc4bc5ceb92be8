#include "widelimit/kernel/entries.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace {

template <typename T>
void scan(const Matrix<T>& matrix, Entries& entries) {
  entries.smallest = std::numeric_limits<double>::infinity();
  entries.largest = -entries.smallest;
  const double count = static_cast<double>(matrix.rows()) * static_cast<double>(matrix.cols());
  for (Index i = 0; i < matrix.rows(); ++i) {
    double sum = 0;
    for (Index j = 0; j < matrix.cols(); ++j) {
      const auto value = static_cast<double>(matrix(i, j));
      if (!std::isfinite(value)) fail(Code::numerical, "entry ({}, {}) of the kernel is {}", i, j, value);
      entries.smallest = std::min(entries.smallest, value);
      entries.largest = std::max(entries.largest, value);
      sum += value / count;
    }
    entries.mean += sum;
  }
}

}  // namespace

Entries summarise(const AnyMatrix& matrix) {
  return std::visit(
      [](const auto& m) {
        Entries entries;
        entries.rows = m.rows();
        entries.cols = m.cols();
        if (m.rows() > 0 && m.cols() > 0) scan(m, entries);
        if (m.rows() == m.cols()) {
          double trace = 0;
          for (Index i = 0; i < m.rows(); ++i) trace += static_cast<double>(m(i, i));
          if (std::isfinite(trace)) entries.trace = trace;
        }
        return entries;
      },
      matrix);
}

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
  std::optional<std::pair<Index, Index>> invalid_entry;
  interruptible_rows(mean_.rows() * mean_.cols(), 1, [&](Index i) {
    root_.data()[i] = this->error(i);
    if (!invalid_entry && (!std::isfinite(mean_.data()[i]) || !std::isfinite(root_.data()[i]))) {
      invalid_entry = {i / mean_.cols(), i % mean_.cols()};
    }
  });
  mean = std::move(mean_);
  error = std::move(root_);
  return invalid_entry;
}

}  // namespace widelimit
