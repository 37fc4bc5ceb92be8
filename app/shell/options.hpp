#pragma once

#include "widelimit/engine/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

/// Named only: its header takes longer to compile than any file here.
namespace CLI {
class App;
}  // namespace CLI

namespace widelimit::app {

/// The options that every verb takes.
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
  /// Bytes of --memory. Error{usage} where it is no size.
  [[nodiscard]] std::optional<std::size_t> memory_limit() const;
  /// Error now rather than after the work where the report could not be written or its figures drawn.
  void check_report(bool figures) const;
  /// Error{usage} where --out is also the page, or either is one of the files that are read: it would be lost.
  void check_apart(const std::optional<std::string>& out, const std::vector<std::string>& read) const;
};

void add_common_options(CLI::App& verb, CommonOptions& options);

}  // namespace widelimit::app
