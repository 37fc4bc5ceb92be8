#include "app/kernel/kernel_options.hpp"

#include "app/kernel/kernel_file.hpp"

#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

constexpr const char* kernel_group = "Kernel";

std::variant<Network, ClassicalKernel> parse_either(const KernelOptions& options) {
  if (!options.networks.empty() && options.classical) {
    fail(Code::usage, "--network and --classical exclude each other; give one");
  }
  if (!options.networks.empty()) return Network::parse(options.networks.front());
  if (options.classical) return ClassicalKernel::parse(*options.classical);
  fail(Code::usage, "no kernel given; add --network NET (see 'widelimit network list') or --classical KERNEL");
}

Shown shown(const KernelOptions& options) {
  if (int{options.sweep} + int{options.layers} + int{options.diagonal} > 1) {
    fail(Code::usage, "--sweep, --layers and --diagonal exclude each other; give one");
  }
  if (options.sweep) return Shown::sweep;
  if (options.layers) return Shown::layers;
  return options.diagonal ? Shown::diagonal : Shown::gram;
}

/// One by text and JSON; several as lists, in the order of their groups in the file.
void add_networks(nlohmann::ordered_json& settings, const KernelOptions& options, const Network& first) {
  if (options.networks.size() == 1) {
    settings["network"] = first.to_text();
    settings["network_json"] = nlohmann::ordered_json(first.to_json());
    return;
  }
  for (const Network& network : options.parsed_networks()) {
    settings["networks"].push_back(network.to_text());
    settings["networks_json"].push_back(nlohmann::ordered_json(network.to_json()));
  }
}

std::string_view shown_text(Shown shown) {
  if (shown == Shown::sweep) return "sweep";
  if (shown == Shown::layers) return "layers";
  return shown == Shown::diagonal ? "diagonal" : "gram";
}

}  // namespace

KernelRequest KernelOptions::request() const {
  KernelRequest result{.kernel = parse_either(*this)};
  result.shown = shown(*this);
  result.kind = parse_kind(kind);
  result.precision = parse_precision(common.precision);
  result.method = parse_method(method);
  result.monte_carlo.width = width;
  result.monte_carlo.draws = draws;
  result.monte_carlo.seed = common.seed;
  result.monte_carlo.threads = common.threads;
  result.memory = common.memory_limit();
  result.validate(data.request.test.has_value() || data.request.split.has_value());
  if (resume && force) fail(Code::usage, "--resume goes on and --force begins again; give one");
  if (!stored(result) && (resume || networks.size() > 1)) {
    fail(Code::usage,
         "{} only for the Gram matrix of a network, by its formulas, in an HDF5 file; give --out K.h5 and leave the "
         "other kinds out",
         resume ? "--resume is" : "several networks are");
  }
  return result;
}

std::vector<Network> KernelOptions::parsed_networks() const {
  std::vector<Network> parsed;
  for (const std::string& text : networks) parsed.push_back(Network::parse(text));
  return parsed;
}

bool KernelOptions::stored(const KernelRequest& asked) const {
  return is_hdf5(out) && asked.shown == Shown::gram && by_formulas(asked);
}

void add_kernel_options(CLI::App& verb, KernelOptions& options) {
  verb.add_option("--network", options.networks, "The network: text, preset, JSON, or a file of one; may be repeated")
      ->type_name("NET")
      ->allow_extra_args(false)
      ->group(kernel_group);
  verb.add_option("--classical", options.classical, "Instead: linear, polynomial, rbf, laplace or arccosine")
      ->type_name("\"rbf(gamma=0.5)\"")
      ->group(kernel_group);
  verb.add_option("--kind", options.kind, "ntk, nngp or nngp,ntk")
      ->type_name("KIND")
      ->capture_default_str()
      ->group(kernel_group);
  verb.add_option("--out", options.out, "File of the arrays, with the settings inside")
      ->type_name("K.npz|K.h5")
      ->required()
      ->group(kernel_group);
  verb.add_flag("--resume", options.resume, "K.h5: go on where a stopped or killed run ended")->group(kernel_group);
  verb.add_flag("--force", options.force, "K.h5: begin again, whatever is there")->group(kernel_group);
  verb.add_flag("--sweep", options.sweep, "Every depth and every number of frozen layers")->group(kernel_group);
  verb.add_flag("--layers", options.layers, "What each weight layer adds to the NTK")->group(kernel_group);
  verb.add_flag("--diagonal", options.diagonal, "The diagonal alone")->group(kernel_group);
  verb.add_option("--method", options.method, "auto (formulas where there are some), exact or monte-carlo")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(kernel_group);
  verb.add_option("--width", options.width, "Monte Carlo: width of the random networks")
      ->type_name("N")
      ->capture_default_str()
      ->group(kernel_group);
  verb.add_option("--draws", options.draws, "Monte Carlo: how many random networks")
      ->type_name("N")
      ->capture_default_str()
      ->group(kernel_group);
  add_train_option(verb, options.data);
  add_data_options(verb, options.data, true);
  add_common_options(verb, options.common);
}

nlohmann::ordered_json kernel_settings(const KernelOptions& options, const KernelRequest& request,
                                       const DataRequest& data) {
  nlohmann::ordered_json settings;
  if (const auto* network = std::get_if<Network>(&request.kernel)) {
    add_networks(settings, options, *network);
    settings["kind"] = options.kind;
  } else {
    settings["classical"] = std::get<ClassicalKernel>(request.kernel).to_text();
  }
  settings["data"] = data_settings(data);
  settings["shown"] = shown_text(request.shown);
  settings["method"] = options.method;
  return settings;
}

}  // namespace widelimit::app
