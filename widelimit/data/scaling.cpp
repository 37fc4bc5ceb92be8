#include "widelimit/data/scaling.hpp"

#include "widelimit/base/interruption.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 5> names{"none", "unit", "standard", "minmax", "byte"};

/// Range of one column.
struct Range {
  double low;
  double high;
};

template <typename T>
std::vector<Range> column_ranges(const Matrix<T>& m) {
  std::vector<Range> ranges(static_cast<std::size_t>(m.cols()), {0, 0});
  for (Index j = 0; j < m.cols() && m.rows() > 0; ++j) {
    ranges[static_cast<std::size_t>(j)] = {static_cast<double>(m(0, j)), static_cast<double>(m(0, j))};
  }
  interruptible_rows(m.rows(), m.cols(), [&](Index i) {
    for (Index j = 0; j < m.cols(); ++j) {
      const auto x = static_cast<double>(m(i, j));
      Range& range = ranges[static_cast<std::size_t>(j)];
      range = {std::min(range.low, x), std::max(range.high, x)};
    }
  });
  return ranges;
}

/// Mean and standard deviation of each column, in units of its largest magnitude `unit`.
template <typename T>
void learn_moments(const Matrix<T>& m, const std::vector<Range>& ranges, std::vector<double>& shift,
                   std::vector<double>& scale) {
  const std::size_t columns = ranges.size();
  std::vector<double> unit(columns);
  std::vector<double> mean(columns, 0);
  std::vector<double> square(columns, 0);
  for (std::size_t j = 0; j < columns; ++j) {
    unit[j] = std::max(std::abs(ranges[j].low), std::abs(ranges[j].high));
    if (unit[j] == 0) unit[j] = 1;
  }
  // Welford's update: one pass, and no cancellation where the mean is far larger than the deviation.
  interruptible_rows(m.rows(), m.cols(), [&](Index i) {
    const double count = static_cast<double>(i) + 1;
    for (std::size_t j = 0; j < columns; ++j) {
      const double x = static_cast<double>(m(i, static_cast<Index>(j))) / unit[j];
      const double step = x - mean[j];
      mean[j] += step / count;
      square[j] += step * (x - mean[j]);
    }
  });
  for (std::size_t j = 0; j < columns; ++j) {
    if (ranges[j].low == ranges[j].high) {
      shift[j] = ranges[j].low;  // exactly: the mean of equal numbers may round
      continue;
    }
    shift[j] = mean[j] * unit[j];
    scale[j] = std::sqrt(square[j] / static_cast<double>(m.rows())) * unit[j];
  }
}

template <typename T>
void normalise_row(T* row, Index columns) {
  double largest = 0;
  for (Index j = 0; j < columns; ++j) largest = std::max(largest, std::abs(static_cast<double>(row[j])));
  if (largest == 0) return;
  double sum = 0;
  for (Index j = 0; j < columns; ++j) sum += std::pow(static_cast<double>(row[j]) / largest, 2);
  const double norm = std::sqrt(sum);
  for (Index j = 0; j < columns; ++j) row[j] = static_cast<T>(static_cast<double>(row[j]) / largest / norm);
}

/// (x − shift)/scale. Halves are subtracted, since the difference of two large numbers may overflow.
double standardised(double x, double shift, double scale) {
  const double difference = x - shift;
  return std::isfinite(difference) ? difference / scale : (x / 2 - shift / 2) / (scale / 2);
}

}  // namespace

std::string_view to_string(Scaling scaling) { return names[static_cast<std::size_t>(scaling)]; }

Scaling parse_scaling(std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    fail(Code::usage, "scaling '{}' is unknown; choose none, unit, standard, minmax or byte", text);
  }
  return static_cast<Scaling>(found - names.begin());
}

Scaler::Scaler(Scaling scaling, const Dataset& train)
    : scaling_(scaling),
      features_(train.shape.size()),
      shift_(static_cast<std::size_t>(features_), 0.0),
      scale_(static_cast<std::size_t>(features_), 1.0) {
  if (scaling != Scaling::standard && scaling != Scaling::minmax) return;
  std::visit(
      [&](const auto& m) {
        const std::vector<Range> ranges = column_ranges(m);
        if (scaling == Scaling::standard) return learn_moments(m, ranges, shift_, scale_);
        for (std::size_t j = 0; j < ranges.size(); ++j) {
          shift_[j] = ranges[j].low;
          if (ranges[j].high > ranges[j].low) scale_[j] = ranges[j].high - ranges[j].low;
          if (!std::isfinite(scale_[j])) {
            fail(Code::numerical, "{}: the range of feature {} overflows; divide the features first", train.name, j);
          }
        }
      },
      train.values);
}

Scaler::Scaler(Scaling scaling, std::vector<double> shift, std::vector<double> scale)
    : scaling_(scaling), features_(std::ssize(shift)), shift_(std::move(shift)), scale_(std::move(scale)) {
  if (shift_.size() != scale_.size()) {
    fail(Code::input, "a scaling with {} shifts and {} scales is damaged", shift_.size(), scale_.size());
  }
  for (std::size_t j = 0; j < shift_.size(); ++j) {
    if (!std::isfinite(shift_[j]) || !std::isfinite(scale_[j]) || scale_[j] == 0) {
      fail(Code::input, "the scaling of feature {} is damaged: shift {}, scale {}", j, shift_[j], scale_[j]);
    }
  }
}

void Scaler::apply(Dataset& data) const {
  if (data.shape.size() != features_) {
    fail(Code::input, "{}: {} features, the training set has {}", data.name, data.shape.size(), features_);
  }
  if (scaling_ == Scaling::none) return;
  constexpr double largest_byte = 255;
  std::visit(
      [&](auto& m) {
        interruptible_rows(m.rows(), m.cols(), [&](Index i) {
          auto* row = m.view().row(i);
          if (scaling_ == Scaling::unit) return normalise_row(row, m.cols());
          for (Index j = 0; j < m.cols(); ++j) {
            const auto k = static_cast<std::size_t>(j);
            const auto x = static_cast<double>(row[j]);
            const double y = scaling_ == Scaling::byte ? x / largest_byte : standardised(x, shift_[k], scale_[k]);
            row[j] = static_cast<std::decay_t<decltype(row[j])>>(y);
            if (!std::isfinite(row[j])) {
              fail(Code::numerical, "{}: sample {}, feature {} overflows when scaled; its range in training is tiny",
                   data.name, i, j);
            }
          }
        });
      },
      data.values);
}

Dataset copy_samples(const SampleView& samples, std::string name) {
  Dataset data;
  data.name = std::move(name);
  data.shape = samples.shape;
  data.values = std::visit(
      []<typename T>(const MatrixView<const T>& rows) -> AnyMatrix {
        Matrix<T> copy(rows.rows, rows.cols, Content::unset);
        interruptible_rows(rows.rows, rows.cols,
                           [&](Index i) { std::copy_n(rows.row(i), rows.cols, copy.view().row(i)); });
        return copy;
      },
      samples.dense());
  return data;
}

}  // namespace widelimit
