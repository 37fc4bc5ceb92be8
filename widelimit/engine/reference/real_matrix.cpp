#include "widelimit/engine/reference/real_matrix.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

namespace widelimit::reference {

namespace {

constexpr int most_sweeps = 60;

/// Sum of the squared off-diagonal entries above the diagonal.
long double squares_beside(RealView a) {
  long double sum = 0;
  for (Index i = 0; i < a.rows; ++i) {
    for (Index j = i + 1; j < a.cols; ++j) sum += a(i, j) * a(i, j);
  }
  return sum;
}

/// Rows p and q of m become c·p − s·q and s·p + c·q.
void rotate_rows(RealView m, Index p, Index q, long double c, long double s) {
  for (Index k = 0; k < m.cols; ++k) {
    const long double first = m(p, k);
    const long double second = m(q, k);
    m(p, k) = c * first - s * second;
    m(q, k) = s * first + c * second;
  }
}

void rotate_columns(RealView m, Index p, Index q, long double c, long double s) {
  for (Index k = 0; k < m.rows; ++k) {
    const long double first = m(k, p);
    const long double second = m(k, q);
    m(k, p) = c * first - s * second;
    m(k, q) = s * first + c * second;
  }
}

/// Applies the rotation that eliminates a(p, q) (Golub and Van Loan, algorithm 8.5.1).
void eliminate(RealView a, RealView vectors, Index p, Index q) {
  if (a(p, q) == 0) return;
  const long double tau = (a(q, q) - a(p, p)) / (2 * a(p, q));
  const long double t = (tau >= 0 ? 1.0L : -1.0L) / (std::abs(tau) + std::hypot(1.0L, tau));
  const long double c = 1 / std::hypot(1.0L, t);
  const long double s = t * c;
  rotate_rows(a, p, q, c, s);
  rotate_columns(a, p, q, c, s);
  a(p, q) = a(q, p) = 0;
  rotate_rows(vectors, p, q, c, s);
}

}  // namespace

Index factor_cholesky(RealView a, Progress* progress) {
  ProgressTicker ticker(progress, a.rows, "rows of a factor");
  for (Index i = 0; i < a.rows; ++i) {
    ticker.at(i);
    for (Index j = i; j < a.cols; ++j) {
      long double rest = a(i, j);
      for (Index k = 0; k < i; ++k) rest -= a(k, i) * a(k, j);
      if (j == i && !(rest > 0)) return i + 1;
      a(i, j) = j == i ? std::sqrt(rest) : rest / a(i, i);
    }
  }
  return 0;
}

Index factor_with_pivots(RealView a, long double least, std::vector<Index>& order, Progress* progress) {
  const Index n = a.rows;
  // Symmetrise, so that whole rows and columns can be exchanged.
  for (Index i = 0; i < n; ++i) {
    for (Index j = i + 1; j < n; ++j) a(i, j) = a(j, i);
  }
  ProgressTicker ticker(progress, n, "pivots");
  for (Index r = 0; r < n; ++r) {
    ticker.at(r);
    Index pivot = r;
    for (Index i = r; i < n; ++i) pivot = a(i, i) > a(pivot, pivot) ? i : pivot;
    if (!(a(pivot, pivot) > least)) return r;
    for (Index k = 0; k < n; ++k) std::swap(a(r, k), a(pivot, k));
    for (Index k = r; k < n; ++k) std::swap(a(k, r), a(k, pivot));
    std::swap(order[usize(r)], order[usize(pivot)]);
    a(r, r) = std::sqrt(a(r, r));
    for (Index i = r + 1; i < n; ++i) {
      a(i, r) /= a(r, r);
      a(r, i) = 0;
    }
    for (Index i = r + 1; i < n; ++i) {
      for (Index j = r + 1; j < n; ++j) a(i, j) -= a(i, r) * a(j, r);
    }
  }
  return n;
}

std::vector<long double> jacobi_eigenvalues(RealView a, RealView vectors, Progress* progress) {
  const Index n = a.rows;
  for (Index i = 0; i < n; ++i) {
    for (Index j = 0; j < n; ++j) {
      vectors(i, j) = i == j ? 1 : 0;
      if (j < i) a(i, j) = a(j, i);
    }
  }
  long double whole = 2 * squares_beside(a);
  for (Index i = 0; i < n; ++i) whole += a(i, i) * a(i, i);
  const long double small = whole * std::pow(std::numeric_limits<long double>::epsilon(), 2.0L);
  ProgressTicker ticker(progress, most_sweeps, "sweeps");
  for (int sweep = 0; squares_beside(a) > small; ++sweep) {
    if (sweep == most_sweeps) fail(Code::numerical, "the eigenvalues did not converge in {} sweeps", most_sweeps);
    ticker.at(sweep);
    for (Index p = 0; p < n; ++p) {
      for (Index q = p + 1; q < n; ++q) eliminate(a, vectors, p, q);
    }
  }
  std::vector<Index> order(usize(n));
  std::iota(order.begin(), order.end(), Index{0});
  std::sort(order.begin(), order.end(), [&](Index i, Index j) { return a(i, i) < a(j, j); });
  std::vector<long double> values;
  std::vector<long double> sorted;
  for (const Index i : order) {
    values.push_back(a(i, i));
    sorted.insert(sorted.end(), &vectors(i, 0), &vectors(i, 0) + n);
  }
  for (Index i = 0; i < n; ++i) std::copy_n(sorted.begin() + i * n, n, &vectors(i, 0));
  return values;
}

}  // namespace widelimit::reference
