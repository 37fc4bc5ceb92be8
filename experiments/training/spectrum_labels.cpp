#include "experiments/experiments.hpp"

#include "experiments/tasks/unit_pair.hpp"
#include "widelimit/analysis/spectrum/label_choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/finite/tangent/empirical_ntk.hpp"
#include "widelimit/report/figures/spectrum_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <deque>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// Number of leading directions whose energy is summed in the table.
constexpr Index first_directions = 10;

std::vector<LabelChoice> requested_labels(const Setting& setting) {
  std::vector<LabelChoice> choices;
  for (const std::string& word : setting.words("labels")) choices.push_back(parse_label_choice(word));
  return choices;
}

/// Options, parsed and validated before any computation.
struct SpectrumLabelsChoice {
  std::vector<std::string> sets;
  std::vector<LabelChoice> labels;
  Index samples = 0;
  double epsilon = 0;
  ModeOptions training;
};

SpectrumLabelsChoice spectrum_labels_choice(const Setting& setting) {
  SpectrumLabelsChoice choice{.sets = requested_sets(setting),
                              .labels = requested_labels(setting),
                              .samples = setting.count("samples", 4),
                              .epsilon = setting.positive("epsilon"),
                              .training = {}};
  if (choice.epsilon >= 1) fail(Code::usage, "--epsilon {}: expected a number below 1", setting.text("epsilon"));
  choice.training.width = setting.count("width", 1);
  choice.training.steps = setting.count("steps", 2);
  choice.training.seed = setting.seed;
  // Losses decrease by a few decades only, for which single precision suffices.
  choice.training.precision = Precision::f32;
  choice.training.memory = setting.memory;
  choice.training.progress = setting.progress;
  return choice;
}

/// Returns the mean ratio of fitted to true eigenvalue, over directions with at least 1 % of the label energy, weighted
/// by energy.
double mean_ratio(const ModeDynamics& network) {
  double sum = 0;
  double weight = 0;
  for (const ModeRate& rate : network.rates) {
    if (rate.share < 0.01) continue;
    sum += rate.share * rate.fitted / rate.eigenvalue;
    weight += rate.share;
  }
  return weight > 0 ? sum / weight : 0.0;
}

/// Returns the spectrum of the empirical NTK at initialisation, which fluctuates around the limit.
KernelSpectrum start_spectrum(const Setting& setting, const UnitPair& pair, const ModeOptions& training) {
  const SampleView x = pair.data.train.view();
  const Architecture architecture =
      trained_architecture(pair.network, x.shape, {.hidden = training.width}, Regulariser::none);
  const Parameters<double> start = draw_parameters<double>(architecture, training.seed, setting.engine);
  const Tensor<double> samples = read_samples<double>(x, architecture.input);
  const Matrix<double> k =
      empirical_ntk(architecture, start, samples, samples, {.progress = setting.progress}, setting.engine);
  return KernelSpectrum(GramMatrix(AnyView(k.view()), setting.engine),
                        {.memory = setting.memory, .progress = setting.progress});
}

/// Results for labels and the network trained on them, as table row and record.
struct LabelRow {
  std::vector<Cell> cells;
  Json json;
};

LabelRow label_row(const NamedLabels& labels, const LabelSpectrum& own, const ModeDynamics& network, double epsilon) {
  const LabelSpectrum& found = labels.labels;
  const std::vector<double> shares = found.cumulative_energy();
  const double energy = shares[usize(std::min(first_directions, std::ssize(shares)) - 1)];
  const double whole = network.loss.front();
  const double predicted = network.predicted_loss.back() / whole;
  const double measured = network.loss.back() / whole;
  const double by_own = own.loss_after(network.steps.back(), network.rate) / whole;
  LabelRow row{.cells = {labels.name, energy, Cell(), Cell(), predicted, by_own, measured, network.largest_difference,
                         mean_ratio(network)},
               .json = {{"labels", labels.name},
                        {"first_directions", energy},
                        {"complexity", nullptr},
                        {"steps_to_epsilon", nullptr},
                        {"predicted_loss", predicted},
                        {"predicted_by_own_kernel", by_own},
                        {"loss", measured},
                        {"largest_difference", network.largest_difference},
                        {"distance", network.distance.back()},
                        {"rate_ratio", mean_ratio(network)}}};
  if (found.norm()) {
    row.cells[2] = found.complexity().value();
    row.json["complexity"] = found.complexity().value();
  }
  if (found.reaches(epsilon)) {
    const Index steps = found.steps_to(epsilon, network.rate);
    row.cells[3] = std::int64_t{steps};
    row.json["steps_to_epsilon"] = steps;
  }
  return row;
}

/// Returns a sentence that compares the first two label choices.
std::string first_two(const std::string& set, Index steps, const Json& rows) {
  if (rows.size() < 2) return "";
  return fmt::format(
      "{}: after {} steps the relative loss of {} labels is {:.3g} ({:.3g} predicted), of {} labels {:.3g} ({:.3g}).",
      set, steps, rows[0]["labels"].get<std::string>(), rows[0]["loss"].get<double>(),
      rows[0]["predicted_loss"].get<double>(), rows[1]["labels"].get<std::string>(), rows[1]["loss"].get<double>(),
      rows[1]["predicted_loss"].get<double>());
}

void labels_of_set(const Setting& setting, const SpectrumLabelsChoice& choice, const std::string& set,
                   Outcome& outcome) {
  stop_if_requested(setting.progress);
  const UnitPair pair = unit_pair(setting, set, "relu", choice.samples, 0);
  const Dataset& train = pair.data.train;
  const KernelSpectrum spectrum(GramMatrix(view_of(pair.k), setting.engine),
                                {.memory = setting.memory, .progress = setting.progress});
  ModeOptions training = choice.training;
  training.rate = *spectrum.stable_rate() / 2;
  const KernelSpectrum own = start_spectrum(setting, pair, training);
  Part part{.heading = fmt::format("{}, classes {} and {}, {} images", set, train.class_names[0], train.class_names[1],
                                   train.count())};
  part.table.columns = {"labels",
                        fmt::format("in first {}", first_directions),
                        "sqrt(2y'H^-1y/n)",
                        fmt::format("steps to {:g}", choice.epsilon),
                        fmt::format("predicted at step {}", training.steps),
                        "by its own kernel",
                        fmt::format("width {}", training.width),
                        "largest difference",
                        "fitted/eigenvalue"};
  Json json = Json::array();
  std::vector<NamedLabels> labels;
  std::deque<ModeDynamics> networks;
  std::vector<NamedModes> named;
  for (const LabelChoice& each : choice.labels) {
    const Matrix<double> y = label_targets(each, {.classes_of = train.labels, .classes = std::ssize(train.class_names)},
                                           spectrum, setting.seed + 1);
    labels.push_back({to_string(each), LabelSpectrum(spectrum, y.view())});
    networks.push_back(mode_dynamics(pair.network, train.view(), y.view(), spectrum, training, setting.engine));
    const TrainSummary& summary = networks.back().summary;
    if (!summary.finished()) {
      outcome.trouble = fmt::format("{}, {} labels: {}", set, to_string(each), summary.message);
      continue;
    }
    named.push_back({to_string(each), &networks.back()});
    LabelRow row = label_row(labels.back(), LabelSpectrum(own, y.view()), networks.back(), choice.epsilon);
    part.table.rows.push_back(std::move(row.cells));
    json.push_back(std::move(row.json));
  }
  part.words = fmt::format(
      "Eigenvalues {:.3g} to {:.3g}; gradient descent on half the squared error with rate {:.3g}, half of the stable "
      "rate; the network is trained in single precision. Losses are relative to the start, predicted by H* and by the "
      "empirical NTK at initialisation; the difference to H* is the maximum over all recorded steps; the last column "
      "is the mean ratio of fitted to predicted eigenvalue, over directions with at least 1 % of the label energy. "
      "NT-L (figure without numbers): true labels lie in the leading directions and are learned fastest, random labels "
      "spread over all directions, worst labels lie in the last ones.",
      spectrum.eigenvalues().front(), spectrum.eigenvalues().back(), *training.rate);
  if (setting.figures && !named.empty()) {
    part.pictures = {eigenvalue_figure(spectrum), energy_figure(labels), training_figure(named), rate_figure(named)};
  }
  outcome.sentence += (outcome.sentence.empty() ? "" : " ") + first_two(set, training.steps, json);
  outcome.results[set] = std::move(json);
  outcome.timings.emplace_back(set + " kernel", pair.seconds);
  outcome.parts.push_back(std::move(part));
}

}  // namespace

Experiment spectrum_labels() {
  return {
      .name = "spectrum-labels",
      .summary =
          "True, random and worst labels in the spectrum of the kernel, and a wide network compared with the "
          "prediction",
      .work = "Zhang 2024, Neural Tangent Kernel (lecture), Theorem 4 and its figure: Arora, Du, Hu, Li and Wang 2019",
      .options = {{"sets", "S,…", "mnist, cifar10 or both", "mnist,cifar10", ""},
                  {"samples", "N", "Training images of the first two classes", "50", "1000"},
                  {"labels", "L,…", "true, random, random:SHARE or worst", "true,random,worst", ""},
                  {"width", "M", "Hidden units of the network", "4096", "10000"},
                  {"steps", "N", "Training steps", "150", "2000"},
                  {"epsilon", "E", "Relative loss whose step is predicted", "0.01", ""}},
      .run = [](const Setting& setting) {
        const SpectrumLabelsChoice choice = spectrum_labels_choice(setting);
        Outcome outcome;
        for (const std::string& set : choice.sets) labels_of_set(setting, choice, set, outcome);
        return outcome;
      }};
}

}  // namespace widelimit::experiment
