#include "app/demo/demo_sections.hpp"
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

struct DemoKernel {
  std::string name;
  std::variant<Network, ClassicalKernel> kernel;
  Index samples;
  std::string description;
};

std::vector<DemoKernel> demo_kernels() {
  return {{"fc:1", Network::parse("fc:1(w_std=1.4142)"), 500, "One hidden ReLU layer."},
          {"fc:3", Network::parse("fc:3(w_std=1.4142)"), 500,
           "Three hidden ReLU layers: correlations between images grow."},
          {"erf", Network::parse("repeat(2){ dense(w_std=1.5, b_std=0.3) erf } dense"), 500,
           "Two hidden layers with the error function and biases."},
          {"cntk:3", Network::parse("cntk:3(readout=flatten)"), 200,
           "Three convolutions: the network uses the 8×8 positions of the image. A pair of images costs as much as "
           "thousands of pairs of vectors, so fewer images are used."},
          {"laplace", ClassicalKernel::parse("laplace"), 500, "A classical kernel for comparison."},
          {"rbf", ClassicalKernel::parse("rbf"), 500, "Another classical kernel."}};
}

std::string kind_of(const std::string& array) {
  if (array == "kernel") return "";
  return array == "ntk" ? " NTK" : " NNGP";
}

/// Divides the eigenvalues by their sum, so that kernels of any scale and size fit into one plot.
Spectrum normalised(Spectrum spectrum) {
  double sum = 0;
  for (const double value : spectrum.eigenvalues) sum += value;
  for (double& value : spectrum.eigenvalues) value /= sum > 0 ? sum : 1.0;
  return spectrum;
}

/// Results of all kernels, for the page and the record.
struct KernelReport {
  Table table{
      .columns = {"kernel", "samples", "route", "ms", "condition", "effective dimension", "alignment", "neighbours"}};
  std::vector<std::pair<std::string, Spectrum>> tangent;
  std::vector<std::pair<std::string, Spectrum>> process;
  std::vector<std::pair<std::string, std::vector<Illustration>>> maps;  ///< description, figures
  Json results = Json::array();
  double pairs = 0;
};

void add_matrix(KernelReport& report, const DemoKernel& demo, const NamedMatrix& matrix, const KernelResult& result,
                const Dataset& data) {
  const std::string name = demo.name + kind_of(matrix.name);
  Spectrum found = spectrum(matrix.values);
  const double aligned = alignment(matrix.values, class_targets(data.labels, std::ssize(data.class_names)));
  const double neighbours = neighbour_accuracy(matrix.values, data.labels);
  const std::string condition = found.condition ? fmt::format("{:.2g}", *found.condition) : "beyond precision";
  report.table.rows.push_back({name, static_cast<std::int64_t>(data.count()), result.route,
                               static_cast<std::int64_t>(std::llround(1000 * result.seconds)), condition,
                               found.effective_dimension, aligned, neighbours});
  report.results.push_back({{"kernel", name},
                            {"samples", data.count()},
                            {"route", result.route},
                            {"seconds", result.seconds},
                            {"effective_dimension", found.effective_dimension},
                            {"alignment", aligned},
                            {"neighbour_accuracy", neighbours}});
  if (found.condition) report.results.back()["condition"] = *found.condition;
  report.maps.back().second.push_back(kernel_heat_map(matrix.values, data, name, Shade::correlation));
  auto& curves = matrix.name == "nngp" ? report.process : report.tangent;
  curves.emplace_back(demo.name, normalised(std::move(found)));
}

void add_demo_kernel(KernelReport& report, const DemoKernel& demo, const CommonOptions& options, const Engine& engine) {
  ProgressBar bar(options);
  DataRequest request{.train = "digits"};
  request.limit = demo.samples;
  request.scale = Scaling::standard;
  const Dataset data = load_request(options, request).train;
  KernelRequest kernel_request{.kernel = demo.kernel};
  kernel_request.kind = Kind::both;
  kernel_request.precision = parse_precision(options.precision);
  kernel_request.memory = options.memory_limit();
  kernel_request.progress = &bar;
  const KernelResult result = compute_kernel(kernel_request, data, std::nullopt, engine);
  report.pairs += result.pairs;
  report.maps.emplace_back(demo.description, std::vector<Illustration>{});
  for (const NamedMatrix& matrix : result.matrices) {
    stop_if_interrupted();
    add_matrix(report, demo, matrix, result, data);
  }
}

void add_machines(Page& page, const MachineReport& report) {
  page.section("Machines on the tangent kernel of three hidden layers").table(report.table);
  page.paragraph(
      fmt::format("A support vector machine (one-vs-one) and ridge regression on ten targets are fitted to {} images. "
                  "λ is selected on the same images; for ridge by the exact leave-one-out error, from one "
                  "factorisation for all λ. The accuracy is that on {} held-out images.",
                  report.train, report.test));
  page.figures(report.paths).figures(report.confusion);
}

Page page_of(const KernelReport& report, const MachineReport& machines) {
  Page page(
      "Infinitely wide networks on handwritten digits",
      "Kernels of networks with infinitely many hidden units, computed exactly on 8×8 images of digits: NNGP (at "
      "initialisation) and NTK (in training), compared with two classical kernels; and kernel machines that use them.");
  double best = 0;
  for (const auto& row : report.table.rows) best = std::max(best, std::get<double>(row.back()));
  page.highlights({{"kernels", fmt::format("{}", report.table.rows.size())},
                   {"pairs of images", fmt::format("{:.0f} thousand", report.pairs / 1000)},
                   {"best neighbour accuracy", fmt::format("{:.1f} %", 100 * best)},
                   {"best machine accuracy", fmt::format("{:.1f} %", 100 * machines.best_accuracy)}});
  page.section("Summary").table(report.table);
  page.paragraph(
      "Effective dimension is (Σλ)²/Σλ². Alignment with the classes is ⟨K, YYᵀ⟩/(‖K‖‖YYᵀ‖). Neighbours is the fraction "
      "of images whose nearest neighbour in the distance of the kernel shows the same digit.");
  add_machines(page, machines);
  page.section("Spectra").figures({spectrum_curves(report.tangent, "NTK and classical kernels, λ/Σλ"),
                                   spectrum_curves(report.process, "NNGP, λ/Σλ")});
  page.paragraph(
      "With a slow decay the kernel resolves many directions of the data, with a fast decay only a few. The "
      "convolutional network has fewer eigenvalues because fewer images are used.");
  page.section("Kernel matrices as correlations, images ordered by digit");
  std::vector<Illustration> classical;
  for (const auto& entry : report.maps) {
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
  KernelReport report;
  for (const DemoKernel& demo : demo_kernels()) add_demo_kernel(report, demo, options, *engine);
  const MachineReport machines = demo_machines(options, *engine);
  const Equivalence comparison = demo_equivalence(options, *engine);
  const CertificateReport certificates = demo_certificates(options, *engine);
  stop_if_interrupted();
  Page page = page_of(report, machines);
  add_equivalence_section(page, comparison);
  add_certificate_section(page, certificates);
  Record record("demo");
  record.seed = options.seed;
  record.settings = {{"data", "digits"}, {"out", folder.string()}};
  record.ran_on(*engine, parse_precision(options.precision));
  record.timings.emplace_back("all", seconds_since(start));
  page.settings(record.page_settings()).write(path);
  record.results = {{"kernels", report.results},
                    {"network", machines.network},
                    {"machines", machines.results},
                    {"equivalence", {{"difference", comparison.difference}}},
                    {"certificates", certified_json(certificates.certified, {})},
                    {"report", path.string()}};
  print_result(options, record,
               table_text(report.table) + "\n" + table_text(machines.table) + "\n" +
                   table_text(equivalence_table(comparison)) + "\n" + table_text(certificates.table) + "\n" +
                   path.string() + "\n");
}

}  // namespace

void add_demo(Program& program) {
  auto* verb = program.cli.add_subcommand(
      "demo", "Write a page of figures on digits: kernels, machines, training of finite networks, certificates");
  const auto options = std::make_shared<CommonOptions>();
  const auto folder = std::make_shared<std::string>("widelimit-demo");
  verb->add_option("--out", *folder, "Folder of the page")->type_name("DIR")->capture_default_str();
  add_common_options(*verb, *options);
  set_example(*verb, "widelimit demo --out widelimit-demo");
  verb->callback([=, &program] { program.action = [=] { run(*options, *folder); }; });
}

}  // namespace widelimit::app
