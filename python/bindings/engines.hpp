#pragma once

#include "asked_options.hpp"
#include "widelimit/engine/select.hpp"

#include <map>
#include <mutex>
#include <optional>

namespace widelimit::python {

/// The processor with so many threads; kept for the life of the module, since objects that Python holds refer to it.
[[nodiscard]] inline const Engine& processor(std::optional<int> threads) {
  static std::mutex guard;
  static std::map<int, std::unique_ptr<Engine>> kept;
  const std::lock_guard lock(guard);
  std::unique_ptr<Engine>& engine = kept[threads.value_or(0)];
  if (!engine) engine = make_engine("cpu", {.threads = threads.value_or(0)});
  return *engine;
}

/// The same with "threads" of named options.
[[nodiscard]] inline const Engine& processor(const nanobind::dict& given) {
  std::optional<int> threads;
  AskedOptions(given).take("threads", threads);
  return processor(threads);
}

}  // namespace widelimit::python
