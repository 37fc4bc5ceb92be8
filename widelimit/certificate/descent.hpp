#pragma once

#include "widelimit/certificate/certify.hpp"
#include "widelimit/certificate/gradient.hpp"

#include <span>
#include <vector>

namespace widelimit {

/// The nearest sample found for each functional; distance ∞ where there is none.
struct Descended {
  std::vector<double> distance;
  Matrix<double> samples;
};

/// Looks for the nearest x with f(x) < 0 of some functionals, in step.
class AttackDescent {
 public:
  /// `rows` are functionals, whose entries of `found` it improves.
  AttackDescent(const CertificateProblem& problem, const FunctionalGradient& gradient, std::vector<Index> rows,
                const AttackOptions& options, Descended& found);
  /// From the points themselves (0) or from random places (1, 2, …), then back along the line to the point.
  void run(Index start, Progress* progress);

 private:
  void place(Index start);
  void evaluate();
  void keep(Index k);
  void step(Index k, double progress);
  void retreat();
  void put(Index k, const std::vector<double>& shift, double reach);

  const CertificateProblem& problem_;
  const FunctionalGradient& gradient_;
  std::vector<Index> rows_;
  const AttackOptions& options_;
  Descended& found_;
  Matrix<double> x_, slopes_;
  std::vector<double> values_, reach_;
};

/// Rounded up.
[[nodiscard]] double distance_between(Norm norm, const double* a, const double* b, Index size);

}  // namespace widelimit
