#pragma once

#include "python/bindings/base/asked_options.hpp"
#include "widelimit/engine/select.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace widelimit::python {

/// An engine with so many threads; kept for good, since objects that Python holds refer to it, and a device must not be
/// closed after the runtime of CUDA, which ends before our static objects do.
[[nodiscard]] inline const Engine& engine_of(const std::string& backend, std::optional<int> threads) {
  static std::mutex guard;
  static auto& kept = *new std::map<std::pair<std::string, int>, std::unique_ptr<Engine>>;
  const std::lock_guard lock(guard);
  std::unique_ptr<Engine>& engine = kept[{backend, threads.value_or(0)}];
  if (!engine) engine = make_engine(backend, {.threads = threads.value_or(0)});
  return *engine;
}

/// The processor.
[[nodiscard]] inline const Engine& processor(std::optional<int> threads) { return engine_of("cpu", threads); }

/// The same with "threads" of named options.
[[nodiscard]] inline const Engine& processor(const nanobind::dict& given) {
  std::optional<int> threads;
  AskedOptions(given).take("threads", threads);
  return processor(threads);
}

/// The engine of "backend", the processor without, and "threads" of named options.
[[nodiscard]] inline const Engine& engine_of(const nanobind::dict& given) {
  std::string backend = "cpu";
  std::optional<int> threads;
  const AskedOptions asked(given);
  asked.take("backend", backend);
  asked.take("threads", threads);
  return engine_of(backend, threads);
}

}  // namespace widelimit::python
