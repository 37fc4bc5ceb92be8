#include "app/shell/help.hpp"
#include "app/shell/interrupt.hpp"
#include "app/shell/options.hpp"
#include "app/shell/outputs.hpp"
#include "app/shell/program.hpp"
#include "app/shell/remedies.hpp"
#include "app/shell/streams.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/utf8.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file/location.hpp"
#include "widelimit/report/drawing/process.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <cctype>
#include <exception>
#include <new>
#include <sstream>
#include <string>

namespace widelimit::app {

namespace {

/// Returns the innermost selected verb, or the program itself.
const CLI::App& innermost(const CLI::App& cli) {
  const auto verbs = cli.get_subcommands();
  return verbs.empty() ? cli : innermost(*verbs.front());
}

std::string full_name(const CLI::App& verb) {
  return verb.get_parent() == nullptr ? verb.get_name() : full_name(*verb.get_parent()) + " " + verb.get_name();
}

std::vector<std::string> option_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

std::vector<std::string> verb_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::App* inner : verb.get_subcommands(nullptr)) names.push_back(inner->get_name());
  return names;
}

std::string closest_name(const std::string& word, const std::vector<std::string>& names) {
  return suggestion(word, {names.begin(), names.end()});
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  if (text.size() > 1 && std::islower(static_cast<unsigned char>(text[1])) != 0) {
    text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  }
  return text;
}

/// Turns CLI11's "Could not convert: --limit = 1.5" into a message with option, value and expected type.
std::string conversion_message(const std::string& text) {
  const auto begin = text.find("--"), equals = text.find(" = ");
  if (begin == std::string::npos || equals == std::string::npos || equals < begin) return one_line(text);
  const std::string value = text.substr(equals + 3);
  const bool real = value.find_first_not_of("0123456789+-.eE,") == std::string::npos;
  return fmt::format("{} {}: expected {}", text.substr(begin, equals - begin), value,
                     real ? "an integer in range" : "a number");
}

/// Rewrites CLI11's "--limit: At Most 1 required but received 2" and "--limit: 1 required N missing".
std::string count_message(const std::string& text) {
  const std::string name = text.substr(0, text.find(':'));
  if (text.find("At Most") != std::string::npos) return name + " is given more than once";
  return text.ends_with("missing") ? name + " has no value" : one_line(text);
}

std::string error_text(const CLI::App& verb, const std::vector<std::string>& extras, const CLI::ParseError& error) {
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& word) { return word.size() > 1 && word.front() == '-'; });
  if (option != extras.end()) {
    const std::string name = option->substr(0, option->find('='));
    return fmt::format("unknown option '{}'{}", name, closest_name(name, option_names(verb)));
  }
  const auto verbs = verb_names(verb);
  if (!extras.empty() && !verbs.empty()) {
    const std::string guess = closest_name(extras.front(), verbs);
    if (verb.get_parent() == nullptr) return fmt::format("unknown verb '{}'{}", extras.front(), guess);
    return fmt::format("unknown verb '{}' of {}: choose one of {}{}", extras.front(), full_name(verb),
                       fmt::join(verbs, ", "), guess);
  }
  if (!extras.empty()) return fmt::format("unexpected argument '{}'", extras.front());
  if (!verbs.empty()) return fmt::format("no verb given; choose one of {}", fmt::join(verbs, ", "));
  if (dynamic_cast<const CLI::ConversionError*>(&error) != nullptr) return conversion_message(error.what());
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) != nullptr) return count_message(error.what());
  return one_line(error.what());
}

/// Returns the message for a command line that cannot be parsed: the error, a suggestion, and where the help is.
std::string usage_message(const CLI::App& cli, const CLI::ParseError& error) {
  const CLI::App& verb = innermost(cli);
  const std::string wrong = error_text(verb, cli.remaining(true), error);
  return fmt::format("{}{} see '{} --help'", wrong, wrong.ends_with('?') ? "" : ";", full_name(verb));
}

/// Prints the error message and returns the exit status. After a signal the status is that of the signal, whatever
/// error the interrupted computation reported.
int report_error(Code code, const char* message) {
  stop_timer();
  try {
    // Messages may quote file contents: control characters must not reach the terminal.
    print_error(fmt::format("widelimit: error: {}\n", printable(message)));
  } catch (const std::bad_alloc&) {
    print_error("widelimit: error: out of memory\n");
  }
  return interrupted() ? 128 + stop_signal() : static_cast<int>(code);
}

void configure(CLI::App& cli) {
  cli.name("widelimit");
  cli.description(
      "Neural networks in the limit of infinite width: exact NNGP and tangent kernels, and kernel machines.");
  cli.set_version_flag("--version", "widelimit " + std::string(version()));
  set_help_format(cli);
  cli.require_subcommand(1);
  set_example(cli, "widelimit kernel --network fc:3 --train digits --limit 200 --out k.npz");
}

/// Parses the arguments. Returns false after printing the help or the version.
bool parse_arguments(Program& program, int count, char** arguments) {
  try {
    program.cli.parse(count, arguments);
    return true;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() != 0) fail(Code::usage, "{}", usage_message(program.cli, error));
    std::ostringstream text;
    program.cli.exit(error, text, text);
    print(text.str());
    return false;
  }
}

void run(int count, char** arguments) {
  Program program;
  configure(program.cli);
  add_doctor(program);
  add_data(program);
  add_network(program);
  add_kernel(program);
  add_nth(program);
  add_fit(program);
  add_tune(program);
  add_compare(program);
  add_likelihood(program);
  add_predict(program);
  add_certify(program);
  add_train(program);
  add_equivalence(program);
  add_evolution(program);
  add_experiment(program);
  add_flow(program);
  add_ensemble(program);
  add_spectrum(program);
  add_bound(program);
  add_demo(program);
  if (!parse_arguments(program, count, arguments)) return;
  check_outputs(innermost(program.cli));
  try {
    program.action();
  } catch (const MissingSet& missing) {
    if (missing.fetch_name().empty()) throw;
    throw Error(missing.code(),
                fmt::format("{}\nTo fetch it: widelimit data fetch {}", missing.what(), missing.fetch_name()));
  } catch (const Error& error) {
    if (error.remedies().empty()) throw;
    throw Error(error.code(), error.what() + options_of(error.remedies(), innermost(program.cli)));
  }
}

}  // namespace

}  // namespace widelimit::app

int main(int count, char** arguments) {
  using namespace widelimit;
  app::secure_streams();
  app::catch_signals();
  stop_programs_when(&app::interrupted);
  try {
    app::run(count, arguments);
    return 0;
  } catch (const Error& error) {
    return app::report_error(error.code(), error.what());
  } catch (const std::bad_alloc&) {
    return app::report_error(Code::resource, "out of memory; use fewer samples, or --precision f32");
  } catch (const std::exception& error) {
    return app::report_error(Code::resource, error.what());
  }
}
