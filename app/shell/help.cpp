#include "app/shell/help.hpp"

#include "widelimit/base/utf8.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <sstream>
#include <string>

namespace widelimit::app {

namespace {

/// Column of the descriptions.
constexpr std::size_t column = 34;
/// Characters of a line; only the example, which is to be copied, may have more.
constexpr std::size_t line_length = 80;

/// Returns the text with its words wrapped for lines that begin at `indent`; only the first line is not indented.
std::string wrapped(const std::string& text, std::size_t indent) {
  const std::string new_line = "\n" + std::string(indent, ' ');
  std::string result;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!result.empty()) result += new_line;
    std::size_t used = 0;
    std::istringstream words(line);
    for (std::string word; words >> word;) {
      const std::size_t length = count_characters(word);
      if (used > 0 && indent + used + 1 + length > line_length) {
        result += new_line;
        used = 0;
      }
      if (used > 0) result += ' ';
      result += word;
      used += length + (used > 0 ? 1 : 0);
    }
  }
  return result;
}

/// CLI11 pads the left column by bytes, which moves descriptions behind a type such as "A,B,…" to the left, adds
/// "..." to the type of a list, which says so itself, and does not wrap lines.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    return entry(make_option_name(option, is_positional) + make_option_opts(option), make_option_desc(option));
  }

  std::string make_subcommand(const CLI::App* verb) const override {
    return entry(verb->get_name(), verb->get_description());
  }

  std::string make_description(const CLI::App* verb) const override {
    return wrapped(CLI::Formatter::make_description(verb), 0) + "\n";
  }

  std::string make_option_opts(const CLI::Option* option) const override {
    std::string text = CLI::Formatter::make_option_opts(option);
    const std::string list = "…";
    const std::string more = " ...";
    if (option->get_type_name().ends_with(list)) {
      if (const auto at = text.find(more); at != std::string::npos) text.erase(at, more.size());
    }
    return text;
  }

 private:
  static std::string entry(const std::string& name, const std::string& description) {
    const std::string left = "  " + name;
    if (description.empty()) return left + "\n";
    const std::size_t width = count_characters(left);
    const std::string gap = width < column ? std::string(column - width, ' ') : "\n" + std::string(column, ' ');
    return left + gap + wrapped(description, column) + "\n";
  }
};

}  // namespace

void set_help_format(CLI::App& cli) {
  const auto format = std::make_shared<HelpFormat>();
  format->column_width(column);
  cli.formatter(format);
}

}  // namespace widelimit::app
