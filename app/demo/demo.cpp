#include "app/demo/demo_shows.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/machine.hpp"
#include "widelimit/report/figures/equivalence_figures.hpp"
#include "widelimit/report/figures/kernel_figures.hpp"

#include <cmath>
#include <filesystem>

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

struct Exhibit {
  std::string name;
  std::variant<Network, ClassicalKernel> kernel;
  Index samples;
  std::string words;
};

std::vector<Exhibit> exhibits() {
  return {{"fc:1", Network::parse("fc:1(w_std=1.4142)"), 500, "One hidden ReLU layer."},
          {"fc:3", Network::parse("fc:3(w_std=1.4142)"), 500, "Three hidden ReLU layers: all grow more alike."},
          {"erf", Network::parse("repeat(2){ dense(w_std=1.5, b_std=0.3) erf } dense"), 500,
           "Two hidden layers with the error function and biases."},
          {"cntk:3", Network::parse("cntk:3(readout=flatten)"), 200,
           "Three convolutions: the network sees the 8×8 image, not a list of pixels. A pair of images costs what "
           "thousands of pairs of vectors do, so it was given fewer."},
          {"laplace", ClassicalKernel::parse("laplace"), 500, "A classical kernel for comparison."},
          {"rbf", ClassicalKernel::parse("rbf"), 500, "Another one."}};
}

std::string kind_of(const std::string& array) {
  if (array == "kernel") return "";
  return array == "ntk" ? " NTK" : " NNGP";
}

/// The eigenvalues as shares of their sum, so that kernels of any scale and size share one plot.
Spectrum normalised(Spectrum spectrum) {
  double sum = 0;
  for (const double value : spectrum.eigenvalues) sum += value;
  for (double& value : spectrum.eigenvalues) value /= sum > 0 ? sum : 1.0;
  return spectrum;
}

/// The page as it grows, exhibit by exhibit.
struct Show {
  Table table{
      .columns = {"kernel", "samples", "route", "ms", "condition", "effective dimension", "alignment", "neighbours"}};
  std::vector<std::pair<std::string, Spectrum>> tangent;
  std::vector<std::pair<std::string, Spectrum>> process;
  std::vector<std::pair<std::string, std::vector<Illustration>>> maps;  ///< words, figures
  Json results = Json::array();
  double pairs = 0;
};

void hang(Show& show, const Exhibit& exhibit, const NamedMatrix& matrix, const KernelAnswer& answer,
          const Dataset& data) {
  const std::string name = exhibit.name + kind_of(matrix.name);
  Spectrum found = spectrum(matrix.values);
  const double aligned = alignment(matrix.values, class_targets(data.labels, std::ssize(data.class_names)));
  const double neighbours = neighbour_accuracy(matrix.values, data.labels);
  const std::string condition = found.condition ? fmt::format("{:.2g}", *found.condition) : "beyond precision";
  show.table.rows.push_back({name, static_cast<std::int64_t>(data.count()), answer.route,
                             static_cast<std::int64_t>(std::llround(1000 * answer.seconds)), condition,
                             found.effective_dimension, aligned, neighbours});
  show.results.push_back({{"kernel", name},
                          {"samples", data.count()},
                          {"route", answer.route},
                          {"seconds", answer.seconds},
                          {"effective_dimension", found.effective_dimension},
                          {"alignment", aligned},
                          {"neighbour_accuracy", neighbours}});
  if (found.condition) show.results.back()["condition"] = *found.condition;
  show.maps.back().second.push_back(kernel_heat_map(matrix.values, data, name, Shade::correlation));
  auto& curves = matrix.name == "nngp" ? show.process : show.tangent;
  curves.emplace_back(exhibit.name, normalised(std::move(found)));
}

void add(Show& show, const Exhibit& exhibit, const CommonOptions& options, const Engine& engine) {
  ProgressBar bar(options);
  DataRequest request{.train = "digits"};
  request.limit = exhibit.samples;
  request.scale = Scaling::standard;
  const Dataset data = load_within(options, request).train;
  KernelRequest wanted{.kernel = exhibit.kernel};
  wanted.kind = Kind::both;
  wanted.precision = parse_precision(options.precision);
  wanted.memory = options.memory_limit();
  wanted.progress = &bar;
  const KernelAnswer answer = compute_kernel(wanted, data, std::nullopt, engine);
  show.pairs += answer.pairs;
  show.maps.emplace_back(exhibit.words, std::vector<Illustration>{});
  for (const NamedMatrix& matrix : answer.matrices) {
    stop_if_interrupted();
    hang(show, exhibit, matrix, answer, data);
  }
}

void add_machines(Page& page, const MachineShow& show) {
  page.section("Machines on the tangent kernel of three hidden layers").table(show.table);
  page.paragraph(fmt::format(
      "A support vector machine by pairs of digits and ridge regression on ten targets learn from {} images, which "
      "also choose λ: ridge by its exact leave-one-out error, from one factorisation for all λ. The accuracy is that "
      "on {} "
      "held-out images.",
      show.train, show.test));
  page.figures(show.paths).figures(show.confusion);
}

Page page_of(const Show& show, const MachineShow& machines) {
  Page page(
      "Infinitely wide networks on handwritten digits",
      "Kernels of networks with infinitely many hidden units, computed exactly on 8×8 images of digits: NNGP (the "
      "network at birth) and NTK (the network in training), beside two classical kernels; and what kernel machines "
      "learn on them.");
  double best = 0;
  for (const auto& row : show.table.rows) best = std::max(best, std::get<double>(row.back()));
  page.highlights({{"kernels", fmt::format("{}", show.table.rows.size())},
                   {"pairs of images", fmt::format("{:.0f} thousand", show.pairs / 1000)},
                   {"best neighbour accuracy", fmt::format("{:.1f} %", 100 * best)},
                   {"best machine accuracy", fmt::format("{:.1f} %", 100 * machines.best_accuracy)}});
  page.section("In numbers").table(show.table);
  page.paragraph(
      "Effective dimension is (Σλ)²/Σλ². Alignment with the classes is ⟨K, YYᵀ⟩/(‖K‖‖YYᵀ‖). Neighbours is the fraction "
      "of "
      "images whose nearest other image, as the kernel measures distance, shows the same digit.");
  add_machines(page, machines);
  page.section("Spectra").figures(
      {spectrum_curves(show.tangent, "NTK and classical kernels, λ/Σλ"), spectrum_curves(show.process, "NNGP, λ/Σλ")});
  page.paragraph(
      "A slow decay keeps many directions of the data apart, a fast one sees few. The convolutional network has fewer "
      "eigenvalues since it was given fewer images.");
  page.section("Kernel matrices as correlations, images ordered by digit");
  std::vector<Illustration> classical;
  for (const auto& entry : show.maps) {
    if (entry.second.size() < 2) {
      classical.insert(classical.end(), entry.second.begin(), entry.second.end());
    } else {
      page.paragraph(entry.first).figures(entry.second);
    }
  }
  page.paragraph("Classical kernels for comparison.").figures(classical);
  return page;
}

void run(const CommonOptions& options, const std::filesystem::path& folder) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) fail(Code::resource, "cannot make the folder {}: {}", folder.string(), failure.message());
  CommonOptions checked = options;
  const std::filesystem::path path = options.report ? std::filesystem::path(*options.report) : folder / "index.html";
  checked.report = path.string();
  checked.check_report(true);
  const auto engine = options.make_engine();
  const auto start = Clock::now();
  Show show;
  for (const Exhibit& exhibit : exhibits()) add(show, exhibit, options, *engine);
  const MachineShow machines = show_machines(options, *engine);
  const Equivalence beside = show_equivalence(options, *engine);
  const CertificateShow certificates = show_certificates(options, *engine);
  stop_if_interrupted();
  Page page = page_of(show, machines);
  add_equivalence_section(page, beside);
  add_certificate_section(page, certificates);
  Record record("demo");
  record.seed = options.seed;
  record.settings = {{"data", "digits"}, {"out", folder.string()}};
  record.ran_on(*engine, parse_precision(options.precision));
  record.timings.emplace_back("all", seconds_since(start));
  page.settings(record.page_settings()).write(path);
  record.results = {{"kernels", show.results},
                    {"network", machines.network},
                    {"machines", machines.results},
                    {"equivalence", {{"difference", beside.difference}}},
                    {"certificates", certified_json(certificates.certified, {})},
                    {"report", path.string()}};
  deliver(options, record,
          table_text(show.table) + "\n" + table_text(machines.table) + "\n" + table_text(equivalence_table(beside)) +
              "\n" + table_text(certificates.table) + "\n" + path.string() + "\n");
}

}  // namespace

void add_demo(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "demo",
      "Kernels of a few networks on digits, machines, networks in training and certificates, as a page of figures");
  const auto options = std::make_shared<CommonOptions>();
  const auto folder = std::make_shared<std::string>("widelimit-demo");
  verb->add_option("--out", *folder, "Folder of the page")->type_name("DIR")->capture_default_str();
  add_common_options(*verb, *options);
  set_example(*verb, "widelimit demo --out widelimit-demo");
  verb->callback([=, &program] { program.action = [=] { run(*options, *folder); }; });
}

}  // namespace widelimit::app
