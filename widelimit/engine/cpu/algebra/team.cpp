#include "widelimit/engine/cpu/algebra/team.hpp"

#include "widelimit/base/parallel.hpp"

#include <utility>

namespace widelimit::cpu {

namespace {
thread_local int team_of_this_thread = 1;
}  // namespace

AlgebraTeam::AlgebraTeam(int threads) : before_(std::exchange(team_of_this_thread, team_size(threads))) {}
AlgebraTeam::~AlgebraTeam() { team_of_this_thread = before_; }

int algebra_team() { return team_of_this_thread; }

}  // namespace widelimit::cpu
