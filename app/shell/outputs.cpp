#include "app/shell/outputs.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit::app {

namespace {

/// Options that name an output. Any other option may name an input: a new one is protected without further code.
constexpr std::array<std::string_view, 5> outputs{"--out", "--report", "--checkpoint", "--covariance", "--save"};

struct GivenFile {
  std::string option;
  std::string path;
};

std::string without_blanks(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\n");
  return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

/// Returns the paths that a value can mean: the value, a file with arguments such as "d.npz(x=a)", standard input, or
/// the networks of a list "a.json;b.json".
std::vector<std::string> paths_of(const std::string& value) {
  if (value == "-" || value.ends_with(":-")) return {"/dev/stdin"};
  std::vector<std::string> paths{value};
  if (value.ends_with(')')) paths.push_back(value.substr(0, value.rfind('(')));
  for (std::size_t at = 0; at <= value.size();) {
    const std::size_t end = std::min(value.find(';', at), value.size());
    paths.push_back(without_blanks(value.substr(at, end - at)));
    at = end + 1;
  }
  return paths;
}

bool reads(const GivenFile& input, const std::string& output) {
  const std::vector<std::string> paths = paths_of(input.path);
  return std::any_of(paths.begin(), paths.end(), [&](const std::string& path) {
    std::error_code ignored;
    return std::filesystem::exists(path, ignored) && same_file(path, output);
  });
}

/// A checkpoint may be continued in its own file; `train` checks that it is one.
bool may_replace(const GivenFile& output, const GivenFile& input) {
  return output.option == "--checkpoint" && input.option == "--from";
}

}  // namespace

void check_outputs(const CLI::App& verb) {
  std::vector<GivenFile> written;
  std::vector<GivenFile> others;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->count() == 0 || option->get_items_expected_max() == 0) continue;  // flags have no value
    const std::string name = option->get_name();
    const bool output = std::find(outputs.begin(), outputs.end(), name) != outputs.end();
    for (const std::string& value : option->results()) (output ? written : others).push_back({name, value});
  }
  for (std::size_t k = 0; k < written.size(); ++k) {
    const auto& [option, path] = written[k];
    for (std::size_t j = 0; j < k; ++j) {
      if (!same_file(path, written[j].path)) continue;
      fail(Code::usage, "{} '{}' and {} '{}' are the same file; choose different files", written[j].option,
           written[j].path, option, path);
    }
    for (const GivenFile& input : others) {
      if (may_replace(written[k], input) || !reads(input, path)) continue;
      fail(Code::usage, "{} '{}' is the file that {} reads, which would be overwritten; choose another path", option,
           path, input.option);
    }
  }
}

}  // namespace widelimit::app
