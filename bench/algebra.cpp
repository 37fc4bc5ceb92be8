// Tiled Cholesky factorisation compared with OpenBLAS's multithreaded potrf: on an idle machine for several thread
// counts, and under load from programs that this one starts. Targets: at least 85 % of OpenBLAS when idle; with one
// or two busy programs at most 1.3 times the time of one thread under the same load, worst of ten; a speed-up of 10 on
// 16 CPU cores.

#include "bench/measure.hpp"
#include "bench/openblas.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/engine/cpu/algebra/tiled.hpp"

#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <atomic>
#include <csignal>

namespace widelimit::bench {
namespace {

/// Processes that keep CPU cores busy for the lifetime of the object.
class BusyPrograms {
 public:
  explicit BusyPrograms(int count) {
    for (int k = 0; k < count; ++k) {
      const pid_t child = ::fork();
      if (child == 0) {
        ::prctl(PR_SET_PDEATHSIG, SIGKILL);
        std::atomic<std::uint64_t> turns{0};
        while (true) turns.fetch_add(1, std::memory_order_relaxed);
      }
      children_.push_back(child);
    }
  }
  ~BusyPrograms() {
    for (const pid_t child : children_) {
      ::kill(child, SIGKILL);
      ::waitpid(child, nullptr, 0);
    }
  }
  BusyPrograms(const BusyPrograms&) = delete;
  BusyPrograms& operator=(const BusyPrograms&) = delete;

 private:
  std::vector<pid_t> children_;
};

/// Returns I + XXᵀ/d.
Matrix<double> positive_definite(Index n) {
  const Matrix<double> x = normal_inputs(n, 64);
  Matrix<double> a(n, n);
  cpu::tiled_product<double>(1.0 / 64, Transpose::no, x.view(), Transpose::yes, x.view(), 0, a.view(), team_size(0));
  for (Index i = 0; i < n; ++i) a(i, i) += 1;
  return a;
}

/// Returns the seconds to factor a copy of `a`.
template <typename Factor>
double seconds(const Matrix<double>& a, Matrix<double>& copy, const Factor& factor) {
  std::copy_n(a.data(), a.rows() * a.cols(), copy.data());
  return seconds_of([&] { return factor(copy.view()), 0; });
}

double ours(const Matrix<double>& a, Matrix<double>& copy, int threads) {
  return seconds(a, copy, [&](MatrixView<double> m) { (void)cpu::tiled_cholesky<double>(m, nullptr, threads); });
}

double theirs(const Matrix<double>& a, Matrix<double>& copy, int threads) {
  openblas::use_threads(threads);
  const double result = seconds(a, copy, openblas::potrf);
  openblas::use_threads(1);
  return result;
}

void run(Index n, int repeats) {
  const int processors = team_size(0);
  const Matrix<double> a = positive_definite(n);
  Matrix<double> copy(n, n);
  (void)ours(a, copy, processors);
  (void)theirs(a, copy, processors);

  fmt::print("Cholesky factor, n = {}, float64, {} CPU cores; medians of {} rounds, seconds\n", n, processors, repeats);
  fmt::print("{:>8} {:>10} {:>9} {:>10} {:>8}\n", "threads", "widelimit", "speed-up", "OpenBLAS", "share");
  double one_thread = 0;
  for (int threads = 1; threads <= processors; threads *= 2) {
    const auto medians =
        medians_in_turn({[&] { return ours(a, copy, threads); }, [&] { return theirs(a, copy, threads); }}, repeats);
    if (threads == 1) one_thread = medians[0];
    fmt::print("{:>8} {:>10.3f} {:>8.1f}x {:>10.3f} {:>7.0f}%\n", threads, medians[0], one_thread / medians[0],
               medians[1], 100 * medians[1] / medians[0]);
  }

  const int rounds = std::max(10, repeats);
  fmt::print("Beside busy programs, worst of {} rounds, seconds\n", rounds);
  fmt::print("{:>8} {:>10} {:>10} {:>7} {:>12} {:>10}\n", "programs", "one thread", "all", "ratio", "target",
             "OpenBLAS");
  for (const int programs : {processors / 2, processors}) {
    const BusyPrograms busy(programs);
    double one = 0, all = 0, blas = 0;
    for (int round = 0; round < rounds; ++round) {
      one = std::max(one, ours(a, copy, 1));
      all = std::max(all, ours(a, copy, processors));
      blas = std::max(blas, theirs(a, copy, processors));
    }
    fmt::print("{:>8} {:>10.3f} {:>10.3f} {:>6.2f}x {:>12} {:>10.3f}\n", programs, one, all, all / one,
               verdict_at_most(all / one, 1.3), blas);
  }
}

}  // namespace
}  // namespace widelimit::bench

int main(int argc, char** argv) {
  widelimit::Index rows = 4000;
  int repeats = 5;
  CLI::App app("Tiled Cholesky factorisation, on an idle machine and under load");
  app.add_option("--rows", rows);
  app.add_option("--repeats", repeats);
  CLI11_PARSE(app, argc, argv);
  widelimit::bench::run(rows, repeats);
}
