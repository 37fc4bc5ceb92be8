#include "app/shell/options.hpp"
#include "app/shell/program.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/report/drawing/gnuplot.hpp"

#include <filesystem>
#include <system_error>

namespace widelimit::app {

namespace {

constexpr const char* common_group = "Common options";

bool same_file(const std::filesystem::path& a, const std::filesystem::path& b) {
  std::error_code absent;
  return a.lexically_normal() == b.lexically_normal() || std::filesystem::equivalent(a, b, absent);
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
  check_writable(*report, 0);
}

void CommonOptions::check_distinct_files(const std::optional<std::string>& out,
                                         const std::vector<std::string>& read) const {
  if (out && report && same_file(*out, *report)) {
    fail(Code::usage, "--out and --report are both '{}'; choose different files", *out);
  }
  for (const std::string& file : read) {
    for (const auto& written : {out, report}) {
      if (!written || !same_file(*written, file)) continue;
      fail(Code::usage, "'{}' is an input file and would be overwritten; choose another path", *written);
    }
  }
}

void add_common_options(CLI::App& verb, CommonOptions& options) {
  verb.add_flag("--json", options.json, "Print only one JSON record on standard output")->group(common_group);
  verb.add_option("--report", options.report, "Write a self-contained page with figures")
      ->type_name("FILE.html")
      ->group(common_group);
  verb.add_option("--backend", options.backend, engine_names() + "; 'widelimit doctor' reports why others are absent")
      ->type_name("NAME")
      ->capture_default_str()
      ->group(common_group);
  // Validated here: some verbs do not use these options, and an invalid value must not pass silently.
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
