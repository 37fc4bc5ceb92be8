#include "app/fit_kernels.hpp"

#include "app/interrupt.hpp"
#include "app/progress_bar.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/kernel/stored_gram.hpp"

#include <nlohmann/json.hpp>

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
  return gram.read(0, 0, rows, cols);
}

Kernels read_kernels(const FitOptions& options, const KernelRequest& request, const TrainTest& data) {
  const std::string name = matrix_name(request);
  const Index n = data.train.count();
  Kernels kernels{.train = read_gram(*options.gram, name, n, n, request), .test = std::nullopt};
  if (data.test) kernels.test = read_gram(*options.gram, "test_" + name, data.test->count(), n, request);
  return kernels;
}

Kernels compute_kernels(const FitOptions& options, KernelRequest request, const TrainTest& data,
                        const Backend& backend) {
  ProgressBar bar(options.common);
  request.progress = &bar;
  KernelAnswer answer = compute_kernel(request, data.train, data.test, backend);
  stop_if_interrupted();
  Kernels kernels{.seconds = answer.seconds};
  for (NamedMatrix& matrix : answer.matrices) {
    if (matrix.name.starts_with("test_")) {
      kernels.test = std::move(matrix.values);
    } else {
      kernels.train = std::move(matrix.values);
    }
  }
  return kernels;
}

}  // namespace

Kernels fit_kernels(const FitOptions& options, const KernelRequest& request, const TrainTest& data,
                    const Backend& backend) {
  return options.gram ? read_kernels(options, request, data) : compute_kernels(options, request, data, backend);
}

}  // namespace widelimit::app
