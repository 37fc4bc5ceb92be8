#include "widelimit/base/workers.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"

#include <pthread.h>

#include <atomic>
#include <condition_variable>
#include <csignal>
#include <latch>
#include <memory>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace widelimit {

namespace {

thread_local bool in_team = false;

/// Task of one team member.
struct Assignment {
  const std::function<void(int)>* job = nullptr;
  int member = 0;
  std::latch* done = nullptr;
  Interruptible* interruptible = nullptr;  ///< of the calling thread
};

/// Thread that waits for assignments until the process ends.
class Worker {
 public:
  /// Throws std::system_error if the system provides no thread.
  Worker() : thread_([this] { work(); }) { thread_.detach(); }

  void assign(const Assignment& assignment) {
    {
      const std::lock_guard lock(guard_);
      assignment_ = assignment;
    }
    assigned_.notify_one();
  }

 private:
  [[noreturn]] void work() {
    in_team = true;
    while (true) {
      Assignment next;
      {
        std::unique_lock lock(guard_);
        assigned_.wait(lock, [this] { return assignment_.job != nullptr; });
        next = std::exchange(assignment_, {});
      }
      exchange_interruptible(next.interruptible);
      (*next.job)(next.member);
      exchange_interruptible(nullptr);
      next.done->count_down();
    }
  }

  std::mutex guard_;
  std::condition_variable assigned_;
  Assignment assignment_;
  std::thread thread_;
};

/// Blocks signals during its lifetime; threads that start meanwhile inherit the blocked mask.
class WithoutSignals {
 public:
  WithoutSignals() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~WithoutSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  WithoutSignals(const WithoutSignals&) = delete;
  WithoutSignals& operator=(const WithoutSignals&) = delete;

 private:
  sigset_t before_{};
};

/// Pool of idle threads.
class Pool {
 public:
  using Members = std::vector<std::unique_ptr<Worker>>;

  /// Never destroyed: its threads wait until the process ends. After fork the child has none of these threads and
  /// starts its own.
  static Pool& instance() {
    static std::once_flag once;
    std::call_once(once, [] {
      pool_ = new Pool;
      pthread_atfork(nullptr, nullptr, [] { pool_ = new Pool; });
    });
    return *pool_;
  }

  [[nodiscard]] Members take(int count) {
    Members members;
    {
      const std::lock_guard lock(guard_);
      while (!idle_.empty() && static_cast<int>(members.size()) < count) {
        members.push_back(std::move(idle_.back()));
        idle_.pop_back();
      }
    }
    try {
      const WithoutSignals quiet;
      while (static_cast<int>(members.size()) < count) members.push_back(std::make_unique<Worker>());
    } catch (const std::system_error&) {
      const auto granted = members.size() + 1;
      return_members(std::move(members));
      fail(Code::resource,
           "the system grants {} threads of {}; take fewer, or raise the limits of this process (ulimit -u, ulimit -v)",
           granted, count + 1);
    }
    return members;
  }

  void return_members(Members members) {
    const std::lock_guard lock(guard_);
    for (auto& member : members) idle_.push_back(std::move(member));
  }

 private:
  static inline Pool* pool_ = nullptr;
  std::mutex guard_;
  Members idle_;
};

std::atomic<void (*)(int)> reserve_for_team{nullptr};

}  // namespace

void before_teams(void (*reserve)(int team)) { reserve_for_team = reserve; }

bool inside_team() { return in_team; }

void run_on_team(int team, const std::function<void(int member)>& job) {
  if (in_team || team <= 1) {
    job(0);
    return;
  }
  if (auto* const reserve = reserve_for_team.load()) reserve(team);
  Pool& pool = Pool::instance();
  Pool::Members members = pool.take(team - 1);
  std::latch done(team - 1);
  for (int k = 1; k < team; ++k) {
    members[static_cast<std::size_t>(k - 1)]->assign({&job, k, &done, current_interruptible()});
  }
  in_team = true;
  job(0);
  in_team = false;
  done.wait();
  pool.return_members(std::move(members));
}

}  // namespace widelimit
