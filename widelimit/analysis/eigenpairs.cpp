#include "widelimit/analysis/eigenpairs.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/machine/lapack.hpp"

#include <algorithm>
#include <cmath>

namespace widelimit {

namespace {

/// Copies the upper triangle, LAPACK's lower one, divided by its largest entry, which is returned.
double scaled_upper(const DenseGram& k, Matrix<double>& a) {
  double largest = 0;
  for (Index i = 0; i < k.count(); ++i) {
    for (Index j = i; j < k.count(); ++j) largest = std::max(largest, std::abs(k.row(i)[j]));
  }
  const double scale = largest > 0 ? largest : 1.0;
  for (Index i = 0; i < k.count(); ++i) {
    for (Index j = i; j < k.count(); ++j) a(i, j) = k.row(i)[j] / scale;
  }
  return scale;
}

}  // namespace

Eigenpairs eigenpairs(const DenseGram& k) {
  const int n = lapack_size(k.count());
  Matrix<double> a(n, n);
  const double scale = scaled_upper(k, a);
  Eigenpairs result{std::vector<double>(static_cast<std::size_t>(n)), Matrix<double>(n, n, Content::unset)};
  std::vector<int> support(2 * static_cast<std::size_t>(n));
  const double none = 0;
  const int zero = 0;
  const int query = -1;
  int found = 0;
  int info = 0;
  double best = 0;
  int integers_size = 0;
  dsyevr_("V", "A", "L", &n, a.data(), &n, &none, &none, &zero, &zero, &none, &found, result.values.data(),
          result.vectors.data(), &n, support.data(), &best, &query, &integers_size, &query, &info);
  const int work_size = static_cast<int>(best);
  std::vector<double> work(static_cast<std::size_t>(work_size));
  std::vector<int> integers(static_cast<std::size_t>(integers_size));
  dsyevr_("V", "A", "L", &n, a.data(), &n, &none, &none, &zero, &zero, &none, &found, result.values.data(),
          result.vectors.data(), &n, support.data(), work.data(), &work_size, integers.data(), &integers_size, &info);
  if (info != 0 || found != n) fail(Code::numerical, "the eigenvectors did not converge (LAPACK dsyevr info {})", info);
  for (double& value : result.values) value *= scale;
  return result;
}

}  // namespace widelimit
