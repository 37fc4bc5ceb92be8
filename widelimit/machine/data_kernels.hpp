#pragma once

#include "widelimit/data/request.hpp"
#include "widelimit/kernel/gram_matrix.hpp"
#include "widelimit/kernel/request.hpp"
#include "widelimit/machine/fit_options.hpp"

#include <filesystem>
#include <optional>

namespace widelimit {

/// Precomputed kernels of the training samples, and of the test with the training samples.
struct DataKernels {
  AnyMatrix train;
  std::optional<GramMatrix> streamed;  ///< instead of `train`: a matrix read or computed for each product
  std::optional<AnyMatrix> test;
  std::optional<double> seconds;  ///< computation time; empty if they were read
  bool semidefinite = false;      ///< `train` is positive semi-definite by construction
  double quadrature_error = 0;    ///< of their entries, if they were computed
};

/// Computes the requested kernels.
[[nodiscard]] DataKernels data_kernels(const KernelRequest& request, const TrainTest& data, const Engine& engine);

/// Opens kernels in a file: reads them into memory or, if conjugate gradients are chosen or the memory limit requires
/// it, reads them for each product. Throws Error{input} if network or sizes do not match. `engine` must outlive the
/// result.
[[nodiscard]] DataKernels file_kernels(const std::filesystem::path& path, const KernelRequest& request,
                                       const TrainTest& data, const FitDataOptions& options, const Engine& engine);

/// Throws Error{input} for the NTK of a network without a trained layer.
void require_trained_kernel(const KernelRequest& request);

/// Returns the bytes of all samples.
[[nodiscard]] std::size_t sample_bytes(const TrainTest& data);

}  // namespace widelimit
