#pragma once

#include "widelimit/base/error.hpp"
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

/// Calls options.validate(). The library reports some invalid options as invalid input, because its callers compute
/// them; options of the command line are typed, so that they are wrong usage.
template <typename Options>
void check_options(const Options& options) {
  try {
    options.validate();
  } catch (const Error& error) {
    throw Error(error.code() == Code::input ? Code::usage : error.code(), error.what(), error.remedies());
  }
}

}  // namespace widelimit::app
