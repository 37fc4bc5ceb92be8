#include "app/fit/machine_kernels.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"

#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

DataKernels compute_kernels(const CommonOptions& common, KernelRequest request, const TrainTest& data,
                            const Engine& engine) {
  ProgressBar bar(common);
  request.progress = &bar;
  DataKernels kernels = data_kernels(request, data, engine);
  stop_if_interrupted();
  warn_quadrature(common, kernels.quadrature_error, request.precision);
  return kernels;
}

}  // namespace

KernelRequest KernelChoice::request(const CommonOptions& common) const {
  if (network.has_value() == classical.has_value()) {
    fail(Code::usage, "give one kernel: --network NET (see 'widelimit network list') or --classical KERNEL");
  }
  KernelRequest result{.kernel = network ? std::variant<Network, ClassicalKernel>(Network::parse(*network))
                                         : ClassicalKernel::parse(*classical)};
  result.kind = parse_kind(kind);
  if (result.kind == Kind::both) fail(Code::usage, "--kind {}: a machine has one kernel, ntk or nngp", kind);
  result.method = Method::exact;
  result.precision = parse_precision(common.precision);
  result.memory = common.memory_limit();
  return result;
}

void KernelChoice::write_settings(const KernelRequest& request, nlohmann::ordered_json& settings) const {
  if (const auto* parsed = std::get_if<Network>(&request.kernel)) {
    settings["network"] = parsed->to_text();
    settings["kind"] = kind;
  } else {
    settings["classical"] = std::get<ClassicalKernel>(request.kernel).to_text();
  }
  if (gram) settings["gram"] = *gram;
}

void add_kernel_choice(CLI::App& verb, KernelChoice& choice, const char* group) {
  verb.add_option("--network", choice.network, "Network: text, preset, JSON, or a file with one of these")
      ->type_name("NET")
      ->group(group);
  verb.add_option("--classical", choice.classical,
                  "Classical kernel instead of a network: linear, polynomial, rbf, laplace or arccosine")
      ->type_name("\"rbf(gamma=0.5)\"")
      ->group(group);
  verb.add_option("--kind", choice.kind, "ntk or nngp")->type_name("KIND")->capture_default_str()->group(group);
  verb.add_option("--gram", choice.gram, "Precomputed kernel of the same network and data")
      ->type_name("K.h5")
      ->group(group);
}

DataKernels machine_kernels(const KernelChoice& choice, const CommonOptions& common, const KernelRequest& request,
                            const TrainTest& data, const Engine& engine) {
  if (const auto* network = std::get_if<Network>(&request.kernel)) warn_layout(common, *network, data.train.shape);
  if (!choice.gram) return compute_kernels(common, request, data, engine);
  return file_kernels(*choice.gram, request, data, {.solver = Solver::dense, .memory = request.memory}, engine);
}

}  // namespace widelimit::app
