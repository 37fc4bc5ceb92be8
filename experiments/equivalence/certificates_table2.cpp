#include "experiments/experiments.hpp"

#include "experiments/log_slope.hpp"
#include "experiments/tasks/digit_pair.hpp"
#include "experiments/tasks/mnist_task.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/random.hpp"
#include "widelimit/certificate/network/network_certificate.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/report/figures/equivalence_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit::experiment {

namespace {

using Json = nlohmann::ordered_json;

/// A row of EQ Table 2: mean and standard deviation over samples, times 10³.
struct PublishedRadius {
  Index width;
  double mean, deviation;          ///< over 100 random test samples
  double all_mean, all_deviation;  ///< over all test samples
};
constexpr PublishedRadius eq_table_2[] = {{1000, 7.4485, 2.5667, 7.2708, 2.1427},
                                          {10000, 2.9861, 1.0730, 2.9367, 0.89807},
                                          {100000, 0.99098, 0.35775, 0.97410, 0.29997},
                                          {1000000, 0.31539, 0.11380, 0.30997, 0.095467}};
constexpr PublishedRadius eq_table_2_svm{0, 8.0541, 2.5827, 7.9733, 2.1396};

/// Options, parsed and validated before any computation.
struct Table2Choice {
  Network network;
  std::vector<Index> widths;
  std::vector<Index> centred_widths;
  std::vector<Index> seeds;  ///< networks per width; the last entry applies to all further widths
  Index samples = 0, tests = 0, points = 0;
  double epochs = 0, rate = 0, lambda = 0, machine_lambda = 0;
  Index batch = 0;
  Regulariser regulariser = Regulariser::weights;

  [[nodiscard]] Index seeds_of(std::size_t width) const { return seeds[std::min(width, seeds.size() - 1)]; }
};

Table2Choice table2_choice(const Setting& setting) {
  Table2Choice choice{.network = Network::parse(setting.text("network")),
                      .widths = setting.counts("widths", 1),
                      .centred_widths = setting.counts("centred-widths", 1),
                      .seeds = setting.counts("seeds", 1),
                      .samples = setting.count("samples", 2),
                      .tests = setting.count("tests", 1),
                      .points = setting.count("points", 1),
                      .epochs = setting.positive("epochs"),
                      .rate = setting.positive("rate"),
                      .lambda = setting.numbers("lambda", 0, 1e9).front(),
                      .machine_lambda = setting.positive("machine-lambda"),
                      .batch = setting.count("batch", 1),
                      .regulariser = parse_regulariser(setting.text("regulariser"))};
  return choice;
}

/// Mean and standard deviation times 10³, and the number of radii.
struct RadiusMoments {
  double mean = 0, deviation = 0;
  Index count = 0;
};

/// Computes moments over correctly classified points, as in EQ.
RadiusMoments moments_of(const Certificates& c, std::span<const Index> points) {
  std::vector<double> radii;
  for (const Index i : points) {
    if (c.correct[usize(i)]) radii.push_back(1000 * c.radius[usize(i)]);
  }
  RadiusMoments m{.count = std::ssize(radii)};
  if (radii.empty()) return m;
  const auto count = static_cast<double>(m.count);
  m.mean = std::accumulate(radii.begin(), radii.end(), 0.0) / count;
  for (const double r : radii) m.deviation += (r - m.mean) * (r - m.mean) / count;
  m.deviation = std::sqrt(m.deviation);
  return m;
}

/// Results of one model, accumulated over seeds.
struct RadiusRow {
  RadiusMoments few, all;
  double accuracy = 0, margin = 0, train_seconds = 0, seconds = 0;

  void add(const RadiusRow& other, double share) {
    for (const auto moments : {&RadiusRow::few, &RadiusRow::all}) {
      (this->*moments).mean += share * (other.*moments).mean;
      (this->*moments).deviation += share * (other.*moments).deviation;
      (this->*moments).count = (other.*moments).count;
    }
    accuracy += share * other.accuracy;
    margin += share * other.margin;
    train_seconds += other.train_seconds;
    seconds += other.seconds;
  }
};

RadiusRow row_of(const Certificates& c, const std::vector<Index>& few) {
  std::vector<Index> all(c.radius.size());
  std::iota(all.begin(), all.end(), Index{0});
  RadiusRow row{.few = moments_of(c, few), .all = moments_of(c, all), .seconds = c.seconds};
  const auto count = static_cast<double>(all.size());
  row.accuracy = static_cast<double>(std::count(c.correct.begin(), c.correct.end(), true)) / count;
  row.margin = std::accumulate(c.margin.begin(), c.margin.end(), 0.0) / count;
  return row;
}

/// Draws `count` of the numbers 0 … of − 1 without replacement.
std::vector<Index> random_points(Index count, Index of, std::uint64_t seed) {
  std::vector<Index> order(usize(of));
  std::iota(order.begin(), order.end(), Index{0});
  const Random random(seed, 2);
  for (Index i = 0; i < std::min(count, of); ++i) {
    const auto other =
        i + static_cast<Index>(random.below(static_cast<std::uint64_t>(of - i), static_cast<std::uint64_t>(i)));
    std::swap(order[usize(i)], order[usize(other)]);
  }
  order.resize(usize(std::min(count, of)));
  return order;
}

CertifyOptions table2_certificate(const Setting& setting, CertificateMethod method) {
  CertifyOptions options;
  options.method = method;
  options.tolerance = 1e-4;
  options.progress = setting.progress;
  return options;
}

/// Trains and certifies a network as EQ presumably did: f itself, in mini-batches; η̂ is the rate on the mean loss.
RadiusRow network_row(const Setting& setting, const Table2Choice& choice, const DigitPair& pair, Index width,
                      bool centred, std::uint64_t seed, const std::vector<Index>& few) {
  stop_if_requested(setting.progress);
  const auto samples = static_cast<double>(pair.data.train.count());
  TrainOptions options = setting.training();
  options.width = width;
  options.loss.kind = LossKind::hinge;
  options.regulariser = choice.regulariser;
  options.lambda = choice.lambda;
  options.rate = choice.rate / samples;
  options.batch = std::min(choice.batch, pair.data.train.count());
  options.steps =
      static_cast<Index>(std::ceil(choice.epochs * std::floor(samples / static_cast<double>(options.batch))));
  options.centred = centred;
  options.seed = seed;
  options.precision = Precision::f32;  // a million channels in float64 take 12 GB
  options.keep_record = false;
  TrainedNetwork trained =
      train(choice.network, {.x = pair.data.train.view(), .y = pair.targets.train.view()}, options, setting.engine);
  if (!trained.summary.finished()) fail(Code::numerical, "width {}: {}", width, trained.summary.message);
  if (!centred) trained.start = Parameters<float>{};  // halves the memory of a wide network
  const Dataset& test = *pair.data.test;
  RadiusRow row = row_of(certify_network(trained, test.view(), test.labels,
                                         table2_certificate(setting, CertificateMethod::interval), setting.engine),
                         few);
  row.train_seconds = trained.summary.seconds;
  return row;
}

std::string moments_text(const RadiusMoments& m) { return fmt::format("{:.5g} ± {:.4g}", m.mean, m.deviation); }
std::string published_text(double mean, double deviation) { return fmt::format("{:g} ± {:g}", mean, deviation); }

void add_row(Part& part, Json& json, const std::string& model, const std::string& width, const RadiusRow& row,
             const PublishedRadius* published, Index seeds) {
  part.table.rows.push_back(
      {model, width, moments_text(row.few),
       published != nullptr ? published_text(published->mean, published->deviation) : "–", moments_text(row.all),
       published != nullptr ? published_text(published->all_mean, published->all_deviation) : "–",
       fmt::format("{:.2f} %", 100 * row.accuracy), fmt::format("{:.3g}", row.margin), static_cast<std::int64_t>(seeds),
       fmt::format("{:.3g}", row.train_seconds), fmt::format("{:.3g}", row.seconds)});
  Json entry{{"model", model},
             {"width", width},
             {"mean", row.few.mean},
             {"deviation", row.few.deviation},
             {"all_mean", row.all.mean},
             {"all_deviation", row.all.deviation},
             {"accuracy", row.accuracy},
             {"mean_margin", row.margin},
             {"seeds", seeds},
             {"train_seconds", row.train_seconds},
             {"certify_seconds", row.seconds}};
  if (published != nullptr) {
    entry["published"] = {{"mean", published->mean}, {"all_mean", published->all_mean}};
  }
  json.push_back(std::move(entry));
}

/// Certifies the infinite-width limit of the network, the support vector machine with its NTK, by EQ Theorem 4.2.
RadiusRow machine_row(const Setting& setting, const Table2Choice& choice, const DigitPair& pair,
                      const std::vector<Index>& few) {
  stop_if_requested(setting.progress);
  const auto begin = Clock::now();
  const MnistTask task = mnist_task(setting, setting.text("network"), {"0", "1"}, choice.samples);
  const MachineOptions options{.machine = Machine::svm,
                               .lambda = choice.machine_lambda,
                               .check_definite = !task.semidefinite,
                               .progress = setting.progress};
  const FittedMachine trained =
      train_classes({view_of(task.k), setting.engine}, task.train.labels, task.classes(), options);
  const Model model = fitted_model(choice.network, task.train, trained, choice.machine_lambda);
  const double seconds = seconds_since(begin);
  const Dataset& test = *pair.data.test;
  RadiusRow row = row_of(
      certify(model, test.view(), test.labels, table2_certificate(setting, CertificateMethod::paper), setting.engine),
      few);
  row.train_seconds = seconds;
  return row;
}

const PublishedRadius* published_of(Index width) {
  const auto* found = std::find_if(std::begin(eq_table_2), std::end(eq_table_2),
                                   [&](const PublishedRadius& line) { return line.width == width; });
  return found == std::end(eq_table_2) ? nullptr : found;
}

/// Logarithms of width and mean radius of each network.
struct WidthLine {
  std::vector<double> log_width, log_radius;

  [[nodiscard]] Series series(const std::string& name) const {
    Series series{.name = name, .x = {}, .y = {}};
    for (std::size_t i = 0; i < log_width.size(); ++i) {
      series.x.push_back(std::exp(log_width[i]));
      series.y.push_back(std::exp(log_radius[i]));
    }
    return series;
  }
};

void add_networks(const Setting& setting, const Table2Choice& choice, const DigitPair& pair,
                  const std::vector<Index>& few, const std::vector<Index>& widths, bool centred, Part& part, Json& json,
                  WidthLine& line) {
  for (std::size_t w = 0; w < widths.size(); ++w) {
    const Index seeds = choice.seeds_of(w);
    RadiusRow mean;
    for (Index k = 0; k < seeds; ++k) {
      const auto seed = setting.seed + static_cast<std::uint64_t>(k);
      const RadiusRow row = network_row(setting, choice, pair, widths[w], centred, seed, few);
      mean.add(row, 1.0 / static_cast<double>(seeds));
      line.log_width.push_back(std::log(static_cast<double>(widths[w])));
      line.log_radius.push_back(std::log(row.all.mean));
    }
    add_row(part, json, centred ? "network, f - f0" : "network", std::to_string(widths[w]), mean,
            centred ? nullptr : published_of(widths[w]), seeds);
  }
}

Illustration by_width(const WidthLine& line, const WidthLine& centred) {
  Series published{.name = "EQ Table 2", .x = {}, .y = {}};
  for (const PublishedRadius& row : eq_table_2) {
    published.x.push_back(static_cast<double>(row.width));
    published.y.push_back(row.all_mean);
  }
  return {.figure = curves({line.series("networks"), centred.series("networks, f - f0"), published},
                           {.title = "Certified radius by width",
                            .x_label = "width",
                            .y_label = "mean radius × 10³",
                            .x_scale = AxisScale::log,
                            .y_scale = AxisScale::log}),
          .caption = "Mean over correctly classified test images; slope −½ corresponds to 1/√m."};
}

Outcome run_table2(const Setting& setting) {
  const Table2Choice choice = table2_choice(setting);
  const DigitPair pair = digit_pair(setting, choice.samples, choice.tests);
  const std::vector<Index> few = random_points(choice.points, pair.data.test->count(), setting.seed);
  Outcome outcome;
  Part part{.heading = "Certified radii × 10³, mean ± standard deviation over test images",
            .table = {.columns = {"model", "width", "some images", "published (100)", "all images", "published (all)",
                                  "accuracy", "mean margin", "networks", "training s", "certifying s"}}};
  Json json = Json::array();
  WidthLine line;
  add_networks(setting, choice, pair, few, choice.widths, false, part, json, line);
  WidthLine centred;
  add_networks(setting, choice, pair, few, choice.centred_widths, true, part, json, centred);
  add_row(part, json, "svm", "∞", machine_row(setting, choice, pair, few), &eq_table_2_svm, 1);
  part.words = fmt::format(
      "{} training images of MNIST 0 and 1, values in [0, 1]; {} test images, and {} of them at random; statistics are "
      "over correctly classified images. Networks: {}, hinge loss, {:g} epochs with batches of {}, step size {:g} on "
      "the mean loss, regulariser {} with λ = {:g}, float32; ℓ∞ balls without a box, interval bound propagation in "
      "float64 with rigorous rounding. Means and deviations are averaged over networks. The machine: λ = {:g}, EQ "
      "Theorem 4.2. EQ does not describe the training of its networks; the certificate is proportional to their "
      "outputs (mean margin), and number and size of steps were chosen so that the radius at width 1,000 is close to "
      "that of EQ.",
      pair.data.train.count(), pair.data.test->count(), few.size(), choice.network.to_text(), choice.epochs,
      choice.batch, choice.rate, to_string(choice.regulariser), choice.lambda, choice.machine_lambda);
  outcome.results["rows"] = std::move(json);
  const auto slope = fit_line(line.log_width, line.log_radius);
  const auto centred_slope = fit_line(centred.log_width, centred.log_radius);
  write_slope(outcome.results, slope);
  write_slope(outcome.results["centred"], centred_slope);
  const auto slope_or_none = [](const std::optional<LineFit>& fit) {
    return fit ? slope_text(fit) : "unknown for one width";
  };
  outcome.sentence =
      fmt::format("Exponents of the width in certified radii: of f {} (1/√m is -0.5), of f - f0 {} (0: constant).",
                  slope_or_none(slope), slope_or_none(centred_slope));
  if (setting.figures) part.pictures.push_back(by_width(line, centred));
  outcome.parts.push_back(std::move(part));
  return outcome;
}

}  // namespace

Experiment certificates_table2() {
  return {
      .name = "certificates-table2",
      .summary = "Certified radii of networks by interval bound propagation, by width, and of their limit",
      .work = "Chen et al. 2021, On the Equivalence between Neural Network and Support Vector Machine, Table 2",
      .options = {{"network", "NET", "Network to train", "eq2", ""},
                  {"widths", "M,…", "Channels of the hidden layer", "1000,10000", "1000,10000,100000,1000000"},
                  {"centred-widths", "M,…", "Widths of networks trained as f - f0", "1000,10000", "1000,10000,100000"},
                  {"seeds", "N,…", "Networks per width; the last applies to all further widths", "1", "5,5,2,1"},
                  {"samples", "N", "Training images of 0 and 1", "12665", ""},
                  {"tests", "N", "Test images", "500", "2115"},
                  {"points", "N", "Random subset of the test images", "100", ""},
                  {"epochs", "E", "Epochs", "1", ""},
                  {"rate", "ETA", "Step size on the mean loss", "50", ""},
                  {"batch", "N", "Batch size", "64", ""},
                  {"lambda", "L", "Weight of the regulariser, relative to the sum of losses", "0", ""},
                  {"machine-lambda", "L", "λ of the support vector machine", "0.064", ""},
                  {"regulariser", "R", "none, output, weights, init or aux", "weights", ""}},
      .run = run_table2};
}

}  // namespace widelimit::experiment
