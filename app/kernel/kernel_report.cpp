#include "app/kernel/kernel_report.hpp"

#include "app/shell/interrupt.hpp"

#include "widelimit/machine/machine.hpp"
#include "widelimit/report/figures/kernel_figures.hpp"

#include <fmt/ranges.h>

namespace widelimit::app {

namespace {

using Json = nlohmann::ordered_json;

std::vector<Index> dims_of(const NamedMatrix& matrix, const Entries& entries) {
  return matrix.dims.empty() ? std::vector<Index>{entries.rows, entries.cols} : matrix.dims;
}

/// Returns whether the matrix is a Gram matrix of the training set with itself, i.e. has a spectrum.
bool is_training_gram(const NamedMatrix& matrix) {
  return matrix.name == "ntk" || matrix.name == "nngp" || matrix.name == "kernel";
}

std::string upper_case(std::string name) {
  if (name == "kernel") return "Kernel";
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

struct Findings {
  std::vector<std::pair<std::string, Spectrum>> spectra;
  Table table{.columns = {"kernel", "condition", "effective dimension", "alignment", "neighbours"}};
  Json json = Json::object();
};

void analyse(const NamedMatrix& matrix, const Dataset& train, std::uint64_t seed, Findings& findings) {
  Spectrum found = spectrum(matrix.values, {.seed = seed});
  Json& json = findings.json[matrix.name];
  std::vector<Cell> row{upper_case(matrix.name), {}, found.effective_dimension, {}, {}};
  json["effective_dimension"] = found.effective_dimension;
  if (!found.eigenvalues.empty()) {
    json["largest_eigenvalue"] = found.eigenvalues.front();
    json["smallest_eigenvalue"] = found.eigenvalues.back();
  }
  if (found.condition) json["condition"] = *found.condition;
  row[1] = found.condition ? fmt::format("{:.3g}", *found.condition) : "beyond precision";
  if (!train.labels.empty()) {
    const double aligned = alignment(matrix.values, class_targets(train.labels, std::ssize(train.class_names)));
    const double neighbours = neighbour_accuracy(matrix.values, train.labels);
    json["alignment"] = aligned;
    json["neighbour_accuracy"] = neighbours;
    row[3] = aligned;
    row[4] = neighbours;
  }
  findings.table.rows.push_back(std::move(row));
  findings.spectra.emplace_back(upper_case(matrix.name), std::move(found));
}

}  // namespace

std::vector<ArrayFacts> array_facts(const KernelResult& result) {
  std::vector<ArrayFacts> facts;
  for (const NamedMatrix& matrix : result.matrices) {
    const Entries entries = summarise(matrix.values);
    facts.push_back({matrix.name, dims_of(matrix, entries), entries});
  }
  return facts;
}

Table array_table(const std::vector<ArrayFacts>& arrays) {
  Table table{.columns = {"array", "shape", "smallest", "largest", "mean", "trace"}};
  const auto number = [](double value) { return fmt::format("{:.5g}", value); };
  for (const auto& [name, dims, entries] : arrays) {
    table.rows.push_back({name, fmt::format("{}", fmt::join(dims, "x")), number(entries.smallest),
                          number(entries.largest), number(entries.mean), entries.trace ? number(*entries.trace) : "–"});
  }
  return table;
}

Json arrays_json(const std::vector<ArrayFacts>& arrays) {
  Json json;
  for (const auto& [name, dims, entries] : arrays) {
    Json& array = json[name];
    array["shape"] = dims;
    array["smallest"] = entries.smallest;
    array["largest"] = entries.largest;
    array["mean"] = entries.mean;
    if (entries.trace) array["trace"] = *entries.trace;
  }
  return json;
}

double pairs_per_second(double pairs, double seconds) { return pairs / std::max(seconds, 1e-9); }

Json kernel_json(const KernelResult& result) {
  Json json;
  json["arrays"] = arrays_json(array_facts(result));
  json["route"] = result.route;
  json["monte_carlo"] = result.monte_carlo;
  json["quadrature_error"] = result.quadrature_error;
  if (result.monte_carlo) json["standard_error"] = result.standard_error;
  if (!result.layers.empty()) json["layers"] = result.layers;
  json["seconds"] = result.seconds;
  json["pairs"] = static_cast<std::int64_t>(result.pairs);
  json["pairs_per_second"] = pairs_per_second(result.pairs, result.seconds);
  return json;
}

Json write_kernel_page(const std::filesystem::path& path, const std::string& title, const KernelResult& result,
                       const Dataset& train, const Json& settings, std::uint64_t seed) {
  Findings findings;
  std::vector<Illustration> maps;
  for (const NamedMatrix& matrix : result.matrices) {
    stop_if_interrupted();
    if (!is_training_gram(matrix)) continue;
    analyse(matrix, train, seed, findings);
    maps.push_back(kernel_heat_map(matrix.values, train, upper_case(matrix.name)));
  }
  stop_if_interrupted();
  Page page(title, fmt::format("{} samples of {}, {}.", train.count(), train.name, result.route));
  page.highlights({{"samples", fmt::format("{}", train.count())},
                   {"seconds", fmt::format("{:.3g}", result.seconds)},
                   {"pairs per second", fmt::format("{:.3g}", pairs_per_second(result.pairs, result.seconds))}});
  if (!maps.empty()) {
    page.section("Kernel").figures(maps);
    page.section("Spectrum").figure(spectrum_curves(findings.spectra, "Eigenvalues"));
    findings.table.caption =
        "Effective dimension: (Σλ)²/Σλ². Alignment with the classes: ⟨K, YYᵀ⟩/(‖K‖‖YYᵀ‖). Neighbours: fraction of "
        "samples whose nearest neighbour in the distance of the kernel has the same class.";
    page.table(findings.table);
  }
  page.section("Arrays").table(array_table(array_facts(result)));
  page.settings(settings);
  page.write(path);
  return findings.json;
}

}  // namespace widelimit::app
