#include "widelimit/engine/cpu/algebra/blas_library.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/workers.hpp"

#include <dlfcn.h>
#include <hwy/highway.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

namespace {

/// Address space that OpenBLAS 0.3.21 maps per thread on x86-64; other builds take less.
constexpr std::size_t buffer_bytes = std::size_t{128} << 20;
/// The library and the Fortran run time take 44 MiB.
constexpr std::size_t library_bytes = std::size_t{64} << 20;
/// Number of buffers that OpenBLAS reserves when loaded for one thread.
constexpr std::size_t buffers_at_load = 2;
/// OpenBLAS 0.3.21 built for 128 threads has 638 buffers and aborts beyond them.
constexpr std::size_t most_buffers = 600;

/// RAII guard that sets an environment variable.
class Setting {
 public:
  Setting(const char* variable, const char* value) : variable_(variable) {
    if (const char* before = std::getenv(variable)) before_ = before;
    setenv(variable, value, 1);
  }
  ~Setting() { before_ ? setenv(variable_, before_->c_str(), 1) : unsetenv(variable_); }
  Setting(const Setting&) = delete;
  Setting& operator=(const Setting&) = delete;

 private:
  const char* variable_;
  std::optional<std::string> before_;
};

/// Returns the best kernels for this processor, or null if the oldest ones are appropriate.
const char* best_kernels() {
  const auto targets = hwy::SupportedTargets();
  if ((targets & HWY_AVX3) != 0) return "SkylakeX";
  if ((targets & HWY_AVX2) != 0) return "Haswell";
  return nullptr;
}

[[noreturn]] void fail_buffers(std::size_t bytes) {
  fail(Code::resource,
       "matrix products need {} more of address space, which the system refuses; raise the limit of this process "
       "(ulimit -v) or use fewer threads",
       bytes_text(static_cast<double>(bytes)));
}

class BlasLibrary {
 public:
  static BlasLibrary& loaded() {
    static BlasLibrary library;
    return library;
  }

  [[nodiscard]] void* find(const char* name) const {
    void* const routine = dlsym(handle_, name);
    if (routine == nullptr) {
      fail(Code::resource, "OpenBLAS has no routine {}; install libopenblas0-openmp of Debian 12 or later", name);
    }
    return routine;
  }

  /// Reserves buffers for `calls` concurrent calls; throws Error{resource} on failure. OpenBLAS keeps mapped buffers.
  void prepare(int calls) {
    if (calls <= calls_) return;
    const std::lock_guard lock(preparing_);
    take_buffers(static_cast<std::size_t>(std::max<int>(calls, calls_)));
    calls_ = std::max<int>(calls, calls_);
  }

 private:
  BlasLibrary() {
    constexpr std::size_t needed = library_bytes + buffers_at_load * buffer_bytes;
    if (!address_space_has(needed)) fail_buffers(needed);
    // Buffers for more threads are reserved on demand.
    const Setting one_thread("OPENBLAS_NUM_THREADS", "1");
    for (const char* name : {WIDELIMIT_OPENBLAS, "libopenblas.so.0"}) {
      handle_ = dlopen(name, RTLD_NOW | RTLD_LOCAL);
      if (handle_ != nullptr) break;
    }
    if (handle_ == nullptr) {
      fail(Code::resource, "OpenBLAS cannot be loaded ({}); install libopenblas0-openmp", dlerror());
    }
    choose_kernels();
  }

  /// OpenBLAS selects its kernels by a table of processor models; processors newer than the table get the oldest
  /// kernels, which are several times slower. In that case these two entry points repeat the selection.
  void choose_kernels() const {
    using Entry = void (*)();
    using Name = const char* (*)();
    const std::string_view current = reinterpret_cast<Name>(find("openblas_get_corename"))();
    const char* const best = best_kernels();
    const auto quit = reinterpret_cast<Entry>(dlsym(handle_, "gotoblas_dynamic_quit"));
    const auto init = reinterpret_cast<Entry>(dlsym(handle_, "gotoblas_dynamic_init"));
    const bool oldest = current == "Prescott" || current == "Core2" || current == "Katmai";
    constexpr const char* variable = "OPENBLAS_CORETYPE";
    if (!oldest || best == nullptr || quit == nullptr || init == nullptr || std::getenv(variable) != nullptr) return;
    const Setting kernels(variable, best);
    quit();
    init();
  }

  /// Reserves `count` buffers at once and releases them, so that OpenBLAS has mapped them. Checks the address space
  /// before each.
  void take_buffers(std::size_t count) const {
    using Allocate = void* (*)(int);
    using Free = void (*)(void*);
    const auto allocate = reinterpret_cast<Allocate>(dlsym(handle_, "blas_memory_alloc"));
    const auto free = reinterpret_cast<Free>(dlsym(handle_, "blas_memory_free"));
    if (allocate == nullptr || free == nullptr) return;  // a build with another buffer allocator
    std::vector<void*> held;
    held.reserve(count);
    while (held.size() < std::min(count, most_buffers) && address_space_has(buffer_bytes + page_bytes)) {
      held.push_back(allocate(0));
    }
    std::for_each(held.rbegin(), held.rend(), free);
    if (held.size() < count) fail_buffers((count - held.size()) * buffer_bytes);
  }

  static constexpr std::size_t page_bytes = std::size_t{1} << 16;
  void* handle_ = nullptr;
  std::mutex preparing_;
  std::atomic<int> calls_{0};
};

/// Reserves buffers before teams start, because a thread of a team that calls BLAS first cannot report failure.
[[maybe_unused]] const bool registered = (before_teams(&prepare_blas_calls), true);

/// Number of threads that called BLAS outside a team and may do so concurrently.
std::atomic<int> callers{0};

struct Caller {
  Caller() { ++callers; }
  ~Caller() { --callers; }
  Caller(const Caller&) = delete;
  Caller& operator=(const Caller&) = delete;

  /// Counts this thread once, until it ends.
  static int count() {
    static thread_local const Caller caller;
    return callers;
  }
};

}  // namespace

void* blas_routine(const char* name) { return BlasLibrary::loaded().find(name); }

void prepare_blas_calls(int calls) { BlasLibrary::loaded().prepare(calls * Caller::count()); }

void prepare_blas_call() {
  if (!inside_team()) BlasLibrary::loaded().prepare(Caller::count());
}

const char* blas_description() {
  static const std::string text = [] {
    using Text = const char* (*)();
    try {
      const std::string config = reinterpret_cast<Text>(blas_routine("openblas_get_config"))();
      const std::string kernels = reinterpret_cast<Text>(blas_routine("openblas_get_corename"))();
      return config.substr(0, config.find(' ', config.find(' ') + 1)) + " " + kernels;
    } catch (const Error& error) {
      return fmt::format("no OpenBLAS: {}", error.what());
    }
  }();
  return text.c_str();
}

}  // namespace widelimit
