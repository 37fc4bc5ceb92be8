#include "widelimit/data/preparation/missing.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

double median_of(std::vector<double> values) {
  const auto middle = values.begin() + std::ssize(values) / 2;
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return std::midpoint(*std::max_element(values.begin(), middle), *middle);
}

/// Running mean, which does not overflow.
double mean_of(const std::vector<double>& values) {
  double mean = 0;
  double count = 0;
  for (const double value : values) {
    ++count;
    mean += value / count - mean / count;
  }
  return mean;
}

/// Returns the fill of the column whose features start at `first`.
double fill_of(const Matrix<double>& x, const Column& column, Index first, Missing how, const std::string& source) {
  if (column.categories.empty()) {
    std::vector<double> values;
    for (Index i = 0; i < x.rows(); ++i) {
      if (!std::isnan(x(i, first))) values.push_back(x(i, first));
    }
    if (values.empty()) {
      fail(Code::input, {Remedy::choose_columns}, "{}: {} has no value in any training sample; drop it", source,
           column.name.empty() ? fmt::format("column {}", column.place + 1) : fmt::format("column '{}'", column.name));
    }
    return how == Missing::mean ? mean_of(values) : median_of(std::move(values));
  }
  std::vector<Index> counts(column.categories.size());
  for (Index i = 0; i < x.rows(); ++i) {
    for (std::size_t c = 0; c < counts.size(); ++c) counts[c] += x(i, first + static_cast<Index>(c)) == 1 ? 1 : 0;
  }
  return static_cast<double>(std::max_element(counts.begin(), counts.end()) - counts.begin());
}

void fill_column(Matrix<double>& x, const Column& column, Index first) {
  for (Index i = 0; i < x.rows(); ++i) {
    if (!std::isnan(x(i, first))) continue;
    if (column.categories.empty()) {
      x(i, first) = *column.fill;
    } else {
      std::fill_n(&x(i, first), column.features(), 0.0);
      x(i, first + static_cast<Index>(*column.fill)) = 1;
    }
  }
}

}  // namespace

void learn_fill(Dataset& train, Missing how) {
  const auto* x = std::get_if<Matrix<double>>(&train.values);
  if (x == nullptr || x->cols() != train.layout.features()) return;
  Index first = 0;
  for (Column& column : train.layout.columns) {
    column.fill = fill_of(*x, column, first, how, train.name);
    first += column.features();
  }
}

void fill_missing(Dataset& data, const TableLayout& layout) {
  auto* x = std::get_if<Matrix<double>>(&data.values);
  if (x == nullptr || x->cols() != layout.features()) return;
  Index first = 0;
  for (const Column& column : layout.columns) {
    if (column.fill) fill_column(*x, column, first);
    first += column.features();
  }
}

}  // namespace widelimit
