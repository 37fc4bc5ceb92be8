#pragma once

#include "widelimit/backend/select.hpp"
#include "widelimit/kernel/gram.hpp"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace widelimit::app {

/// The options that every verb takes.
struct CommonOptions {
  bool json = false;
  bool quiet = false;
  bool progress = false;
  std::optional<std::string> report;
  std::string backend = "cpu";
  std::string precision{to_string(GramOptions{}.precision)};
  int threads = BackendOptions{}.threads;
  std::optional<std::string> memory;
  std::uint64_t seed = 0;

  [[nodiscard]] std::unique_ptr<Backend> make_backend() const;
  /// Bytes of --memory. Error{usage} where it is no size.
  [[nodiscard]] std::optional<std::size_t> memory_limit() const;
  /// Error now rather than after the work where the report could not be written or its figures drawn.
  void check_report(bool figures) const;
};

void add_common_options(CLI::App& verb, CommonOptions& options);

/// What the command line asks for, run after all of it was understood.
using Action = std::function<void()>;

/// A verb puts its action here when it is the one that was typed.
struct Program {
  CLI::App cli;
  Action action;
};

/// The end of a verb's help.
void set_example(CLI::App& verb, const std::string& command);

void add_doctor(Program& program);
void add_data(Program& program);
void add_network(Program& program);
void add_kernel(Program& program);
void add_demo(Program& program);

}  // namespace widelimit::app
