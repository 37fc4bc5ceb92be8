#include "app/fit/machine_kernels.hpp"

#include "app/shell/interrupt.hpp"
#include "app/shell/outcome.hpp"
#include "app/shell/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/file/stored_gram.hpp"

#include <CLI/CLI.hpp>

namespace widelimit::app {

namespace {

/// The name of the one matrix that a request computes.
std::string matrix_name(const KernelRequest& request) {
  if (std::holds_alternative<ClassicalKernel>(request.kernel)) return "kernel";
  return request.kind == Kind::nngp ? "nngp" : "ntk";
}

/// A kernel file says what it is of: another network would give a model that predicts nonsense.
void check_origin(const StoredGram& gram, const std::string& path, const KernelRequest& request) {
  const auto settings = nlohmann::ordered_json::parse(gram.settings(), nullptr, false);
  const auto* network = std::get_if<Network>(&request.kernel);
  if (!settings.is_object() || network == nullptr || !settings.contains("network")) return;
  const auto stored = settings["network"].get<std::string>();
  if (stored != network->to_text()) {
    fail(Code::input, "{} is the kernel of '{}', not of '{}'; compute it for this network", path, stored,
         network->to_text());
  }
}

AnyMatrix read_gram(const std::string& path, const std::string& name, Index rows, Index cols,
                    const KernelRequest& request) {
  const StoredGram gram(path, name);
  check_origin(gram, path, request);
  if (gram.rows() != rows || gram.cols() != cols) {
    fail(Code::input, "'{}' of {} is {} by {}; the data need {} by {}: give the options it was computed with", name,
         path, gram.rows(), gram.cols(), rows, cols);
  }
  const double entry = gram.precision() == Precision::f32 ? sizeof(float) : sizeof(double);
  require_memory(
      entry * static_cast<double>(rows) * static_cast<double>(cols), request.memory,
      fmt::format("'{}' of {}", name, path),
      "take fewer samples (--limit) or allow more (--memory); ridge without --gram needs less (--solver cg)");
  return gram.read(0, 0, rows, cols);
}

DataKernels read_kernels(const std::string& path, const KernelRequest& request, const TrainTest& data) {
  const std::string name = matrix_name(request);
  const Index n = data.train.count();
  DataKernels kernels{.train = read_gram(path, name, n, n, request), .test = std::nullopt, .seconds = std::nullopt};
  if (data.test) kernels.test = read_gram(path, "test_" + name, data.test->count(), n, request);
  return kernels;
}

DataKernels compute_kernels(const CommonOptions& common, KernelRequest request, const TrainTest& data,
                            const Engine& engine) {
  ProgressBar bar(common);
  request.progress = &bar;
  double error = 0;
  DataKernels kernels = data_kernels(request, data, engine, error);
  stop_if_interrupted();
  warn_of(common, error, request.precision);
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

void KernelChoice::tell(const KernelRequest& request, nlohmann::ordered_json& settings) const {
  if (const auto* parsed = std::get_if<Network>(&request.kernel)) {
    settings["network"] = parsed->to_text();
    settings["kind"] = kind;
  } else {
    settings["classical"] = std::get<ClassicalKernel>(request.kernel).to_text();
  }
  if (gram) settings["gram"] = *gram;
}

void add_kernel_choice(CLI::App& verb, KernelChoice& choice, const char* group) {
  verb.add_option("--network", choice.network, "The network: text, preset, JSON, or a file of one")
      ->type_name("NET")
      ->group(group);
  verb.add_option("--classical", choice.classical, "Instead: linear, polynomial, rbf, laplace or arccosine")
      ->type_name("\"rbf(gamma=0.5)\"")
      ->group(group);
  verb.add_option("--kind", choice.kind, "ntk or nngp")->type_name("KIND")->capture_default_str()->group(group);
  verb.add_option("--gram", choice.gram, "Kernel of the same network and data, computed before")
      ->type_name("K.h5")
      ->group(group);
}

DataKernels machine_kernels(const KernelChoice& choice, const CommonOptions& common, const KernelRequest& request,
                            const TrainTest& data, const Engine& engine) {
  return choice.gram ? read_kernels(*choice.gram, request, data) : compute_kernels(common, request, data, engine);
}

}  // namespace widelimit::app
