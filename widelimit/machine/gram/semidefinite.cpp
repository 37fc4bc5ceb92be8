#include "widelimit/machine/gram/semidefinite.hpp"

#include "widelimit/engine/device_matrices.hpp"
#include "widelimit/machine/gram/rounding.hpp"

#include <algorithm>
#include <cmath>
#include <deque>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace widelimit {

namespace {

/// Assumed error of the entries of K in units of ε√(K_ii K_jj), the symmetry tolerance of GramMatrix::check.
constexpr double entry_roundings = 64;

/// Cache of the latest results in this process.
class ResultCache {
 public:
  std::optional<bool> find(std::uint64_t key) {
    const std::lock_guard lock(guard_);
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const auto& entry) { return entry.first == key; });
    return found != known_.end() ? std::optional(found->second) : std::nullopt;
  }
  void keep(std::uint64_t key, bool result) {
    const std::lock_guard lock(guard_);
    if (known_.size() == most) known_.pop_front();
    known_.emplace_back(key, result);
  }

 private:
  static constexpr std::size_t most = 256;
  std::mutex guard_;
  std::deque<std::pair<std::uint64_t, bool>> known_;
};

ResultCache& results() {
  static ResultCache all;
  return all;
}

/// Whether all rows with a zero diagonal are zero, as in a positive semi-definite matrix.
bool zero_rows_are_zero(const GramMatrix& k) {
  constexpr std::size_t rows_at_once = 64;
  std::vector<Index> zeros;
  for (Index i = 0; i < k.samples(); ++i) {
    if (k.diagonal()[usize(i)] == 0) zeros.push_back(i);
  }
  for (std::size_t begin = 0; begin < zeros.size(); begin += rows_at_once) {
    const std::span<const Index> some = std::span(zeros).subspan(begin, std::min(rows_at_once, zeros.size() - begin));
    const Matrix<double> columns = k.columns(some);
    const double* end = columns.data() + columns.rows() * columns.cols();
    if (std::any_of(columns.data(), end, [](double entry) { return entry != 0; })) return false;
  }
  return true;
}

/// Tries to factorise S(K + cD)S with S = 2^−⌊log₂√K_ii⌋; a zero row becomes a row of the identity.
bool has_factor(const GramMatrix& k, Progress* progress) {
  const Index n = k.samples();
  require_matrix_memory(k.engine(), sizeof(double) * static_cast<double>(n) * static_cast<double>(n), std::nullopt,
                        "the test that the Gram matrix is positive semi-definite",
                        "skip the test if the matrix is known to be positive semi-definite");
  if (has_negative_diagonal(k) || !zero_rows_are_zero(k)) return false;
  const double c = semidefinite_allowance(n, k.precision());
  std::vector<double> scale;
  std::vector<double> shift;
  for (const double own : k.diagonal()) {
    const double s = own > 0 ? std::ldexp(1.0, -std::ilogb(own) / 2) : 0;
    scale.push_back(s);
    shift.push_back(own > 0 ? c * (own * s * s) : 1);
  }
  EngineMatrix scaled = k.algebra().allocate(n, n, Precision::f64);
  (void)k.algebra().scaled(k.matrix(), scale, shift, scaled, nullptr);
  return k.algebra().cholesky(scaled, progress) == 0;
}

}  // namespace

double semidefinite_allowance(Index samples, Precision precision) {
  const auto n = static_cast<double>(samples);
  // Slightly more than n operations per entry of the factor, plus those of the scaling.
  return 1.1 * n * ((n + 16) * unit_rounding + entry_roundings * epsilon_of(precision));
}

bool has_negative_diagonal(const GramMatrix& k) {
  return std::any_of(k.diagonal().begin(), k.diagonal().end(), [](double own) { return own < 0; });
}

bool is_semidefinite(const GramMatrix& k, Progress* progress) {
  const std::uint64_t key = k.algebra().checksum(k.matrix());
  if (const auto known = results().find(key)) return *known;
  const bool result = has_factor(k, progress);
  results().keep(key, result);
  return result;
}

}  // namespace widelimit
