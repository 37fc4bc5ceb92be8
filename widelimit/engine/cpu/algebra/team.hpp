#pragma once

namespace widelimit::cpu {

/// While alive, dense algebra that this thread calls (tiled.hpp) is shared among `threads` threads, by team_size. Each
/// call of BLAS runs on one thread either way.
class AlgebraTeam {
 public:
  explicit AlgebraTeam(int threads);
  ~AlgebraTeam();
  AlgebraTeam(const AlgebraTeam&) = delete;
  AlgebraTeam& operator=(const AlgebraTeam&) = delete;

 private:
  int before_;
};

/// Threads of the innermost AlgebraTeam of this thread; 1 where there is none.
[[nodiscard]] int algebra_team();

}  // namespace widelimit::cpu
