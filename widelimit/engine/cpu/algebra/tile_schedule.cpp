#include "widelimit/engine/cpu/algebra/tile_schedule.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/base/workers.hpp"
#include "widelimit/engine/cpu/algebra/blas_library.hpp"

#include <algorithm>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <queue>
#include <utility>
#include <vector>

namespace widelimit::cpu {

namespace {

/// Maximum number of steps of a tile before a thread checks for a more urgent tile.
constexpr Index steps_at_once = 4;

class TileSchedule {
 public:
  TileSchedule(const TileGraph& graph, Progress* progress)
      : graph_(graph),
        state_(static_cast<std::size_t>(graph.tiles)),
        left_(graph.tiles),
        ticker_(progress, total_steps(graph), "tiles"),
        listens_(progress != nullptr || current_interruptible() != nullptr) {
    for (Index tile = 0; tile < graph.tiles; ++tile) {
      state(tile).steps = graph.steps(tile);
      enter(tile);
    }
  }

  /// Loop of one team member; only the first reports progress.
  void run_member(bool first) {
    std::unique_lock lock(guard_);
    while (left_ > 0 && !failure_) {
      if (ready_.empty()) {
        wait(lock, first);
        continue;
      }
      const Index tile = ready_.top();
      ready_.pop();
      go_on(lock, tile);
      if (first && listens_) report(lock);
    }
    changed_.notify_all();
  }

  /// Called after the team has finished: rethrows the failure or reports completion.
  void end() {
    if (failure_) std::rethrow_exception(failure_);
    ticker_.at(done_);
  }

 private:
  struct State {
    Index steps = 0;
    Index done = 0;
    std::vector<Index> waiting;  ///< tiles blocked until this one is finished
    [[nodiscard]] bool finished() const { return done == steps; }
  };

  static std::int64_t total_steps(const TileGraph& graph) {
    std::int64_t total = 0;
    for (Index tile = 0; tile < graph.tiles; ++tile) total += graph.steps(tile);
    return total;
  }

  State& state(Index tile) { return state_[static_cast<std::size_t>(tile)]; }

  /// Returns the first unfinished tile that a step of `tile` depends on, or `nothing`.
  Index missing(Index tile, Index step) {
    for (const Index needed : graph_.needs(tile, step)) {
      if (needed != TileGraph::nothing && !state(needed).finished()) return needed;
    }
    return TileGraph::nothing;
  }

  /// Queues a tile as ready, or as waiting for another.
  void enter(Index tile) {
    const Index needed = missing(tile, state(tile).done);
    if (needed == TileGraph::nothing) {
      ready_.push(tile);
    } else {
      state(needed).waiting.push_back(tile);
    }
  }

  /// Runs some steps of a tile without holding the lock.
  void go_on(std::unique_lock<std::mutex>& lock, Index tile) {
    const Index begin = state(tile).done;
    Index end = begin + 1;
    while (end < state(tile).steps && end - begin < steps_at_once && missing(tile, end) == TileGraph::nothing) ++end;
    lock.unlock();
    std::exception_ptr failure;
    try {
      for (Index step = begin; step < end; ++step) graph_.run(tile, step);
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure) {
      if (!failure_) failure_ = failure;
      return;
    }
    state(tile).done = end;
    done_ += end - begin;
    const auto before = ready_.size();
    if (!state(tile).finished()) {
      enter(tile);
    } else {
      --left_;
      for (const Index waiting : std::exchange(state(tile).waiting, {})) enter(waiting);
    }
    // This thread takes one of the new ready tiles itself.
    for (auto more = ready_.size(); more > std::max<std::size_t>(before, 1); --more) changed_.notify_one();
  }

  void wait(std::unique_lock<std::mutex>& lock, bool first) {
    if (!first || !listens_) {
      changed_.wait(lock);
      return;
    }
    constexpr std::chrono::milliseconds pulse_interval{200};
    changed_.wait_for(lock, pulse_interval);
    report(lock);
  }

  void report(std::unique_lock<std::mutex>& lock) {
    const std::int64_t done = done_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      ticker_.at(done);
      interruption_point();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    if (failure && !failure_) failure_ = failure;
  }

  const TileGraph& graph_;
  std::vector<State> state_;
  std::priority_queue<Index, std::vector<Index>, std::greater<>> ready_;
  Index left_;
  std::int64_t done_ = 0;
  std::mutex guard_;
  std::condition_variable changed_;
  std::exception_ptr failure_;
  ProgressTicker ticker_;
  bool listens_;
};

}  // namespace

void run_tiles(const TileGraph& graph, int threads, Progress* progress) {
  if (graph.tiles == 0) return;
  TileSchedule schedule(graph, progress);
  const int team = inside_team() ? 1 : static_cast<int>(std::clamp<Index>(graph.tiles, 1, threads));
  run_on_team(team, [&](int member) { schedule.run_member(member == 0); });
  schedule.end();
}

}  // namespace widelimit::cpu
