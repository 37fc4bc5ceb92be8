#pragma once

#include "python/bindings/base/option_reader.hpp"
#include "widelimit/engine/select.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace widelimit::python {

/// Returns the engine with this number of threads. Engines are cached and never freed: Python objects refer to them,
/// and a device must not be closed after the CUDA runtime, which shuts down before our static objects are destroyed.
[[nodiscard]] inline const Engine& engine_of(const std::string& backend, std::optional<int> threads) {
  static std::mutex guard;
  static auto& kept = *new std::map<std::pair<std::string, int>, std::unique_ptr<Engine>>;
  const std::lock_guard lock(guard);
  std::unique_ptr<Engine>& engine = kept[{backend, threads.value_or(0)}];
  if (!engine) engine = make_engine(backend, {.threads = threads.value_or(0)});
  return *engine;
}

/// Returns the CPU engine.
[[nodiscard]] inline const Engine& processor(std::optional<int> threads) { return engine_of("cpu", threads); }

/// Returns the option "threads".
[[nodiscard]] inline std::optional<int> threads_of(const nanobind::dict& given) {
  std::optional<int> threads;
  OptionReader(given).take("threads", threads);
  return threads;
}

/// Returns the CPU engine with the option "threads".
[[nodiscard]] inline const Engine& processor(const nanobind::dict& given) { return processor(threads_of(given)); }

/// Returns the engine of the options "backend" (default: CPU) and "threads".
[[nodiscard]] inline const Engine& engine_of(const nanobind::dict& given) {
  std::string backend = "cpu";
  OptionReader(given).take("backend", backend);
  return engine_of(backend, threads_of(given));
}

}  // namespace widelimit::python
