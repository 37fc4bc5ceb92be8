#include "widelimit/machine/ridge/ridge_network.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/kernel/network_gram.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Memory of the vectors of the recursion and of the columns of K in transfer to the preconditioner.
std::size_t vector_bytes(Index samples, Index outputs) {
  constexpr Index columns_under_way = 128;
  return sizeof(double) * static_cast<std::size_t>(samples * (6 * (outputs + 1) + columns_under_way));
}

}  // namespace

ConjugateGradientFit fit_ridge(const Network& network, const SampleView& x, MatrixView<const double> targets,
                               const RidgeNetworkOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.solver.progress);
  options.solver.validate();
  require_trained_layer(network, options.kind);
  check_targets(targets, x.count());
  const std::size_t vectors = vector_bytes(x.count(), targets.cols);
  if (vectors >= options.memory) {
    fail(Code::resource, "vectors of {} samples take {}, but the memory limit is {}; allow more", x.count(),
         bytes_text(static_cast<double>(vectors)), bytes_text(static_cast<double>(options.memory)));
  }
  const GramMatrix k = network_gram(network, x,
                                    {.kind = options.kind,
                                     .precision = options.precision,
                                     .memory = options.memory - vectors,
                                     .progress = options.solver.progress},
                                    engine);
  ConjugateGradientOptions solver = options.solver;
  const std::size_t held = std::min(options.memory, vectors + k.bytes());
  solver.memory = options.memory - held;
  return conjugate_gradients(k, targets, solver);
}

double dense_ridge_bytes(Index samples, Index outputs, Precision precision) {
  const auto n = static_cast<double>(samples);
  const auto number = static_cast<double>(size_of(precision));
  return 2 * number * n * n + 4 * sizeof(double) * n * static_cast<double>(outputs + 1);
}

}  // namespace widelimit
