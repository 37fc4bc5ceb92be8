#include "app/shell/help.hpp"

#include "widelimit/base/utf8.hpp"

#include <CLI/CLI.hpp>

#include <memory>
#include <string>

namespace widelimit::app {

namespace {

/// Column of the descriptions.
constexpr std::size_t column = 34;

/// CLI11 pads the left column by bytes, which moves descriptions behind a type such as "A,B,…" to the left, and adds
/// "..." to the type of a list, which says so itself.
class HelpFormat final : public CLI::Formatter {
 public:
  std::string make_option(const CLI::Option* option, bool is_positional) const override {
    const std::string name = "  " + make_option_name(option, is_positional) + make_option_opts(option);
    const std::string description = make_option_desc(option);
    if (description.empty()) return name + "\n";
    const std::size_t width = count_characters(name);
    const std::string gap = width < column ? std::string(column - width, ' ') : "\n" + std::string(column, ' ');
    return name + gap + description + "\n";
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
};

}  // namespace

void set_help_format(CLI::App& cli) {
  const auto format = std::make_shared<HelpFormat>();
  format->column_width(column);
  cli.formatter(format);
}

}  // namespace widelimit::app
