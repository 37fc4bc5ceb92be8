#include "app/shell/options.hpp"
#include "app/shell/program.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

#include <filesystem>
#include <fstream>
#include <string>
#include <system_error>

namespace widelimit::app {

namespace {

constexpr const char* common_group = "Common options";

/// Returns whether a file exists that is no page: a report must not replace data, models or kernels.
bool holds_other_than_page(const std::string& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored) || std::filesystem::file_size(path, ignored) == 0) return false;
  std::string start(64, ' ');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  return !start.starts_with("<!") && !start.starts_with("<html");
}

}  // namespace

std::unique_ptr<Engine> CommonOptions::make_engine() const {
  return widelimit::make_engine(backend, EngineOptions{threads});
}

std::optional<std::size_t> CommonOptions::memory_limit() const {
  return memory ? std::optional(parse_bytes(*memory)) : std::nullopt;
}

void CommonOptions::check_report(bool figures) const {
  if (!report) return;
  if (figures && !gnuplot_is_present()) {
    fail(Code::usage, "--report needs gnuplot for its figures; install it (Debian: apt install gnuplot-nox)");
  }
  if (holds_other_than_page(*report)) {
    fail(Code::usage, "--report '{}': the file exists and is not a page; choose another path", *report);
  }
  check_writable(*report, 0);
}

void add_common_options(CLI::App& verb, CommonOptions& options) {
  verb.add_flag("--json", options.json, "Print only one JSON record on standard output")->group(common_group);
  verb.add_option("--report", options.report, "Write a self-contained page with figures")
      ->type_name("FILE.html")
      ->group(common_group);
  // Validated here: some verbs do not use these options, and an invalid value must not pass silently.
  verb.add_option("--backend", options.backend, engine_names() + "; 'widelimit doctor' reports why others are absent")
      ->check([](const std::string& text) { return check_engine_name(text), std::string{}; })
      ->type_name("NAME")
      ->capture_default_str()
      ->group(common_group);
  verb.add_option("--precision", options.precision, "f32 or f64")
      ->check([](const std::string& text) { return static_cast<void>(parse_precision(text)), std::string{}; })
      ->type_name("P")
      ->capture_default_str()
      ->group(common_group);
  verb.add_option("--threads", options.threads, "Number of threads; 0: one per processor")
      ->type_name("N")
      ->capture_default_str()
      ->group(common_group);
  verb.add_option("--memory", options.memory, "Memory limit, e.g. 4GiB; default: the available memory")
      ->check([](const std::string& text) { return static_cast<void>(parse_bytes(text)), std::string{}; })
      ->type_name("SIZE")
      ->group(common_group);
  verb.add_option("--seed", options.seed, "Seed of all random numbers")
      ->type_name("S")
      ->capture_default_str()
      ->group(common_group);
  verb.add_flag("--progress", options.progress, "Show progress even if standard error is not a terminal")
      ->group(common_group);
  verb.add_flag("-q,--quiet", options.quiet, "Print only errors: no progress, notes or tables")->group(common_group);
}

void set_example(CLI::App& verb, const std::string& command) { verb.footer("Example:\n  " + command); }

}  // namespace widelimit::app
