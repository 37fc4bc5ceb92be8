#include "widelimit/machine/data_kernels.hpp"

#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/file/known_gram.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

namespace widelimit {

namespace {

/// Memory limit in bytes for blocks of a matrix in a file.
constexpr std::size_t file_blocks = std::size_t{256} << 20;

AnyMatrix read_all(const GramFile& gram, const std::string& path, const KernelRequest& request) {
  const auto entry = static_cast<double>(size_of(gram.precision()));
  require_memory(entry * static_cast<double>(gram.rows()) * static_cast<double>(gram.cols()), request.memory,
                 fmt::format("'{}' of {}", gram.name(), path),
                 "allow more memory; ridge by conjugate gradients needs less", {Remedy::more_memory});
  return gram.read(0, 0, gram.rows(), gram.cols());
}

}  // namespace

void require_trained_kernel(const KernelRequest& request) {
  if (const auto* network = std::get_if<Network>(&request.kernel)) require_trained_layer(*network, request.kind);
}

std::size_t sample_bytes(const TrainTest& data) {
  return data.train.view().bytes() + (data.test ? data.test->view().bytes() : 0);
}

DataKernels data_kernels(const KernelRequest& request, const TrainTest& data, const Engine& engine) {
  require_trained_kernel(request);
  KernelResult kernel = compute_kernel(request, data.train, data.test, engine);
  DataKernels kernels;
  kernels.seconds = kernel.seconds;
  kernels.semidefinite = kernel.semidefinite;
  kernels.quadrature_error = kernel.quadrature_error;
  for (NamedMatrix& matrix : kernel.matrices) {
    if (matrix.name.starts_with("test_")) {
      kernels.test = std::move(matrix.values);
    } else {
      kernels.train = std::move(matrix.values);
    }
  }
  return kernels;
}

DataKernels file_kernels(const std::filesystem::path& path, const KernelRequest& request, const TrainTest& data,
                         const FitDataOptions& options, const Engine& engine) {
  options.validate();
  require_trained_kernel(request);
  const std::string name = gram_name(request);
  const Index n = data.train.count();
  GramFile train = open_known_gram(path.string(), name, n, n, request, data.origin);
  const std::size_t memory = options.memory_left(sample_bytes(data));
  const Index outputs = std::max({Index{1}, std::ssize(data.train.class_names), data.train.outputs.cols()});
  DataKernels kernels;
  if (chosen_solver(options, true, n, outputs, train.precision(), memory) == Solver::conjugate_gradients) {
    kernels.streamed = file_gram(std::move(train), engine, std::min(memory / 2, file_blocks), options.machine.progress);
  } else {
    kernels.train = read_all(train, path.string(), request);
  }
  if (data.test) {
    kernels.test = read_all(open_known_gram(path.string(), "test_" + name, data.test->count(), n, request, data.origin),
                            path.string(), request);
  }
  return kernels;
}

}  // namespace widelimit
