#include "widelimit/base/blas.hpp"

#include <cblas.h>
#include <dlfcn.h>
#include <hwy/highway.h>

#include <cstdlib>
#include <mutex>
#include <string>
#include <string_view>

namespace widelimit {

namespace {

/// The kernels for what this processor can do, or null where the oldest ones are right.
const char* best_kernels() {
  const auto targets = hwy::SupportedTargets();
  if ((targets & HWY_AVX3) != 0) return "SkylakeX";
  if ((targets & HWY_AVX2) != 0) return "Haswell";
  return nullptr;
}

/// OpenBLAS reads its variable when it is loaded; these two entry points make it read again.
void choose_again(const char* kernels) {
  using Entry = void (*)();
  const auto quit = reinterpret_cast<Entry>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_quit"));
  const auto init = reinterpret_cast<Entry>(dlsym(RTLD_DEFAULT, "gotoblas_dynamic_init"));
  constexpr const char* variable = "OPENBLAS_CORETYPE";
  if (quit == nullptr || init == nullptr || std::getenv(variable) != nullptr) return;
  setenv(variable, kernels, 1);
  quit();
  init();
  unsetenv(variable);  // children choose for themselves
}

}  // namespace

void choose_blas_kernels() {
  static std::once_flag once;
  std::call_once(once, [] {
    const std::string_view current = openblas_get_corename();
    const char* best = best_kernels();
    if (best != nullptr && (current == "Prescott" || current == "Core2" || current == "Katmai")) choose_again(best);
  });
}

const char* blas_description() {
  static const std::string text = [] {
    choose_blas_kernels();
    const std::string config = openblas_get_config();
    return config.substr(0, config.find(' ', config.find(' ') + 1)) + " " + openblas_get_corename();
  }();
  return text.c_str();
}

}  // namespace widelimit
