#include "widelimit/machine/gram/semidefinite.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/lapack.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"
#include "widelimit/machine/gram/dense_gram.hpp"
#include "widelimit/machine/gram/product.hpp"
#include "widelimit/machine/gram/rounding.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <deque>
#include <limits>
#include <mutex>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace widelimit {

namespace {

/// Entries of K are taken to be right to so many ε√(K_ii K_jj), as check_gram takes its two halves to agree.
constexpr double entry_roundings = 64;
constexpr Index rows_of_a_task = 64;

Index tasks_of(Index n) { return (n + rows_of_a_task - 1) / rows_of_a_task; }

/// 2^−⌊log₂√K_ii⌋, and 0 where the diagonal is 0; false where an entry of it is negative.
template <typename T>
bool row_scales(MatrixView<const T> k, std::vector<double>& scale) {
  for (Index i = 0; i < k.rows; ++i) {
    const auto own = static_cast<double>(k(i, i));
    if (own < 0) return false;
    scale[at(i)] = own > 0 ? std::ldexp(1.0, -std::ilogb(own) / 2) : 0;
  }
  return true;
}

/// The upper triangle of S(K + cD)S; false where that shows already that K is not semi-definite.
template <typename T>
bool fill_scaled(MatrixView<const T> k, double c, MatrixView<double> out, int threads) {
  std::vector<double> scale(at(k.rows));
  if (!row_scales(k, scale)) return false;
  std::atomic<bool> possible = true;
  parallel_for(tasks_of(k.rows), threads, [&](Index task) {
    bool fine = true;
    for (Index i = task * rows_of_a_task; i < std::min(k.rows, (task + 1) * rows_of_a_task); ++i) {
      const T* from = k.row(i);
      double* to = out.row(i);
      for (Index j = i; j < k.cols; ++j) {
        const auto entry = static_cast<double>(from[j]);
        to[j] = entry * scale[at(i)] * scale[at(j)];
        // Beside a diagonal of 0 nothing else is allowed; beyond 4 both scaled diagonals would be exceeded.
        fine = fine && std::abs(to[j]) <= 8 && (to[j] != 0 || entry == 0 || (scale[at(i)] > 0 && scale[at(j)] > 0));
      }
      to[i] = scale[at(i)] > 0 ? to[i] * (1 + c) : 1;
    }
    if (!fine) possible = false;
  });
  return possible;
}

/// Answers of this process, the latest of them: a pure cache.
class Answers {
 public:
  std::optional<bool> find(std::uint64_t key) {
    const std::lock_guard lock(guard_);
    const auto found =
        std::find_if(known_.begin(), known_.end(), [&](const auto& entry) { return entry.first == key; });
    return found != known_.end() ? std::optional(found->second) : std::nullopt;
  }
  void keep(std::uint64_t key, bool answer) {
    const std::lock_guard lock(guard_);
    if (known_.size() == most) known_.pop_front();
    known_.emplace_back(key, answer);
  }

 private:
  static constexpr std::size_t most = 256;
  std::mutex guard_;
  std::deque<std::pair<std::uint64_t, bool>> known_;
};

Answers& answers() {
  static Answers all;
  return all;
}

/// Of all entries, the same whatever the number of threads.
std::uint64_t fingerprint(const AnyView& k, int threads) {
  return std::visit(
      [&]<typename T>(const MatrixView<const T>& m) {
        std::vector<std::uint64_t> sums(at(tasks_of(m.rows)));
        parallel_for(std::ssize(sums), threads, [&](Index task) {
          std::uint64_t sum = sizeof(T);
          for (Index i = task * rows_of_a_task; i < std::min(m.rows, (task + 1) * rows_of_a_task); ++i) {
            sum = checksum(std::as_bytes(std::span(m.row(i), at(m.cols))), sum);
          }
          sums[at(task)] = sum;
        });
        return checksum(std::as_bytes(std::span(sums)), static_cast<std::uint64_t>(m.rows));
      },
      k);
}

bool has_factor(const AnyView& k, int threads, Progress* progress) {
  const Index n = samples_of(k);
  require_memory(sizeof(double) * static_cast<double>(n) * static_cast<double>(n), std::nullopt,
                 "the test that the Gram matrix is positive semi-definite",
                 "leave the test out where the matrix is known to be so");
  Matrix<double> scaled(n, n, Content::unset);
  const double c = semidefinite_allowance(k);
  const bool possible = std::visit([&](const auto& m) { return fill_scaled(m, c, scaled.view(), threads); }, k);
  if (!possible) return false;
  const cpu::AlgebraTeam team(n < least_shared ? 1 : threads);
  return cpu::tiled_cholesky<double>(scaled.view(), progress) == 0;
}

}  // namespace

double semidefinite_allowance(Index samples, Precision precision) {
  const auto n = static_cast<double>(samples);
  const double epsilon = precision == Precision::f32 ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                                     : std::numeric_limits<double>::epsilon();
  // A few operations more than n for each entry of a factor, and those of the scaling.
  return 1.1 * n * ((n + 16) * unit_rounding + entry_roundings * epsilon);
}

double semidefinite_allowance(const AnyView& k) {
  const bool single = std::holds_alternative<MatrixView<const float>>(k);
  return semidefinite_allowance(samples_of(k), single ? Precision::f32 : Precision::f64);
}

bool has_negative_diagonal(const AnyView& k) {
  return std::visit(
      [](const auto& m) {
        bool negative = false;
        for (Index i = 0; i < m.rows; ++i) negative = negative || m(i, i) < 0;
        return negative;
      },
      k);
}

bool is_semidefinite(const AnyView& k, int threads, Progress* progress) {
  const int team = team_size(threads);
  const std::uint64_t key = fingerprint(k, team);
  if (const auto known = answers().find(key)) return *known;
  const bool answer = has_factor(k, team, progress);
  answers().keep(key, answer);
  return answer;
}

}  // namespace widelimit
