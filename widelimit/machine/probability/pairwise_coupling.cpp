#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/machine/probability/platt.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace widelimit {

namespace {

/// Returns Q with Q_cc = Σ_{d≠c} r_dc², Q_cd = −r_dc r_cd.
Matrix<double> coupling_matrix(const double* pairwise, Index classes) {
  Matrix<double> q(classes, classes);
  for (Index c = 0; c < classes; ++c) {
    for (Index d = c + 1; d < classes; ++d) {
      const double first = *pairwise++;
      const double second = 1 - first;
      q(c, c) += second * second;
      q(d, d) += first * first;
      q(c, d) = q(d, c) = -first * second;
    }
  }
  return q;
}

/// Minimises pᵀQp with Σp = 1: at the optimum (Qp)_c = pᵀQp for each c, which is solved for one p_c at a time, followed
/// by normalisation. Converges from any start if r lies strictly between 0 and 1.
std::vector<double> coupled(const Matrix<double>& q) {
  const Index classes = q.rows();
  std::vector<double> p(usize(classes), 1.0 / static_cast<double>(classes));
  constexpr int most_rounds = 1000;
  for (int round = 0; round < most_rounds; ++round) {
    double worst = 0;
    for (Index c = 0; c < classes; ++c) {
      double norm = 0;
      double row = 0;
      for (Index i = 0; i < classes; ++i) {
        row += q(c, i) * p[usize(i)];
        for (Index j = 0; j < classes; ++j) norm += p[usize(i)] * q(i, j) * p[usize(j)];
      }
      worst = std::max(worst, std::abs(row - norm));
      if (q(c, c) <= 0) continue;
      p[usize(c)] += (norm - row) / q(c, c);
      const double sum = std::accumulate(p.begin(), p.end(), 0.0);
      for (double& value : p) value /= sum;
    }
    if (worst <= 1e-12) break;
  }
  return p;
}

}  // namespace

Matrix<double> pairwise_coupling(const MatrixView<const double>& pairwise, Index classes) {
  if (classes < 2 || pairwise.cols != classes * (classes - 1) / 2) {
    fail(Code::input, "{} columns do not match the number of pairs of {} classes", pairwise.cols, classes);
  }
  Matrix<double> result(pairwise.rows, classes);
  std::vector<double> row(usize(pairwise.cols));
  for (Index i = 0; i < pairwise.rows; ++i) {
    interruption_point();
    for (Index j = 0; j < pairwise.cols; ++j) {
      const double r = pairwise(i, j);
      if (!(r >= 0) || !(r <= 1)) fail(Code::input, "probability ({}, {}) is {}", i, j, r);
      // Probabilities of exactly 0 and 1 may contradict each other; clamping keeps the problem definite.
      row[usize(j)] = std::clamp(r, 1e-7, 1 - 1e-7);
    }
    const std::vector<double> p = coupled(coupling_matrix(row.data(), classes));
    std::copy(p.begin(), p.end(), result.view().row(i));
  }
  return result;
}

}  // namespace widelimit
