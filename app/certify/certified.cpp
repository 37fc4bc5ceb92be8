#include "app/certify/certified.hpp"

#include "app/shell/interrupt.hpp"

#include "widelimit/base/choice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

Cell cell_of(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

double seconds_per_point(const Certificates& run) {
  return run.seconds / static_cast<double>(std::max<std::size_t>(run.radius.size(), 1));
}

/// Returns the fraction of samples without a successful attack within `radius`.
double robust_share(const Certificates& run, double radius) {
  double robust = 0;
  for (std::size_t i = 0; i < run.attack.size(); ++i) robust += run.correct[i] && run.attack[i] > radius ? 1 : 0;
  return robust / static_cast<double>(std::max<std::size_t>(run.attack.size(), 1));
}

/// Returns the method behind each radius: convex and interval use the best of the weaker methods, too.
Json origins(const Certificates& run) {
  Json names = Json::array();
  for (const CertificateMethod method : run.method) names.push_back(to_string(method));
  return names;
}

Json shares_json(const std::vector<double>& at, const std::function<double(double)>& share) {
  Json shares = Json::array();
  for (const double radius : at) shares.push_back({{"radius", radius}, {"share", share(radius)}});
  return shares;
}

Json run_json(CertificateMethod method, const Certificates& run, const std::vector<double>& at,
              const std::optional<double>& ratio) {
  const CertificateStatistics stats = statistics(run);
  Json json{{"method", to_string(method)}, {"mean", stats.mean},   {"deviation", stats.deviation},
            {"median", stats.median},      {"least", stats.least}, {"radius", run.radius},
            {"by", origins(run)}};
  json["certified"] = shares_json(at, [&](double radius) { return certified_share(run, radius); });
  if (ratio) json["ratio"] = *ratio;
  if (!run.remark.empty()) json["remark"] = run.remark;
  json["seconds"] = run.seconds;
  json["seconds_per_point"] = seconds_per_point(run);
  return json;
}

Json attack_json(const Certificates& run, const std::vector<double>& at) {
  const CertificateStatistics stats = statistics(run);
  Json distances = Json::array();
  for (const double distance : run.attack) distances.push_back(std::isfinite(distance) ? Json(distance) : Json());
  Json json{{"broken", stats.broken}, {"distance", distances}};
  if (stats.attack_mean) json["mean"] = *stats.attack_mean;
  json["unbroken"] = shares_json(at, [&](double radius) { return robust_share(run, radius); });
  json["seconds"] = run.attack_seconds;
  return json;
}

/// Returns the mean of radius/distance for one method, with the attack of the last.
std::optional<double> ratio_of(const Certified& certified, const Certificates& run) {
  if (!certified.attacked()) return std::nullopt;
  const Certificates& best = certified.best();
  double sum = 0;
  Index count = 0;
  for (std::size_t i = 0; i < run.radius.size(); ++i) {
    if (!run.correct[i] || !(best.attack[i] > 0) || !std::isfinite(best.attack[i])) continue;
    sum += run.radius[i] / best.attack[i];
    ++count;
  }
  return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

}  // namespace

std::vector<CertificateMethod> parse_methods(const std::string& text) {
  if (text == "all") return {CertificateMethod::paper, CertificateMethod::interval, CertificateMethod::convex};
  constexpr std::array<std::string_view, 4> known{"paper", "interval", "convex", "all"};
  return {parse_choice<CertificateMethod>("certificate method", known, text)};
}

Certified certify_with_methods(const std::vector<CertificateMethod>& methods, const CertifyOptions& options,
                               const std::function<Certificates(const CertifyOptions&)>& call) {
  Certified certified{.methods = methods, .runs = {}};
  for (const CertificateMethod method : methods) {
    stop_if_interrupted();
    CertifyOptions own = options;
    own.method = method;
    if (method != methods.back()) {
      own.attack.reset();
      own.keep_attacked = false;
    }
    certified.runs.push_back(call(own));
  }
  return certified;
}

Table certified_table(const Certified& certified, const std::vector<double>& at) {
  Table table{.columns = {"method", "mean radius", "deviation", "median", "least"}};
  for (const double radius : at) table.columns.push_back(fmt::format("fraction ≥ {:g}", radius));
  if (certified.attacked()) table.columns.emplace_back("radius/attack");
  table.columns.emplace_back("seconds per point");
  for (std::size_t m = 0; m < certified.runs.size(); ++m) {
    const Certificates& run = certified.runs[m];
    const CertificateStatistics stats = statistics(run);
    std::vector<Cell> row{std::string(to_string(certified.methods[m])), stats.mean, stats.deviation, stats.median,
                          stats.least};
    for (const double radius : at) row.emplace_back(certified_share(run, radius));
    if (certified.attacked()) row.push_back(cell_of(ratio_of(certified, run)));
    row.emplace_back(seconds_per_point(run));
    table.rows.push_back(std::move(row));
  }
  if (certified.attacked()) {
    const Certificates& run = certified.best();
    std::vector<Cell> row{std::string("attack"), cell_of(statistics(run).attack_mean), Cell(), Cell(), Cell()};
    for (const double radius : at) row.emplace_back(robust_share(run, radius));
    row.emplace_back();
    row.emplace_back(run.attack_seconds / static_cast<double>(std::max<std::size_t>(run.radius.size(), 1)));
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table verdict_table(const Certified& certified, double radius) {
  Table table{.columns = {"method", fmt::format("certified at {:g}", radius), "of", "fraction", "seconds per point"}};
  for (std::size_t m = 0; m < certified.runs.size(); ++m) {
    const Certificates& run = certified.runs[m];
    const double share = certified_share(run, radius);
    const auto samples = static_cast<std::int64_t>(run.radius.size());
    table.rows.push_back({std::string(to_string(certified.methods[m])),
                          static_cast<std::int64_t>(std::llround(share * static_cast<double>(samples))), samples, share,
                          seconds_per_point(run)});
  }
  return table;
}

std::string certified_summary(const Certified& certified) {
  const CertificateStatistics stats = statistics(certified.best());
  const Index wrong = stats.samples - stats.correct;
  std::string output = fmt::format("accuracy {:.4f} ({} of {})", stats.accuracy(), stats.correct, stats.samples);
  if (wrong > 0) output += fmt::format("; the {} misclassified have radius 0 and are excluded from the means", wrong);
  output += "\n";
  if (certified.attacked() && stats.broken < stats.correct) {
    output += fmt::format("the attack failed for {} of {} correctly classified samples\n", stats.correct - stats.broken,
                          stats.correct);
  }
  output += certified.best().units == CertificateUnits::input ? "radii are in the units of the samples\n"
                                                              : "radii are in the units of the scaled features\n";
  for (std::size_t m = 0; m < certified.runs.size(); ++m) {
    const std::string& remark = certified.runs[m].remark;
    const bool again = m > 0 && remark == certified.runs[m - 1].remark;
    if (!remark.empty() && !again) output += fmt::format("{}: {}\n", to_string(certified.methods[m]), remark);
  }
  return output;
}

nlohmann::ordered_json certified_json(const Certified& certified, const std::vector<double>& at) {
  const Certificates& best = certified.best();
  const CertificateStatistics stats = statistics(best);
  Json json{{"samples", stats.samples},
            {"correct", stats.correct},
            {"misclassified", stats.samples - stats.correct},
            {"accuracy", stats.accuracy()}};
  json["units"] = to_string(best.units);
  if (!best.widths.empty()) json["widths"] = best.widths;
  json["is_correct"] = std::vector<bool>(best.correct);
  json["margin"] = best.margin;
  json["methods"] = Json::array();
  for (std::size_t m = 0; m < certified.runs.size(); ++m) {
    const Certificates& run = certified.runs[m];
    json["methods"].push_back(run_json(certified.methods[m], run, at, ratio_of(certified, run)));
  }
  if (certified.attacked()) json["attack"] = attack_json(best, at);
  return json;
}

std::vector<RadiusSeries> radius_series(const Certified& certified) {
  std::vector<RadiusSeries> series;
  for (std::size_t m = 0; m < certified.runs.size(); ++m) {
    series.push_back(certified_radii(std::string(to_string(certified.methods[m])), certified.runs[m]));
  }
  if (certified.attacked()) series.push_back(attacked_radii(certified.best()));
  return series;
}

bool has_radii(const Certified& certified) {
  const std::vector<RadiusSeries> series = radius_series(certified);
  return std::any_of(series.begin(), series.end(), [](const RadiusSeries& one) {
    return std::any_of(one.radii.begin(), one.radii.end(), [](double r) { return r > 0 && std::isfinite(r); });
  });
}

}  // namespace widelimit::app
