#include "app/kernel_options.hpp"

#include "widelimit/base/error.hpp"

namespace widelimit::app {

namespace {

constexpr const char* group = "Kernel";

std::variant<Network, ClassicalKernel> parse_either(const KernelOptions& options) {
  if (options.network && options.classical) {
    fail(Code::usage, "--network and --classical exclude each other; give one");
  }
  if (options.network) return Network::parse(*options.network);
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
  return result;
}

void add_kernel_options(CLI::App& verb, KernelOptions& options) {
  verb.add_option("--network", options.network, "The network: text, preset, JSON, or a file of one")
      ->type_name("NET")
      ->group(group);
  verb.add_option("--classical", options.classical, "Instead: linear, polynomial, rbf, laplace or arccosine")
      ->type_name("\"rbf(gamma=0.5)\"")
      ->group(group);
  verb.add_option("--kind", options.kind, "ntk, nngp or nngp,ntk")
      ->type_name("KIND")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--out", options.out, "File of the arrays, with the settings inside")
      ->type_name("K.npz|K.h5")
      ->required()
      ->group(group);
  verb.add_flag("--sweep", options.sweep, "Every depth and every number of frozen layers")->group(group);
  verb.add_flag("--layers", options.layers, "What each weight layer adds to the NTK")->group(group);
  verb.add_flag("--diagonal", options.diagonal, "The diagonal alone")->group(group);
  verb.add_option("--method", options.method, "auto (formulas where there are some), exact or monte-carlo")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--width", options.width, "Monte Carlo: width of the random networks")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--draws", options.draws, "Monte Carlo: how many random networks")
      ->type_name("N")
      ->capture_default_str()
      ->group(group);
  verb.add_option("--train", options.data.request.train, "Samples (see 'widelimit data list')")
      ->type_name("SPEC")
      ->required()
      ->group("Data");
  add_data_options(verb, options.data, true);
  add_common_options(verb, options.common);
}

nlohmann::ordered_json kernel_settings(const KernelOptions& options, const KernelRequest& request,
                                       const DataRequest& data) {
  nlohmann::ordered_json settings;
  if (const auto* network = std::get_if<Network>(&request.kernel)) {
    settings["network"] = network->to_text();
    settings["network_json"] = nlohmann::ordered_json(network->to_json());
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
