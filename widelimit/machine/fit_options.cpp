#include "widelimit/machine/fit_options.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/machine/ridge/ridge_network.hpp"

#include <array>

namespace widelimit {

namespace {

constexpr std::array<std::string_view, 3> solver_names{"auto", "dense", "cg"};

}  // namespace

Solver parse_solver(std::string_view text) { return parse_choice<Solver>("solver", solver_names, text); }

void FitDataOptions::validate() const {
  if (posterior) {
    if (machine.machine != Machine::ridge) {
      fail(Code::usage, "a posterior is available for ridge, not for {}", to_string(machine.machine));
    }
    if (machine.bias) fail(Code::usage, "a Gaussian process has no bias");
    if (!machine.weights.empty() || !machine.class_weights.empty()) {
      fail(Code::usage, "a Gaussian process has one noise variance for all samples; leave weights out");
    }
    if (solver == Solver::conjugate_gradients) fail(Code::usage, "a posterior needs the factor of the Gram matrix");
  }
  check_pair_functions(label_aware, pair_features);
  if (label_aware) {
    label_aware->validate();
    const char* obstacle = posterior                               ? "a posterior"
                           : machine.probability                   ? "probabilities by Platt's method"
                           : solver == Solver::conjugate_gradients ? "conjugate gradients"
                                                                   : nullptr;
    if (obstacle != nullptr) {
      fail(
          Code::usage,
          "a label-aware kernel ({}) has seen the labels of all samples and is indefinite: {} need one that is neither",
          to_string(label_aware->method), obstacle);
    }
  }
  if (solver != Solver::conjugate_gradients) return;
  if (machine.machine != Machine::ridge) {
    fail(Code::usage, "conjugate gradients are available for ridge, not for {}", to_string(machine.machine));
  }
}

std::size_t FitDataOptions::memory_left(std::size_t held) const {
  const std::size_t whole = memory ? *memory : available_memory().value_or(RidgeNetworkOptions{}.memory);
  if (held >= whole) {
    fail(Code::resource, {Remedy::fewer_samples, Remedy::more_memory},
         "the samples alone take {} of {}; allow more memory", bytes_text(static_cast<double>(held)),
         bytes_text(static_cast<double>(whole)));
  }
  return memory ? whole - held : whole;
}

Solver chosen_solver(const FitDataOptions& options, bool network, Index samples, Index outputs, Precision precision,
                     std::size_t memory) {
  if (options.label_aware) return Solver::dense;
  if (options.solver != Solver::automatic) return options.solver;
  const bool possible =
      options.machine.machine == Machine::ridge && !options.posterior && network && options.machine.lambda > 0;
  const bool fits = dense_ridge_bytes(samples, outputs, precision) <= static_cast<double>(memory);
  return possible && !fits ? Solver::conjugate_gradients : Solver::dense;
}

}  // namespace widelimit
