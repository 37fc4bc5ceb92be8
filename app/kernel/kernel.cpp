#include "app/kernel/kernel_file.hpp"
#include "app/kernel/kernel_report.hpp"
#include "app/kernel/label_aware_kernel.hpp"
#include "app/shell/data_options.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/label_aware_options.hpp"
#include "app/shell/loading.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/program.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/data/request.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/file/write_gram.hpp"
#include "widelimit/kernel/request.hpp"

#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

/// Values of the options of `kernel`.
struct KernelOptions {
  CommonOptions common;
  DataChoice data;
  std::vector<std::string> networks;  ///< more than one only if the Gram matrix is stored by tiles
  std::optional<std::string> classical;
  std::string kind = "ntk";
  std::string method = "auto";
  Index width = MonteCarloOptions{}.width;
  Index draws = MonteCarloOptions{}.draws;
  bool sweep = false;
  bool layers = false;
  bool diagonal = false;
  LabelAwareChoice label_aware;
  std::optional<std::string> gram;
  std::string out;
  bool resume = false;
  bool force = false;

  /// Throws Error{usage} if options contradict each other, Error{input} if a network cannot be parsed.
  [[nodiscard]] KernelRequest request() const;
  [[nodiscard]] std::vector<Network> parsed_networks() const;
  /// Returns whether the Gram matrix is stored tile by tile: an HDF5 file, a network, by formulas.
  [[nodiscard]] bool stored(const KernelRequest& kernel_request) const;
};

constexpr const char* kernel_group = "Kernel";

std::variant<Network, ClassicalKernel> parse_either(const KernelOptions& options) {
  if (!options.networks.empty() && options.classical) {
    fail(Code::usage, "--network and --classical are mutually exclusive; give one");
  }
  if (!options.networks.empty()) return Network::parse(options.networks.front());
  if (options.classical) return ClassicalKernel::parse(*options.classical);
  fail(Code::usage, "no kernel given; add --network NET (see 'widelimit network list') or --classical KERNEL");
}

KernelQuantity quantity_of(const KernelOptions& options) {
  if (int{options.sweep} + int{options.layers} + int{options.diagonal} > 1) {
    fail(Code::usage, "--sweep, --layers and --diagonal are mutually exclusive; give one");
  }
  if (options.sweep) return KernelQuantity::sweep;
  if (options.layers) return KernelQuantity::layers;
  return options.diagonal ? KernelQuantity::diagonal : KernelQuantity::gram;
}

/// Adds one network as text and JSON, several as lists in the order of their groups in the file.
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

std::string_view quantity_text(KernelQuantity quantity) {
  if (quantity == KernelQuantity::sweep) return "sweep";
  if (quantity == KernelQuantity::layers) return "layers";
  return quantity == KernelQuantity::diagonal ? "diagonal" : "gram";
}

KernelRequest KernelOptions::request() const {
  KernelRequest result{.kernel = parse_either(*this)};
  result.quantity = quantity_of(*this);
  result.kind = parse_kind(kind);
  result.precision = parse_precision(common.precision);
  result.method = parse_method(method);
  result.monte_carlo.width = width;
  result.monte_carlo.draws = draws;
  result.monte_carlo.seed = common.seed;
  result.memory = common.memory_limit();
  result.validate(data.request.test.has_value() || data.request.split.has_value());
  if (resume && force) fail(Code::usage, "--resume continues and --force starts again; give one");
  check_gram(gram.has_value(), label_aware.method.has_value() && is_hdf5(out));
  if (label_aware.options(common.seed)) check_label_aware(result, networks.size(), !gram && (resume || force));
  if (!stored(result) && (resume || networks.size() > 1)) {
    fail(Code::usage,
         "{} supported only for the Gram matrix of networks by formulas in an HDF5 file; give --out K.h5 without "
         "--sweep, --layers, --diagonal and --method monte-carlo",
         resume ? "--resume is" : "several networks are");
  }
  return result;
}

std::vector<Network> KernelOptions::parsed_networks() const {
  std::vector<Network> parsed;
  for (const std::string& text : networks) parsed.push_back(Network::parse(text));
  return parsed;
}

bool KernelOptions::stored(const KernelRequest& kernel_request) const {
  return (gram || !label_aware.method) && is_hdf5(out) && kernel_request.quantity == KernelQuantity::gram &&
         by_formulas(kernel_request);
}

void add_kernel_options(CLI::App& verb, KernelOptions& options) {
  verb.add_option("--network", options.networks,
                  "Network: text, preset, JSON, or a file with one of these; may be repeated")
      ->type_name("NET")
      ->allow_extra_args(false)
      ->group(kernel_group);
  verb.add_option("--classical", options.classical,
                  "Classical kernel instead of a network: linear, polynomial, rbf, laplace or arccosine")
      ->type_name("\"rbf(gamma=0.5)\"")
      ->group(kernel_group);
  verb.add_option("--kind", options.kind, "ntk, nngp or nngp,ntk")
      ->type_name("KIND")
      ->capture_default_str()
      ->group(kernel_group);
  verb.add_option("--out", options.out, "File of the arrays and settings")
      ->type_name("K.npz|K.h5")
      ->required()
      ->group(kernel_group);
  verb.add_flag("--resume", options.resume, "K.h5: continue a stopped or killed run")->group(kernel_group);
  verb.add_flag("--force", options.force, "K.h5: start again and replace an existing file")->group(kernel_group);
  verb.add_flag("--sweep", options.sweep, "NTK for every depth and every number of frozen layers")->group(kernel_group);
  verb.add_flag("--layers", options.layers, "Contribution of each weight layer to the NTK")->group(kernel_group);
  verb.add_flag("--diagonal", options.diagonal, "Only the diagonal")->group(kernel_group);
  verb.add_option("--method", options.method, "auto (formulas if available), exact or monte-carlo")
      ->type_name("HOW")
      ->capture_default_str()
      ->group(kernel_group);
  add_label_aware_options(verb, options.label_aware, kernel_group, Psd::none);
  verb.add_option("--gram", options.gram,
                  "--label-aware: precomputed kernel of the same network and data; works from file to file")
      ->type_name("THETA.h5")
      ->group(kernel_group);
  verb.add_option("--width", options.width, "Monte Carlo: width of the random networks")
      ->type_name("N")
      ->capture_default_str()
      ->group(kernel_group);
  verb.add_option("--draws", options.draws, "Monte Carlo: number of random networks")
      ->type_name("N")
      ->capture_default_str()
      ->group(kernel_group);
  add_train_option(verb, options.data);
  add_data_options(verb, options.data, true);
  add_common_options(verb, options.common);
}

/// Returns the settings of the kernel: network or classical kernel, data, kind, method.
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
  settings["shown"] = quantity_text(request.quantity);
  settings["method"] = options.method;
  options.label_aware.write_settings(settings);
  return settings;
}

using Json = nlohmann::ordered_json;

Existing existing(const KernelOptions& options) {
  if (options.force) return Existing::replace;
  return options.resume ? Existing::resume : Existing::refuse;
}

std::vector<ArrayFacts> stored_facts(const GramFileSummary& summary) {
  std::vector<ArrayFacts> facts;
  for (const auto& matrix : summary.matrices) {
    facts.push_back({matrix.name, {matrix.entries.rows, matrix.entries.cols}, matrix.entries});
  }
  return facts;
}

/// Adds the origin of the samples, by which a fit recognises the kernel of other samples.
Json with_origin(Json settings, const TrainTest& data) {
  settings["origin"] = origin_text(data.origin);
  return settings;
}

GramFileSummary store(const KernelOptions& options, const KernelRequest& request, const Json& settings,
                      const TrainTest& data, const Engine& engine) {
  std::vector<GramBlock> blocks{{"", data.train.view(), std::nullopt}};
  if (data.test) blocks.push_back({"test_", data.test->view(), data.train.view()});
  const LabelArrays labels(data);
  ProgressBar bar(options.common);
  GramFileOptions how{.kind = request.kind, .precision = request.precision, .memory = request.memory};
  how.existing = existing(options);
  how.progress = &bar;
  how.settings = with_origin(file_settings(options.common, settings, data.train.class_names), data);
  how.beside = labels.arrays();
  return write_gram(options.out, options.parsed_networks(), blocks, how, engine);
}

Json summary_json(const GramFileSummary& summary) {
  Json json;
  if (summary.complete_before) {
    for (const auto& [name, entries] : summary.matrices) json["arrays"][name]["shape"] = {entries.rows, entries.cols};
  } else {
    json["arrays"] = arrays_json(stored_facts(summary));
  }
  json["route"] = summary.routes.size() == 1 ? Json(summary.routes.front()) : Json(summary.routes);
  json["monte_carlo"] = false;
  json["quadrature_error"] = summary.quadrature_error;
  json["seconds"] = summary.seconds;
  json["pairs"] = static_cast<std::int64_t>(summary.pairs);
  json["pairs_per_second"] = pairs_per_second(summary.pairs, summary.seconds);
  json["pairs_kept"] = static_cast<std::int64_t>(summary.pairs_kept);
  json["complete_before"] = summary.complete_before;
  json["panels"] = summary.panels;
  json["memory"]["planned"] = summary.memory;
  if (const auto peak = peak_memory()) json["memory"]["peak"] = *peak;
  return json;
}

std::string summary_text(const KernelOptions& options, const GramFileSummary& summary) {
  if (summary.complete_before) return fmt::format("{} is already complete\n", options.out);
  std::string text = table_text(array_table(stored_facts(summary)));
  if (summary.quadrature_error > 0) text += fmt::format("quadrature error  {:.1e}\n", summary.quadrature_error);
  text += fmt::format("{:.3g} s, {:.3g} pairs/s", summary.seconds, pairs_per_second(summary.pairs, summary.seconds));
  if (summary.pairs_kept > 0) {
    text +=
        fmt::format(", {:.3g} % from earlier runs", 100 * summary.pairs_kept / (summary.pairs + summary.pairs_kept));
  }
  if (const auto peak = peak_memory()) {
    text += fmt::format(", peak memory {}", bytes_text(static_cast<double>(*peak)));
  }
  return text + "\n" + files_text(options.common, options.out);
}

/// Throws Error before the computation if the matrices, which a page needs as a whole, do not fit into memory.
void check_page(const KernelOptions& options, const KernelRequest& request, const TrainTest& data) {
  if (!options.common.report) return;
  if (options.networks.size() > 1) fail(Code::usage, "--report supports one network; run once for each");
  require_memory(result_bytes(request, data.train.count(), data.test ? data.test->count() : 0, data.train.shape),
                 request.memory, "--report, which needs whole matrices,",
                 "leave it out, use fewer samples, or raise the limit");
}

Json write_page(const KernelOptions& options, const GramFileSummary& summary, const Json& settings,
                const Dataset& train) {
  KernelResult answer;
  answer.route = summary.routes.front();
  answer.seconds = summary.seconds;
  answer.pairs = summary.pairs;
  for (const auto& matrix : summary.matrices) {
    const GramFile gram(options.out, matrix.name);
    answer.matrices.push_back({matrix.name, gram.read(0, 0, matrix.entries.rows, matrix.entries.cols), {}});
    stop_if_interrupted();
  }
  return write_kernel_page(*options.common.report, options.networks.front(), answer, train, settings,
                           options.common.seed);
}

/// Runs `kernel` into an HDF5 file, tile by tile: the matrix may be larger than memory, and the computation can be
/// stopped and resumed.
void run_stored(const KernelOptions& options, const KernelRequest& request, const DataRequest& data_request,
                const TrainTest& data, const Engine& engine) {
  check_page(options, request, data);
  const Json settings = kernel_settings(options, request, data_request);
  const GramFileSummary summary = store(options, request, settings, data, engine);
  note(options.common, fmt::format("route: {}", fmt::join(summary.routes, "; ")));
  warn_quadrature(options.common, summary.quadrature_error, request.precision);
  Record record("kernel");
  record.settings = settings;
  record.notes = data.notes;
  record.seed = options.common.seed;
  record.ran_on(engine, request.precision);
  record.timings.emplace_back("kernel", summary.seconds);
  record.results = summary_json(summary);
  record.results["file"] = options.out;
  if (options.common.report) {
    record.results["analysis"] = write_page(options, summary, record.page_settings(), data.train);
    record.results["report"] = *options.common.report;
  }
  print_result(options.common, record, summary_text(options, summary));
}

KernelResult compute(const KernelOptions& options, KernelRequest& request, const TrainTest& data,
                     const Engine& engine) {
  ProgressBar bar(options.common);
  request.progress = &bar;
  KernelResult answer = compute_kernel(request, data.train, data.test, engine);
  stop_if_interrupted();
  return answer;
}

Json answer_settings(const KernelOptions& options, const Json& settings, const KernelResult& answer,
                     const Dataset& train) {
  Json all = file_settings(options.common, settings, train.class_names);
  all["route"] = answer.route;
  all["quadrature_error"] = answer.quadrature_error;
  if (answer.monte_carlo) {
    all["precision"] = "f64";
    all["monte_carlo"] = {{"width", options.width}, {"draws", options.draws}};
  }
  if (!answer.layers.empty()) all["layers"] = answer.layers;
  return all;
}

std::string summary(const KernelOptions& options, const KernelResult& answer) {
  std::string text = table_text(array_table(array_facts(answer)));
  if (answer.quadrature_error > 0) text += fmt::format("quadrature error  {:.1e}\n", answer.quadrature_error);
  if (answer.monte_carlo) text += fmt::format("standard error    {:.1e} of the largest entry\n", answer.standard_error);
  text += fmt::format("{:.3g} s, {:.3g} pairs/s\n", answer.seconds, pairs_per_second(answer.pairs, answer.seconds));
  return text + files_text(options.common, options.out);
}

void run(const KernelOptions& options) {
  KernelRequest request = options.request();
  const DataRequest data_request = options.data.parsed();
  const auto engine = options.common.make_engine();
  options.common.check_report(true);
  check_kernel_path(options.out, 0);
  const TrainTest data = load_request(options.common, data_request);
  if (const auto* network = std::get_if<Network>(&request.kernel)) {
    warn_layout(options.common, *network, data.train.shape);
  }
  for (const Network& network : options.parsed_networks()) {
    if (const std::string zero = zero_kernel_warning(network, request.kind); !zero.empty()) {
      warn(options.common, zero);
    }
  }
  if (options.gram) {
    const Json settings = kernel_settings(options, request, data_request);
    return apply_label_aware_stored(options.common, *options.label_aware.options(options.common.seed), request,
                                    {*options.gram, options.out, existing(options), settings}, data, *engine);
  }
  if (options.stored(request)) return run_stored(options, request, data_request, data, *engine);
  const Index test_count = data.test ? data.test->count() : 0;
  check_kernel_path(options.out, result_bytes(request, data.train.count(), test_count, data.train.shape));

  const auto aware_options = options.label_aware.options(options.common.seed);
  if (aware_options) require_classes(data.train);
  KernelResult answer = compute(options, request, data, *engine);
  std::optional<LabelAwareKernels> aware;
  if (aware_options) aware = apply_label_aware(options.common, *aware_options, answer, data, *engine);
  note(options.common, "route: " + answer.route);
  warn_quadrature(options.common, answer.quadrature_error, request.precision);
  const Json settings = kernel_settings(options, request, data_request);
  Record record("kernel");
  record.settings = settings;
  record.notes = data.notes;
  record.seed = options.common.seed;
  record.ran_on(*engine, answer.monte_carlo ? Precision::f64 : request.precision);
  record.timings.emplace_back("kernel", answer.seconds);
  record.results = kernel_json(answer);
  if (aware) record.results["label_aware"] = label_aware_json(*aware);
  record.results["file"] = options.out;
  write_kernel(options.out, answer, data, with_origin(answer_settings(options, settings, answer, data.train), data));
  if (options.common.report) {
    const std::string title = options.classical.value_or(options.networks.empty() ? "" : options.networks.front());
    record.results["analysis"] = write_kernel_page(*options.common.report, title, answer, data.train,
                                                   record.page_settings(), options.common.seed);
    record.results["report"] = *options.common.report;
  }
  print_result(options.common, record, (aware ? label_aware_text(*aware) : "") + summary(options, answer));
}

}  // namespace

void add_kernel(Program& program) {
  auto* verb = program.cli.add_subcommand("kernel", "Compute the Gram matrix of a network's NNGP or tangent kernel");
  const auto options = std::make_shared<KernelOptions>();
  add_kernel_options(*verb, *options);
  set_example(*verb, "widelimit kernel --network fc:3 --train digits --limit 200 --kind nngp,ntk --out k.npz");
  verb->callback([options, &program] { program.action = [options] { run(*options); }; });
}

}  // namespace widelimit::app
