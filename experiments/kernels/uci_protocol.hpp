#pragma once

#include "experiments/kernels/uci_sets.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment::uci {

/// A family of kernels of which each set chooses one, with its C.
struct KernelFamily {
  std::string name;  ///< "NTK"
  std::string grid;  ///< what is chosen among, in words
};
/// NTK, NNGP, linear, RBF, Laplace, polynomial.
[[nodiscard]] const std::vector<KernelFamily>& kernel_families();

/// Values of C, as published.
[[nodiscard]] const std::vector<double>& published_costs();

/// What a family chose on a set by half of it, and its mean accuracy over the four tests.
struct FamilyResult {
  std::string kernel;
  double c = 0;         ///< of a kernel of ⟨x,x'⟩, as published
  double accuracy = 0;  ///< equal votes to the first class, as LIBSVM has it
  double by_sums = 0;   ///< the same protocol, equal votes to the larger sum of decisions
};

struct SetResult {
  std::string name;
  Index samples = 0;
  Index features = 0;
  Index classes = 0;
  std::vector<FamilyResult> families;  ///< as kernel_families()
  std::vector<double> validation;      ///< accuracies that chose: those of all C of a kernel, kernel after kernel
  Index unsolved = 0;                  ///< machines that did not converge
  double seconds = 0;
};

/// The protocol of Arora et al. (2020): for every kernel and C = 10⁻² … 10⁴ a support vector machine with bias,
/// one-vs-one, learns the first part of the selection and tells the second; the first of the best, in the order of
/// kernels and C, is fitted to each training part of the tests. C is theirs, for kernels of ⟨x,x'⟩ without 1/d. Of the
/// families only the first `families`: 1 for the NTK alone.
[[nodiscard]] SetResult evaluate_set(const Setting& setting, const UciSet& set, Progress* progress,
                                     std::size_t families = kernel_families().size());

}  // namespace widelimit::experiment::uci
