#include "widelimit/data/preparation/scaling.hpp"

#include "widelimit/base/interruption.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 7> names{"none", "unit", "standard", "minmax", "byte", "maxabs", "channel"};

/// Value range of one column.
struct Range {
  double low;
  double high;
};

template <typename T>
std::vector<Range> column_ranges(MatrixView<const T> m) {
  std::vector<Range> ranges(static_cast<std::size_t>(m.cols), {0, 0});
  for (Index j = 0; j < m.cols && m.rows > 0; ++j) {
    ranges[static_cast<std::size_t>(j)] = {static_cast<double>(m(0, j)), static_cast<double>(m(0, j))};
  }
  interruptible_rows(m.rows, m.cols, [&](Index i) {
    for (Index j = 0; j < m.cols; ++j) {
      const auto x = static_cast<double>(m(i, j));
      Range& range = ranges[static_cast<std::size_t>(j)];
      range = {std::min(range.low, x), std::max(range.high, x)};
    }
  });
  return ranges;
}

bool shifts(Scaling scaling) {
  return scaling == Scaling::standard || scaling == Scaling::minmax || scaling == Scaling::channel;
}

/// Throws: shifting would make the zeros of sparse samples nonzero, and the samples as large as dense ones.
[[noreturn]] void refuse_shift(Scaling scaling, const std::string& source) {
  fail(Code::input,
       "{}: the samples are sparse, and {} scaling shifts columns, which makes zeros nonzero; scale by maxabs or "
       "unit, which keep zeros, or make the samples dense",
       source, to_string(scaling));
}

/// Returns the largest magnitude of each column; 1 for zero columns.
template <typename T>
std::vector<double> column_magnitudes(const Matrix<T>& m) {
  std::vector<double> largest;
  for (const Range& range : column_ranges(m.view()))
    largest.push_back(std::max(std::abs(range.low), std::abs(range.high)));
  std::replace(largest.begin(), largest.end(), 0.0, 1.0);
  return largest;
}
std::vector<double> column_magnitudes(const SparseMatrix& m) {
  std::vector<double> largest(usize(m.cols()), 0.0);
  for (Index i = 0; i < m.rows(); ++i) {
    const SparseView::Row row = m.view().row(i);
    for (std::size_t k = 0; k < row.size(); ++k) {
      double& most = largest[static_cast<std::size_t>(row.columns[k])];
      most = std::max(most, std::abs(row.values[k]));
    }
  }
  std::replace(largest.begin(), largest.end(), 0.0, 1.0);
  return largest;
}

/// Computes mean and standard deviation of each column, in units of its largest magnitude `unit`.
template <typename T>
void learn_moments(MatrixView<const T> m, const std::vector<Range>& ranges, std::vector<double>& shift,
                   std::vector<double>& scale) {
  const std::size_t columns = ranges.size();
  std::vector<double> unit(columns);
  std::vector<double> mean(columns, 0);
  std::vector<double> square(columns, 0);
  for (std::size_t j = 0; j < columns; ++j) {
    unit[j] = std::max(std::abs(ranges[j].low), std::abs(ranges[j].high));
    if (unit[j] == 0) unit[j] = 1;
  }
  // Welford's update: one pass, without cancellation if the mean is far larger than the deviation.
  interruptible_rows(m.rows, m.cols, [&](Index i) {
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
      shift[j] = ranges[j].low;  // exact: the computed mean of equal numbers may be rounded
      continue;
    }
    shift[j] = mean[j] * unit[j];
    scale[j] = std::sqrt(square[j] / static_cast<double>(m.rows)) * unit[j];
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

/// For `channel`, samples are viewed as a matrix with one row per position and one column per channel.
template <typename T>
void learn_shifts(Scaling scaling, const Matrix<T>& m, const Dataset& train, std::vector<double>& shift,
                  std::vector<double>& scale) {
  if (scaling == Scaling::channel) {
    const Index channels = train.shape.channels;
    const Index positions = m.cols() / channels;
    const MatrixView<const T> all{m.data(), m.rows() * positions, channels, channels};
    learn_moments(all, column_ranges(all), shift, scale);
    for (std::size_t j = usize(channels); j < shift.size(); ++j) {
      shift[j] = shift[j - usize(channels)];
      scale[j] = scale[j - usize(channels)];
    }
    return;
  }
  const std::vector<Range> ranges = column_ranges(m.view());
  if (scaling == Scaling::standard) return learn_moments(m.view(), ranges, shift, scale);
  for (std::size_t j = 0; j < ranges.size(); ++j) {
    shift[j] = ranges[j].low;
    if (ranges[j].high > ranges[j].low) scale[j] = ranges[j].high - ranges[j].low;
    if (!std::isfinite(scale[j])) {
      fail(Code::numerical, "{}: the range of feature {} overflows; divide the features first", train.name, j);
    }
  }
}
void learn_shifts(Scaling scaling, const SparseMatrix& /*m*/, const Dataset& train, std::vector<double>& /*shift*/,
                  std::vector<double>& /*scale*/) {
  refuse_shift(scaling, train.name);
}

[[noreturn]] void refuse_graphs(const std::string& source) {
  fail(Code::usage, "{}: the samples are graphs, which cannot be scaled", source);
}
std::vector<double> column_magnitudes(const Graphs& /*graphs*/) { return {}; }
void learn_shifts(Scaling /*scaling*/, const Graphs& /*graphs*/, const Dataset& train, std::vector<double>& /*shift*/,
                  std::vector<double>& /*scale*/) {
  refuse_graphs(train.name);
}

/// Returns (x − shift)/scale. If the difference overflows, halves are subtracted instead.
double standardised(double x, double shift, double scale) {
  const double difference = x - shift;
  return std::isfinite(difference) ? difference / scale : (x / 2 - shift / 2) / (scale / 2);
}

}  // namespace

std::string_view to_string(Scaling scaling) { return names[static_cast<std::size_t>(scaling)]; }

Scaling parse_scaling(std::string_view text) {
  const auto found = std::find(names.begin(), names.end(), text);
  if (found == names.end()) {
    fail(Code::usage, "scaling '{}' is unknown; choose none, unit, standard, channel, minmax, maxabs or byte", text);
  }
  return static_cast<Scaling>(found - names.begin());
}

Scaler::Scaler(Scaling scaling, const Dataset& train)
    : scaling_(scaling),
      features_(train.shape.size()),
      shift_(static_cast<std::size_t>(features_), 0.0),
      scale_(static_cast<std::size_t>(features_), 1.0) {
  if (scaling != Scaling::none && train.shape.nodes) refuse_graphs(train.name);
  std::visit(
      [&](const auto& m) {
        if (scaling == Scaling::maxabs) scale_ = column_magnitudes(m);
        if (shifts(scaling)) learn_shifts(scaling, m, train, shift_, scale_);
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
  // Row i holds `size` numbers; column(k) is the feature of number k.
  const auto scale_row = [&]<typename T>(Index i, T* row, Index size, const auto& column) {
    constexpr double largest_byte = 255;
    if (scaling_ == Scaling::unit) return normalise_row(row, size);
    for (Index k = 0; k < size; ++k) {
      const std::size_t j = usize(column(k));
      const auto x = static_cast<double>(row[k]);
      const double y = scaling_ == Scaling::byte ? x / largest_byte : standardised(x, shift_[j], scale_[j]);
      row[k] = static_cast<T>(y);
      if (!std::isfinite(row[k])) {
        fail(Code::numerical, "{}: sample {}, feature {} overflows when scaled; its range in training is tiny",
             data.name, i, j);
      }
    }
  };
  if (auto* sparse = std::get_if<SparseMatrix>(&data.values)) {
    if (std::any_of(shift_.begin(), shift_.end(), [](double s) { return s != 0; })) refuse_shift(scaling_, data.name);
    interruptible_rows(sparse->rows(), 1, [&](Index i) {
      const SparseView::Row row = sparse->view().row(i);
      const auto column = [&](Index k) { return Index{row.columns[usize(k)]}; };
      scale_row(i, sparse->row_values(i).data(), std::ssize(row.columns), column);
    });
    return;
  }
  const auto scale_dense = [&](auto& m) {
    interruptible_rows(m.rows(), m.cols(),
                       [&](Index i) { scale_row(i, m.view().row(i), m.cols(), [](Index k) { return k; }); });
  };
  if (auto* m = std::get_if<Matrix<float>>(&data.values)) scale_dense(*m);
  if (auto* m = std::get_if<Matrix<double>>(&data.values)) scale_dense(*m);
}

Dataset copy_samples(const SampleView& samples, std::string name) {
  Dataset data;
  data.name = std::move(name);
  data.shape = samples.shape;
  data.values = copy_of(samples);
  return data;
}

}  // namespace widelimit
