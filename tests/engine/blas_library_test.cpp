#include "widelimit/engine/cpu/algebra/blas_library.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/parallel.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>

namespace widelimit {
namespace {

std::size_t address_space_used() {
  std::ifstream file("/proc/self/statm");
  std::size_t pages = 0;
  file >> pages;
  return pages * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

/// Returns the code of the Error that `call` throws in a child process with `more` bytes of address space, or 0.
template <typename Call>
int code_within(std::size_t more, Call call) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlim_t limit = address_space_used() + more;
    const rlimit both{limit, limit};
    ::setrlimit(RLIMIT_AS, &both);
    ::alarm(60);
    try {
      call();
      ::_exit(0);
    } catch (const Error& error) {
      ::_exit(static_cast<int>(error.code()));
    }
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

constexpr std::size_t mebibyte = std::size_t{1} << 20;
constexpr int refused = static_cast<int>(Code::resource);

TEST(Team, ThreadsThatTheSystemRefusesAreAnError) {
  if (WIDELIMIT_SANITIZED != 0) GTEST_SKIP() << "sanitizers take address space of their own";
  EXPECT_EQ(code_within(40 * mebibyte, [] { parallel_for(64, 64, [](Index) {}); }), refused);
}

/// Independent of whether OpenBLAS was loaded before.
TEST(Team, BuffersThatTheSystemRefusesAreAnError) {
  if (WIDELIMIT_SANITIZED != 0) GTEST_SKIP() << "sanitizers take address space of their own";
  const auto work = [](int threads) { parallel_for(threads, threads, [](Index) {}); };
  EXPECT_EQ(code_within(400 * mebibyte, [&] { work(48); }), refused);
  choose_blas_kernels();
  EXPECT_EQ(code_within(400 * mebibyte, [&] { work(48); }), refused);
  EXPECT_EQ(code_within(3000 * mebibyte, [&] { work(8); }), 0);
  EXPECT_TRUE(std::string(blas_description()).starts_with("OpenBLAS "));
}

TEST(AddressSpace, IsAskedForFirst) {
  EXPECT_TRUE(address_space_has(mebibyte));
  EXPECT_FALSE(address_space_has(std::size_t{1} << 60));
  // An address space limit is a memory limit, too.
  if (WIDELIMIT_SANITIZED != 0) return;
  EXPECT_EQ(code_within(100 * mebibyte, [] { require_memory(200e6, std::nullopt, "it", "take less"); }), refused);
}

}  // namespace
}  // namespace widelimit
