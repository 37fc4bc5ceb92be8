#include "app/certify/certify_page.hpp"

#include "widelimit/report/drawing/pictures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit::app {

namespace {

constexpr std::size_t shown_samples = 12;

std::string class_name(const std::vector<std::string>& names, Index label) {
  if (names.empty()) return label == 0 ? "negative" : "positive";
  return names[static_cast<std::size_t>(label)];
}

bool attack_succeeded(const Certificates& run, std::size_t i) {
  return !run.attack.empty() && std::isfinite(run.attack[i]);
}

std::vector<double> row_of(const Dataset& data, Index i) {
  return std::visit(
      [&](const auto& rows) {
        const auto* row = rows.row(i);
        return std::vector<double>(row, row + rows.cols);
      },
      data.view().dense("pictures"));
}

/// Returns the values shown as black and white: the box if it is the same for all features, else the range of the
/// tiles.
std::pair<double, double> shade_range(const CertifyPage& shown, const std::vector<Pictured>& tiles) {
  if (shown.box && shown.box->size() == 1) return {shown.box->low(0), shown.box->high(0)};
  std::pair<double, double> range{HUGE_VAL, -HUGE_VAL};
  for (const Pictured& tile : tiles) {
    for (const auto& picture : tile.pictures) {
      const auto [low, high] = std::minmax_element(picture.begin(), picture.end());
      range = {std::min(range.first, *low), std::max(range.second, *high)};
    }
  }
  return range;
}

Table least_robust_table(const CertifyPage& shown, const std::vector<Index>& samples) {
  const Certificates& best = shown.certified.best();
  Table table{.columns = {"sample", "class", "margin", "certified radius", "by"}};
  if (shown.certified.attacked())
    table.columns.insert(table.columns.end(), {"attack", "radius/attack", "attacked class"});
  for (const Index sample : samples) {
    const auto i = static_cast<std::size_t>(sample);
    std::vector<Cell> row{static_cast<std::int64_t>(sample), class_name(shown.names, shown.labels[i]), best.margin[i],
                          best.radius[i], std::string(to_string(best.method[i]))};
    if (shown.certified.attacked()) {
      const bool succeeded = attack_succeeded(best, i);
      row.push_back(succeeded ? Cell(best.attack[i]) : Cell());
      row.push_back(succeeded ? Cell(best.radius[i] / best.attack[i]) : Cell());
      const bool known = succeeded && !shown.attacked_as.empty();
      row.push_back(known ? Cell(class_name(shown.names, shown.attacked_as[i])) : Cell());
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<Index> least_robust(const Certificates& certificates, std::size_t most) {
  std::vector<Index> order;
  for (Index i = 0; i < std::ssize(certificates.radius); ++i) {
    if (certificates.correct[static_cast<std::size_t>(i)]) order.push_back(i);
  }
  std::stable_sort(order.begin(), order.end(), [&](Index a, Index b) {
    return certificates.radius[static_cast<std::size_t>(a)] < certificates.radius[static_cast<std::size_t>(b)];
  });
  if (order.size() > most) order.resize(most);
  return order;
}

void add_radius_figures(Page& page, const Certified& certified) {
  if (!has_radii(certified)) {
    page.paragraph("No sample has a positive radius, so there are no curves.");
    return;
  }
  const std::vector<RadiusSeries> series = radius_series(certified);
  page.figures({certified_accuracy(series), radius_histogram(series)});
}

std::optional<Illustration> least_robust_pictures(const CertifyPage& shown, const std::vector<Index>& samples) {
  const auto shape = picture_shape(shown.data.shape);
  if (!shape || samples.empty() || shown.data.view().sparse() != nullptr) return std::nullopt;
  const Certificates& best = shown.certified.best();
  std::vector<Pictured> tiles;
  for (const Index sample : samples) {
    const auto i = static_cast<std::size_t>(sample);
    Pictured tile{
        .words = fmt::format("{}: {}, r ≥ {:.3g}", sample, class_name(shown.names, shown.labels[i]), best.radius[i]),
        .pictures = {row_of(shown.data, sample)}};
    if (attack_succeeded(best, i) && best.attacked.rows() > sample) {
      const double* row = best.attacked.view().row(sample);
      tile.pictures.emplace_back(row, row + best.attacked.cols());
      if (!shown.attacked_as.empty()) tile.words += " → " + class_name(shown.names, shown.attacked_as[i]);
    }
    tiles.push_back(std::move(tile));
  }
  const auto [black, white] = shade_range(shown, tiles);
  const bool pairs = std::any_of(tiles.begin(), tiles.end(), [](const auto& tile) { return tile.pictures.size() > 1; });
  return Illustration{.figure = picture_sheet(tiles, *shape, black, white, "Samples with the smallest radii"),
                      .caption = pairs ? "Left: the sample. Right: the nearest input found with another class." : "",
                      .alt = fmt::format("Pictures of the {} samples with the smallest certified radii", tiles.size())};
}

void write_certify_page(const std::filesystem::path& path, const CertifyPage& shown,
                        const nlohmann::ordered_json& settings) {
  const CertificateStatistics stats = statistics(shown.certified.best());
  std::string summary = certified_summary(shown.certified);
  summary.pop_back();
  for (auto at = summary.find('\n'); at != std::string::npos; at = summary.find('\n')) summary.replace(at, 1, "; ");
  Page page(shown.title, summary);
  std::vector<std::pair<std::string, std::string>> numbers{
      {"accuracy", fmt::format("{:.2f} %", 100 * stats.accuracy())},
      {"mean certified radius", fmt::format("{:.3g}", stats.mean)}};
  if (stats.attack_mean) numbers.emplace_back("mean attack", fmt::format("{:.3g}", *stats.attack_mean));
  if (stats.ratio) numbers.emplace_back("certificate / attack", fmt::format("{:.2f}", *stats.ratio));
  page.highlights(numbers);
  page.section("Certified accuracy").table(shown.table);
  add_radius_figures(page, shown.certified);
  const std::vector<Index> samples = least_robust(shown.certified.best(), shown_samples);
  if (!samples.empty()) {
    page.section("Weakest samples").table(least_robust_table(shown, samples));
    if (const auto pictures = least_robust_pictures(shown, samples)) page.figure(*pictures);
  }
  page.settings(settings).write(path);
}

}  // namespace widelimit::app
