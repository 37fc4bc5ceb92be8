#pragma once

#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

/// Forward declaration: the header of CLI11 is slow to compile.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// Options of every verb.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  bool progress = false;
  std::optional<std::string> report;
  std::string backend = "cpu";
  std::string precision{to_string(GramOptions{}.precision)};
  int threads = EngineOptions{}.threads;
  std::optional<std::string> memory;
  std::uint64_t seed = 0;

  [[nodiscard]] std::unique_ptr<Engine> make_engine() const;
  /// Returns the bytes of --memory. Throws Error{usage} if it is not a size.
  [[nodiscard]] std::optional<std::size_t> memory_limit() const;
  /// Throws Error before the computation if the report cannot be written or would replace a file that is no page, or
  /// its `figures` cannot be drawn.
  void check_report(bool figures) const;
};

void add_common_options(CLI::App& verb, CommonOptions& options);

}  // namespace widelimit::app
