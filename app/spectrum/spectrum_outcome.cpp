#include "app/spectrum/spectrum_outcome.hpp"

#include "app/flow/times.hpp"
#include "app/kernel/kernel_file.hpp"

#include "widelimit/report/csv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <deque>
#include <optional>

namespace widelimit::app {

namespace {

/// Numbers of leading directions whose energy is summed in the table.
constexpr std::array<Index, 3> first_directions{1, 10, 100};

/// Fraction of the initial loss from which a difference from the prediction is remarked.
constexpr double notable_difference = 0.05;

Cell cell_of(const std::optional<double>& value) { return value ? Cell(*value) : Cell(); }

template <typename T>
nlohmann::ordered_json json_of(const std::optional<T>& value) {
  return value ? nlohmann::ordered_json(*value) : nlohmann::ordered_json(nullptr);
}

std::optional<double> time_of(const SpectrumOutcome& outcome, const LabelSpectrum& labels) {
  if (!labels.reaches(outcome.epsilon)) return std::nullopt;
  return labels.time_to(outcome.epsilon);
}

std::optional<Index> steps_of(const SpectrumOutcome& outcome, const LabelSpectrum& labels) {
  if (!labels.reaches(outcome.epsilon)) return std::nullopt;
  return labels.steps_to(outcome.epsilon, outcome.rate);
}

nlohmann::ordered_json network_json(const ModeDynamics& network) {
  nlohmann::ordered_json json{{"width", network.width},
                              {"rate", network.rate},
                              {"steps", network.steps},
                              {"loss", network.loss},
                              {"predicted_loss", network.predicted_loss},
                              {"distance", network.distance},
                              {"largest_difference", network.largest_difference}};
  auto& rates = json["rates"] = nlohmann::ordered_json::array();
  for (const ModeRate& rate : network.rates) {
    nlohmann::ordered_json one{{"direction", rate.mode + 1}, {"share", rate.share}, {"eigenvalue", rate.eigenvalue},
                               {"fitted", rate.fitted},      {"interval", nullptr}, {"points", rate.points}};
    if (rate.interval) one["interval"] = {rate.interval->first, rate.interval->second};
    rates.push_back(std::move(one));
  }
  return json;
}

/// Returns up to `rows` evenly spaced indices below `count`, including the first and the last.
std::vector<std::size_t> even_indices(std::size_t rows, std::size_t count) {
  std::vector<std::size_t> places;
  const std::size_t shown = std::min(rows, count);
  for (std::size_t r = 0; r < shown; ++r) places.push_back(shown == 1 ? count - 1 : r * (count - 1) / (shown - 1));
  return places;
}

Table directions_table(const SpectrumOutcome& outcome) {
  Table table{.columns = {"direction", "eigenvalue"}};
  for (const NamedLabels& one : outcome.labels) {
    const Index outputs = one.labels.projections().cols();
    for (Index c = 0; c < outputs; ++c) {
      table.columns.push_back(outputs == 1 ? one.name : fmt::format("{}_{}", one.name, c));
    }
  }
  const std::vector<double>& values = outcome.spectrum->eigenvalues();
  for (Index i = 0; i < std::ssize(values); ++i) {
    std::vector<Cell> row{std::int64_t{i + 1}, values[usize(i)]};
    for (const NamedLabels& one : outcome.labels) {
      const Matrix<double>& projections = one.labels.projections();
      for (Index c = 0; c < projections.cols(); ++c) row.emplace_back(projections(i, c));
    }
    table.rows.push_back(std::move(row));
  }
  return table;
}

}  // namespace

std::vector<NamedModes> SpectrumOutcome::named_networks() const {
  std::vector<NamedModes> named;
  for (std::size_t k = 0; k < networks.size(); ++k) named.push_back({labels[k].name, &networks[k]});
  return named;
}

Table labels_table(const SpectrumOutcome& outcome) {
  Table table{.columns = {"labels"}};
  std::vector<Index> leading_counts;
  for (const Index first : first_directions) {
    if (first <= outcome.spectrum->samples()) leading_counts.push_back(first);
  }
  for (const Index first : leading_counts) table.columns.push_back(fmt::format("in first {}", first));
  for (const char* name : {"y'K^-1y", "sqrt(2y'K^-1y/n)", "never learned"}) table.columns.emplace_back(name);
  table.columns.push_back(fmt::format("time to {:g}", outcome.epsilon));
  table.columns.push_back(fmt::format("steps to {:g}", outcome.epsilon));
  for (const NamedLabels& one : outcome.labels) {
    const std::vector<double> shares = one.labels.cumulative_energy();
    std::vector<Cell> row{one.name};
    for (const Index first : leading_counts) row.emplace_back(shares[usize(first - 1)]);
    row.push_back(cell_of(one.labels.norm()));
    row.push_back(cell_of(one.labels.complexity()));
    row.emplace_back(one.labels.floor());
    row.push_back(cell_of(time_of(outcome, one.labels)));
    const auto steps = steps_of(outcome, one.labels);
    row.push_back(steps ? Cell(std::int64_t{*steps}) : Cell());
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table losses_table(const SpectrumOutcome& outcome, std::size_t rows) {
  Table table{.columns = {"time"}};
  for (const NamedLabels& one : outcome.labels) table.columns.push_back(one.name);
  for (const std::size_t k : even_indices(rows, outcome.times.size())) {
    std::vector<Cell> row{time_text(outcome.times[k])};
    for (const NamedLabels& one : outcome.labels) {
      row.emplace_back(one.labels.loss(outcome.times[k]) / one.labels.total());
    }
    table.rows.push_back(std::move(row));
  }
  table.caption = "predicted loss, relative to the initial loss";
  return table;
}

Table networks_table(const SpectrumOutcome& outcome, std::size_t rows) {
  Table table{.columns = {"step"}};
  for (std::size_t k = 0; k < outcome.networks.size(); ++k) {
    table.columns.push_back(outcome.labels[k].name + ", network");
    table.columns.push_back("predicted");
  }
  if (outcome.networks.empty()) return table;
  for (const std::size_t r : even_indices(rows, outcome.networks.front().steps.size())) {
    std::vector<Cell> row{std::int64_t{outcome.networks.front().steps[r]}};
    for (const ModeDynamics& network : outcome.networks) {
      row.emplace_back(network.loss[r] / network.loss.front());
      row.emplace_back(network.predicted_loss[r] / network.loss.front());
    }
    table.rows.push_back(std::move(row));
  }
  table.caption = fmt::format("training loss of networks of width {}, relative to the initial loss",
                              outcome.networks.front().width);
  return table;
}

std::vector<std::string> spectrum_facts(const SpectrumOutcome& outcome) {
  const KernelSpectrum& spectrum = *outcome.spectrum;
  std::vector<std::string> lines{fmt::format("{} samples, eigenvalues {:.4g} to {:.4g}", spectrum.samples(),
                                             spectrum.eigenvalues().front(), spectrum.eigenvalues().back())};
  if (const auto condition = spectrum.condition()) lines.back() += fmt::format(", condition {:.3g}", *condition);
  if (const auto stable = spectrum.stable_rate()) {
    lines.push_back(
        fmt::format("gradient descent on half the squared error is stable up to the learning rate {:.4g}; steps are "
                    "counted for {:.4g}",
                    *stable, outcome.rate));
  }
  std::string dimensions;
  for (const double ridge : outcome.ridges) {
    dimensions += fmt::format("{} {:.4g} (ridge {:.3g})", dimensions.empty() ? "effective dimension" : ",",
                              spectrum.effective_dimension(ridge), ridge);
  }
  if (!dimensions.empty()) lines.push_back(std::move(dimensions));
  return lines;
}

std::vector<std::string> spectrum_remarks(const SpectrumOutcome& outcome) {
  const KernelSpectrum& spectrum = *outcome.spectrum;
  std::vector<std::string> remarks;
  if (spectrum.rank() < spectrum.samples()) {
    remarks.push_back(
        fmt::format("{} of {} eigenvalues are below {:.2g}, the level of rounding errors; the share of the labels in "
                    "these directions counts as never learned",
                    spectrum.samples() - spectrum.rank(), spectrum.samples(), spectrum.noise()));
  }
  for (const NamedLabels& one : outcome.labels) {
    if (one.labels.reaches(outcome.epsilon)) continue;
    remarks.push_back(fmt::format("{} labels: the loss never falls to {:g} of its initial value, only to {:.3g}",
                                  one.name, outcome.epsilon, one.labels.floor()));
  }
  for (const NamedModes& one : outcome.named_networks()) {
    if (one.modes->largest_difference <= notable_difference) continue;
    remarks.push_back(fmt::format(
        "{} labels: the loss of the network of width {} differs from the prediction by up to {:.2g} of its initial "
        "value, because its kernel differs from the limit or changes in training; use a wider network or a larger "
        "w_std",
        one.name, one.modes->width, one.modes->largest_difference));
  }
  return remarks;
}

nlohmann::ordered_json outcome_json(const SpectrumOutcome& outcome) {
  const KernelSpectrum& spectrum = *outcome.spectrum;
  nlohmann::ordered_json json{{"samples", spectrum.samples()},
                              {"eigenvalues", spectrum.eigenvalues()},
                              {"rank", spectrum.rank()},
                              {"rounding", spectrum.noise()},
                              {"condition", json_of(spectrum.condition())},
                              {"stable_rate", json_of(spectrum.stable_rate())},
                              {"rate", outcome.rate}};
  auto& dimensions = json["effective_dimension"] = nlohmann::ordered_json::array();
  for (const double ridge : outcome.ridges) {
    dimensions.push_back({{"ridge", ridge}, {"dimension", spectrum.effective_dimension(ridge)}});
  }
  json["times"] = times_json(outcome.times);
  json["epsilon"] = outcome.epsilon;
  for (std::size_t k = 0; k < outcome.labels.size(); ++k) {
    const auto& [name, labels] = outcome.labels[k];
    std::vector<double> losses;
    for (const double time : outcome.times) losses.push_back(labels.loss(time));
    nlohmann::ordered_json one{{"labels", name},
                               {"outputs", labels.projections().cols()},
                               {"squared_norm", labels.total()},
                               {"energy", labels.energy()},
                               {"norm", json_of(labels.norm())},
                               {"complexity", json_of(labels.complexity())},
                               {"floor", labels.floor()},
                               {"time_to_epsilon", json_of(time_of(outcome, labels))},
                               {"steps_to_epsilon", json_of(steps_of(outcome, labels))},
                               {"loss", losses}};
    if (!outcome.networks.empty()) one["network"] = network_json(outcome.networks[k]);
    json["labels"].push_back(std::move(one));
  }
  json["remarks"] = spectrum_remarks(outcome);
  return json;
}

void write_spectrum(const std::filesystem::path& path, const SpectrumOutcome& outcome,
                    const nlohmann::ordered_json& settings) {
  if (path.extension() == ".csv") {
    write_csv(directions_table(outcome), path);
    return;
  }
  const Matrix<double> vectors = outcome.spectrum->eigenvectors();
  std::vector<NamedArray> arrays{list_array("eigenvalues", outcome.spectrum->eigenvalues()),
                                 {"eigenvectors", vectors.view(), {}}};
  std::deque<std::vector<std::int64_t>> steps;  // storage of the views
  for (std::size_t k = 0; k < outcome.labels.size(); ++k) {
    // Array names must not contain colons.
    std::string name = outcome.labels[k].name;
    std::replace(name.begin(), name.end(), ':', '_');
    arrays.push_back({"projections_" + name, outcome.labels[k].labels.projections().view(), {}});
    if (outcome.networks.empty()) continue;
    const ModeDynamics& network = outcome.networks[k];
    arrays.push_back(list_array("steps_" + name, steps.emplace_back(network.steps.begin(), network.steps.end())));
    arrays.push_back({"measured_" + name, network.measured.view(), {}});
    arrays.push_back({"predicted_" + name, network.predicted.view(), {}});
  }
  write_arrays(path, arrays, settings);
}

void write_spectrum_page(const std::filesystem::path& path, const std::string& title, const SpectrumOutcome& outcome,
                         const nlohmann::ordered_json& settings) {
  const KernelSpectrum& spectrum = *outcome.spectrum;
  Page page(title, "Learning speed of a network of infinite width, predicted from the eigenvalues of its kernel.");
  std::vector<std::pair<std::string, std::string>> numbers{
      {"largest eigenvalue", fmt::format("{:.4g}", spectrum.eigenvalues().front())},
      {"smallest", fmt::format("{:.4g}", spectrum.eigenvalues().back())}};
  if (const auto stable = spectrum.stable_rate()) numbers.emplace_back("stable rate", fmt::format("{:.4g}", *stable));
  page.highlights(numbers).section("Labels").table(labels_table(outcome));
  page.figures({energy_figure(outcome.labels), loss_figure(outcome.labels, outcome.times)});
  page.table(losses_table(outcome, 12));
  page.section("Kernel").figures({eigenvalue_figure(spectrum), dimension_figure(spectrum)});
  for (const std::string& line : spectrum_facts(outcome)) page.paragraph(line);
  for (const std::string& remark : spectrum_remarks(outcome)) page.paragraph(remark);
  if (!outcome.networks.empty()) {
    const std::vector<NamedModes> networks = outcome.named_networks();
    std::vector<Illustration> by_direction;
    // Few lines keep the figure readable.
    for (const NamedModes& network : networks) {
      by_direction.push_back(mode_figure(network, strongest_modes(*network.modes, 4)));
    }
    page.section("Network of finite width").figures({training_figure(networks), rate_figure(networks)});
    page.figures(by_direction).table(networks_table(outcome, 12)).table(rate_table(networks, outcome.modes));
  }
  page.settings(settings).write(path);
}

}  // namespace widelimit::app
