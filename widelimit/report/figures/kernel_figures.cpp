#include "widelimit/report/figures/kernel_figures.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

Matrix<double> reordered(const AnyMatrix& gram, const std::vector<Index>& rows) {
  const Index n = std::ssize(rows);
  Matrix<double> result(n, n);
  std::visit(
      [&](const auto& m) {
        for (Index i = 0; i < n; ++i) {
          for (Index j = 0; j < n; ++j) {
            const auto value = m(rows[static_cast<std::size_t>(i)], rows[static_cast<std::size_t>(j)]);
            result(i, j) = static_cast<double>(value);
          }
        }
      },
      gram);
  return result;
}

void divide_by_norms(Matrix<double>& gram) {
  std::vector<double> inverse(static_cast<std::size_t>(gram.rows()));
  for (Index i = 0; i < gram.rows(); ++i) {
    inverse[static_cast<std::size_t>(i)] = gram(i, i) > 0 ? 1 / std::sqrt(gram(i, i)) : 0.0;
  }
  for (Index i = 0; i < gram.rows(); ++i) {
    for (Index j = 0; j < gram.cols(); ++j) {
      gram(i, j) *= inverse[static_cast<std::size_t>(i)] * inverse[static_cast<std::size_t>(j)];
    }
  }
}

std::vector<Band> bands_of(const Dataset& data, const std::vector<Index>& rows) {
  std::vector<Band> bands;
  for (std::size_t k = 0; k < rows.size(); ++k) {
    const auto& name = data.class_names[static_cast<std::size_t>(data.labels[static_cast<std::size_t>(rows[k])])];
    if (bands.empty() || bands.back().name != name) bands.push_back({name, 0});
    bands.back().end = static_cast<Index>(k) + 1;
  }
  return bands;
}

}  // namespace

ClassOrder order_by_class(const Dataset& data, Index most) {
  const Index n = data.count();
  std::vector<Index> all(static_cast<std::size_t>(n));
  std::iota(all.begin(), all.end(), Index{0});
  if (!data.labels.empty()) {
    std::stable_sort(all.begin(), all.end(), [&](Index a, Index b) {
      return data.labels[static_cast<std::size_t>(a)] < data.labels[static_cast<std::size_t>(b)];
    });
  }
  const Index kept = std::min(n, most);
  ClassOrder order;
  for (Index k = 0; k < kept; ++k) order.rows.push_back(all[static_cast<std::size_t>(k * n / kept)]);
  if (!data.labels.empty()) order.bands = bands_of(data, order.rows);
  return order;
}

Illustration kernel_heat_map(const AnyMatrix& gram, const Dataset& data, const std::string& title, Shade shade) {
  const ClassOrder order = order_by_class(data);
  const std::string axis = order.bands.empty() ? "sample" : "class";
  Matrix<double> shown_matrix = reordered(gram, order.rows);
  if (shade == Shade::correlation) divide_by_norms(shown_matrix);
  Illustration picture;
  picture.figure = heat_map(shown_matrix.view(), {.title = title,
                                                  .row_label = axis,
                                                  .column_label = axis,
                                                  .value_label = shade == Shade::correlation ? "correlation" : "",
                                                  .row_bands = order.bands,
                                                  .column_bands = order.bands});
  const Index shown = std::ssize(order.rows);
  picture.caption = order.bands.empty() ? "Samples in their own order." : "Samples ordered by class.";
  if (shown < data.count()) picture.caption += fmt::format(" {} of {} samples, evenly spaced.", shown, data.count());
  picture.alt = fmt::format("{}: kernel matrix of {} samples as colours", title, shown);
  return picture;
}

Illustration spectrum_curves(const std::vector<std::pair<std::string, Spectrum>>& spectra, const std::string& title) {
  std::vector<Series> series;
  Illustration picture;
  for (const auto& entry : spectra) {
    Series line{.name = entry.first};
    for (std::size_t k = 0; k < entry.second.eigenvalues.size(); ++k) {
      line.x.push_back(static_cast<double>(k + 1));
      line.y.push_back(entry.second.eigenvalues[k]);
    }
    if (!entry.second.note.empty()) picture.caption = entry.second.note;
    series.push_back(std::move(line));
  }
  picture.figure = curves(series, {.title = title,
                                   .x_label = "rank",
                                   .y_label = "eigenvalue",
                                   .x_scale = AxisScale::log,
                                   .y_scale = AxisScale::log});
  picture.alt = title + ": eigenvalues against their rank";
  return picture;
}

}  // namespace widelimit
