#pragma once

#include "experiments/kernels/uci_sets.hpp"

#include <string>
#include <vector>

namespace widelimit::experiment::uci {

/// A family of kernels, from which one and its C are selected for each set.
struct KernelFamily {
  std::string name;  ///< "NTK"
  std::string grid;  ///< description of its members
};
/// NTK, NNGP, linear, RBF, Laplace, polynomial.
[[nodiscard]] const std::vector<KernelFamily>& kernel_families();

/// Returns the published values of C.
[[nodiscard]] const std::vector<double>& published_costs();

/// The kernel of a family selected on one half of a set, and its mean accuracy over the four tests.
struct FamilyResult {
  std::string kernel;
  double c = 0;         ///< for a kernel of ⟨x,x'⟩, as published
  double accuracy = 0;  ///< ties go to the first class, as in LIBSVM
  double by_sums = 0;   ///< the same protocol with ties broken by the larger sum of decisions
};

struct SetResult {
  std::string name;
  Index samples = 0;
  Index features = 0;
  Index classes = 0;
  std::vector<FamilyResult> families;  ///< in the order of kernel_families()
  std::vector<double> validation;      ///< accuracies of the selection: all C of a kernel, kernel by kernel
  Index unsolved = 0;                  ///< machines that did not converge
  double seconds = 0;
};

/// Runs the protocol of Arora et al. (2020): for every kernel and C = 10⁻² … 10⁴ fits a one-vs-one support vector
/// machine with bias to the first part of the selection and scores it on the second; the best kernel and C, the first
/// in case of ties, is fitted to each training part of the tests. C is as published, for kernels of ⟨x,x'⟩ without 1/d.
/// Uses only the first `families` families: 1 for the NTK alone.
[[nodiscard]] SetResult evaluate_set(const Setting& setting, const UciSet& set, Progress* progress,
                                     std::size_t families = kernel_families().size());

}  // namespace widelimit::experiment::uci
