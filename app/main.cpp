#include "app/shell/interrupt.hpp"
#include "app/shell/options.hpp"
#include "app/shell/program.hpp"
#include "app/shell/streams.hpp"
#include "app/shell/typo.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/utf8.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/report/drawing/process.hpp"

#include <fmt/format.h>

#include <exception>
#include <new>
#include <sstream>

namespace widelimit::app {

namespace {

/// One message, and the status that goes with it. A file or a figure cut short by a signal fails in its own words; the
/// reason is still the signal.
int complain(Code code, const char* message) {
  stop_clock();
  try {
    // A name or a cell of a file that is quoted must not reach the terminal as a command.
    tell(fmt::format("widelimit: error: {}\n", printable(message)));
  } catch (const std::bad_alloc&) {
    tell("widelimit: error: out of memory\n");
  }
  return interrupted() ? 128 + stop_signal() : static_cast<int>(code);
}

void describe(CLI::App& cli) {
  cli.name("widelimit");
  cli.description(
      "Neural networks at the limit of infinite width: their NNGP and tangent kernels, exactly, and kernel machines.");
  cli.set_version_flag("--version", "widelimit " + std::string(version()));
  cli.get_formatter()->column_width(34);
  cli.require_subcommand(1);
  set_example(cli, "widelimit kernel --network fc:3 --train digits --limit 200 --out k.npz");
}

/// False where help or the version was asked for, and printed.
bool understand(Program& program, int count, char** words) {
  try {
    program.cli.parse(count, words);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) fail(Code::usage, "{}", usage_message(program.cli, error));
    std::ostringstream text;
    program.cli.exit(error, text, text);
    print(text.str());
    return false;
  }
}

void run(int count, char** words) {
  Program program;
  describe(program.cli);
  add_doctor(program);
  add_data(program);
  add_network(program);
  add_kernel(program);
  add_fit(program);
  add_tune(program);
  add_predict(program);
  add_certify(program);
  add_train(program);
  add_equivalence(program);
  add_experiment(program);
  add_flow(program);
  add_bound(program);
  add_demo(program);
  if (understand(program, count, words)) program.action();
}

}  // namespace

}  // namespace widelimit::app

int main(int count, char** words) {
  using namespace widelimit;
  app::secure_streams();
  app::catch_signals();
  stop_programs_when(&app::interrupted);
  try {
    app::run(count, words);
    return 0;
  } catch (const Error& error) {
    return app::complain(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return app::complain(Code::resource, "out of memory; take fewer samples (--limit) or --precision f32");
  } catch (const std::exception& error) {
    return app::complain(Code::resource, error.what());
  }
}
