#include "widelimit/network/text.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/network/forms.hpp"
#include "widelimit/network/network.hpp"
#include "widelimit/network/presets.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

namespace widelimit {

namespace {

template <typename T>
std::optional<T> whole_text(std::string_view text) {
  T number{};
  const char* const end = text.data() + text.size();
  const auto result = std::from_chars(text.data(), end, number);
  if (result.ec != std::errc{} || result.ptr != end) return std::nullopt;
  return number;
}

std::optional<Extent> read_extent(std::string_view text) {
  const auto cross = text.find_first_of("xX");
  const auto rows = whole_text<Index>(text.substr(0, cross));
  const auto cols = cross == std::string_view::npos ? rows : whole_text<Index>(text.substr(cross + 1));
  if (!rows || !cols) return std::nullopt;
  return Extent{*rows, *cols};
}

std::optional<std::vector<double>> read_list(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  std::string_view rest = without_blanks(text.substr(1, text.size() - 2));
  std::vector<double> list;
  while (!rest.empty()) {
    const auto comma = rest.find(',');
    const auto number = whole_text<double>(without_blanks(rest.substr(0, comma)));
    if (!number) return std::nullopt;
    list.push_back(*number);
    if (comma == std::string_view::npos) return list;
    rest.remove_prefix(comma + 1);
    if (rest.empty()) return std::nullopt;
  }
  return list;
}

template <typename T>
std::optional<Value> as_value(std::optional<T> read) {
  if (!read) return std::nullopt;
  return Value(*std::move(read));
}

struct TextValue {
  std::string operator()(double number) const { return shortest(number); }
  std::string operator()(Index count) const { return fmt::format("{}", count); }
  std::string operator()(const Extent& extent) const { return fmt::format("{}x{}", extent.rows, extent.cols); }
  std::string operator()(Padding padding) const { return std::string(to_string(padding)); }
  std::string operator()(const std::vector<double>& list) const {
    std::vector<std::string> numbers;
    for (const double number : list) numbers.push_back(shortest(number));
    return fmt::format("[{}]", fmt::join(numbers, ","));
  }
  std::string operator()(const std::string& word) const { return word; }
  std::string operator()(const Layers& layers) const { return write_text(layers); }
  std::string operator()(bool truth) const { return truth ? "true" : "false"; }
};

/// Parses one argument value: "0.1", "3x3", "SAME", "[0.1,0.5]", "word". Returns std::nullopt if the text is not of the
/// parameter's type; the caller checks the range.
std::optional<Value> read_value(const Parameter& parameter, std::string_view text) {
  if (parameter.is<double>()) return as_value(whole_text<double>(text));
  if (parameter.is<Index>()) return as_value(whole_text<Index>(text));
  if (parameter.is<Extent>()) return as_value(read_extent(text));
  if (parameter.is<std::vector<double>>()) return as_value(read_list(text));
  if (parameter.is<std::string>()) return Value(std::string(text));
  if (parameter.is<bool>()) return as_value(read_truth(text));
  Padding padding{};
  if (parameter.is<Padding>() && read_padding(text, padding)) return Value(padding);
  return std::nullopt;
}

/// Formats a byte offset as a position counted in characters, with the line number if there are several lines.
std::string position(std::string_view text, std::size_t byte) {
  const std::string_view before = text.substr(0, byte);
  const auto line_start = before.rfind('\n') + 1;  // npos + 1 is the start of the text
  const auto character = 1 + std::count_if(before.begin() + static_cast<Index>(line_start), before.end(),
                                           [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
  if (text.find('\n') == std::string_view::npos) return fmt::format("character {}", character);
  return fmt::format("line {}, character {}", 1 + std::count(before.begin(), before.end(), '\n'), character);
}

/// Target of a list of arguments in parentheses, of a layer or of a preset.
struct Call {
  std::string_view name;
  std::vector<const Parameter*> parameters;
  std::function<void(std::size_t, Value)> set;
};

std::string names_of(const std::vector<const Parameter*>& parameters) {
  std::string names;
  for (const Parameter* parameter : parameters)
    names += fmt::format("{}{}", names.empty() ? "" : ", ", parameter->name);
  return names.empty() ? "no arguments" : names;
}

/// For "fc3", returns "; did you mean 'fc:3'?": a preset whose depth was written without the colon.
std::string depth_suggestion(std::string_view name) {
  const std::size_t last_letter = name.find_last_not_of("0123456789");
  if (last_letter == std::string_view::npos || last_letter + 1 == name.size()) return "";
  const std::string_view letters = name.substr(0, last_letter + 1);
  for (const Preset& preset : list_presets()) {
    const auto same = [](char a, char b) { return a == std::tolower(static_cast<unsigned char>(b)); };
    if (!preset.depth || !std::equal(preset.name.begin(), preset.name.end(), letters.begin(), letters.end(), same)) {
      continue;
    }
    return fmt::format("; did you mean '{}:{}'?", preset.name, name.substr(letters.size()).substr(0, 9));
  }
  return "";
}

class TextReader {
 public:
  explicit TextReader(std::string_view text) : text_(text) {}

  Layers whole() {
    Layers layers = series(0);
    if (at_ < text_.size()) error(at_, "unmatched '{}'; expected a layer or the end of the text", text_[at_]);
    if (layers.empty()) error(at_, "the network is empty; expected layers such as 'dense relu dense'");
    return layers;
  }

 private:
  template <typename... Args>
  [[noreturn]] void error(std::size_t at, fmt::format_string<Args...> format, Args&&... args) const {
    fail(Code::input, "network text, {}: {}", position(text_, at), fmt::format(format, std::forward<Args>(args)...));
  }

  /// Formats the character at `at` for a message.
  [[nodiscard]] std::string found(std::size_t at) const {
    if (at >= text_.size()) return "the end of the text";
    std::size_t end = at + 1;  // include all bytes of a multi-byte character
    while (end < text_.size() && (static_cast<unsigned char>(text_[end]) & 0xC0) == 0x80) ++end;
    return fmt::format("'{}'", text_.substr(at, end - at));
  }

  void skip_blanks() { at_ = std::min(text_.find_first_not_of(" \t\r\n", at_), text_.size()); }

  bool take(char c) {
    skip_blanks();
    if (at_ >= text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }

  void expect(char c, std::string_view after) {
    if (!take(c)) error(at_, "expected '{}' {}, found {}", c, after, found(at_));
  }

  std::string_view word() {
    skip_blanks();
    const std::size_t start = at_;
    while (at_ < text_.size() && is_word(text_.substr(at_, 1))) ++at_;
    return text_.substr(start, at_ - start);
  }

  /// Text up to the next comma or parenthesis; a list extends to its closing bracket.
  std::string_view value_text() {
    skip_blanks();
    const std::size_t start = at_;
    const bool list = at_ < text_.size() && text_[at_] == '[';
    at_ = std::min(text_.find_first_of(list ? "](){}|" : " \t\r\n,(){}|", at_), text_.size());
    if (list && at_ < text_.size() && text_[at_] == ']') ++at_;
    return text_.substr(start, at_ - start);
  }

  void spend(Index layers, std::size_t at) {
    spent_ += layers;
    if (spent_ > max_layers) error(at, "the network has more than {} layers", max_layers);
  }

  Layers series(Index nesting) {
    Layers layers;
    for (skip_blanks(); at_ < text_.size() && std::string_view("|})").find(text_[at_]) == std::string_view::npos;
         skip_blanks()) {
      element(layers, nesting);
    }
    return layers;
  }

  void element(Layers& layers, Index nesting) {
    const std::size_t start = at_;
    const std::string_view name = word();
    if (name.empty()) {
      error(start, "expected the name of a layer, found {}; layers are words separated by blanks", found(start));
    }
    if (name == "repeat") return repeat(layers, start, nesting);
    if (const Form* form = find_form(name)) return layers.push_back(layer(*form, start, nesting));
    if (const Preset* known = find_preset(name)) return preset(layers, *known, start, nesting);
    auto known = layer_names();
    for (const Preset& candidate : list_presets()) known.push_back(candidate.name);
    known.push_back("repeat");
    const std::string with_depth = depth_suggestion(name);
    const std::string nearest = with_depth.empty() ? suggestion(name, known) : with_depth;
    error(start, "unknown layer '{}'{}", name.substr(0, 40),
          nearest.empty() ? fmt::format("; layers and presets are {}", fmt::join(known, ", ")) : nearest);
  }

  Layer layer(const Form& form, std::size_t start, Index nesting) {
    spend(1, start);
    Layer result = form.prototype;
    std::vector<bool> written(form.arguments.size());
    Call call{form.name, {}, [&](std::size_t i, Value value) { form.arguments[i].set(result, std::move(value)); }};
    for (const Argument& argument : form.arguments) call.parameters.push_back(&argument.parameter);
    if (take('(')) arguments(call, written);
    nested(form, result, written, nesting);
    if (const Argument* missing = form.complete(result, written)) {
      error(start, "layer '{}' needs {}{}, {}", form.name, missing->parameter.name,
            missing->parameter.is<Layers>() ? "" : "=…", accepted(missing->parameter));
    }
    return result;
  }

  /// Parses "{ branch | shortcut }": the arguments that are layers, in the order of the form.
  void nested(const Form& form, Layer& result, std::vector<bool>& written, Index nesting) {
    bool open = false;
    for (std::size_t i = 0; i < form.arguments.size(); ++i) {
      const Parameter& parameter = form.arguments[i].parameter;
      if (!parameter.is<Layers>()) continue;
      if (!open) expect('{', fmt::format("and the {} of '{}'", parameter.name, form.name));
      if (open && !take('|')) break;
      open = true;
      Layers inner = block(form.name, parameter.name, nesting);
      form.arguments[i].set(result, std::move(inner));
      written[i] = true;
    }
    if (open) expect('}', fmt::format("at the end of '{}'", form.name));
  }

  Layers block(std::string_view owner, std::string_view part, Index nesting) {
    if (nesting >= max_nesting) error(at_, "layers are nested deeper than {}", max_nesting);
    skip_blanks();
    const std::size_t start = at_;
    Layers layers = series(nesting + 1);
    if (layers.empty()) error(start, "the {} of '{}' is empty; expected at least one layer", part, owner);
    return layers;
  }

  void repeat(Layers& layers, std::size_t start, Index nesting) {
    const Parameter count{
        .name = "count", .type = Value(Index{}).index(), .range = {1, max_layers, false}, .choices = {}};
    expect('(', "and a count after 'repeat', as in repeat(3){ dense relu }");
    const Index times = std::get<Index>(value(count, "repeat"));
    expect(')', "after the count of 'repeat'");
    expect('{', "and the layers to repeat");
    const Index before = spent_;
    const Layers body = block("repeat", "body", nesting);
    expect('}', "at the end of 'repeat'");
    spend((spent_ - before) * (times - 1), start);
    for (Index i = 0; i < times; ++i) layers.insert(layers.end(), body.begin(), body.end());
  }

  [[noreturn]] void needs_depth(const Preset& preset, std::size_t at) const {
    error(at, "preset '{}' needs a depth, {}, as in '{}:3'", preset.name, accepted(*preset.depth), preset.name);
  }

  void preset(Layers& layers, const Preset& preset, std::size_t start, Index nesting) {
    PresetOptions options = preset.defaults;
    if (at_ < text_.size() && text_[at_] == ':') {
      if (!preset.depth) error(at_, "preset '{}' takes no depth; write it without ':'", preset.name);
      const std::size_t colon = at_++;
      if (value_text().empty()) needs_depth(preset, colon);
      at_ = colon + 1;
      options.depth = std::get<Index>(value(*preset.depth, preset.name));
    } else if (preset.depth) {
      needs_depth(preset, at_);
    }
    std::vector<bool> written(preset.arguments.size());
    Call call{preset.name, {}, [&](std::size_t i, Value value) { preset.arguments[i].set(options, std::move(value)); }};
    for (const PresetArgument& argument : preset.arguments) call.parameters.push_back(&argument.parameter);
    if (take('(')) arguments(call, written);
    if (nesting >= max_nesting) error(start, "layers are nested deeper than {}", max_nesting);
    const Layers built = preset.build(options);
    spend(count_layers(built), start);
    layers.insert(layers.end(), built.begin(), built.end());
  }

  void arguments(const Call& call, std::vector<bool>& written) {
    if (take(')')) return;
    do {
      argument(call, written);
    } while (take(','));
    expect(')', fmt::format("or ',' after an argument of '{}'", call.name));
  }

  void argument(const Call& call, std::vector<bool>& written) {
    skip_blanks();
    const std::size_t start = at_;
    const std::string_view name = word();
    if (name.empty() || !take('=')) {
      error(start, "expected name=value in the arguments of '{}'; it takes {}", call.name, names_of(call.parameters));
    }
    const auto known = std::find_if(call.parameters.begin(), call.parameters.end(),
                                    [&](const Parameter* parameter) { return parameter->name == name; });
    if (known == call.parameters.end()) {
      std::vector<std::string_view> names;
      for (const Parameter* parameter : call.parameters) names.push_back(parameter->name);
      error(start, "'{}' has no argument '{}'; it takes {}{}", call.name, name.substr(0, 40), names_of(call.parameters),
            suggestion(name, names));
    }
    const Parameter& parameter = **known;
    const auto i = static_cast<std::size_t>(known - call.parameters.begin());
    if (parameter.is<Layers>())
      error(start, "'{}' of '{}' is written in braces: {}{{ … }}", name, call.name, call.name);
    if (written[i]) error(start, "argument '{}' of '{}' is given twice", name, call.name);
    written[i] = true;
    call.set(i, value(parameter, call.name));
  }

  Value value(const Parameter& parameter, std::string_view owner) {
    skip_blanks();
    const std::size_t start = at_;
    std::string_view written = value_text();
    // value_text() ends at a parenthesis (depth or count) and at a comma (argument).
    auto read = read_value(parameter, written);
    if (!read || !accepts(parameter, *read)) {
      error(start, "{} of '{}' is {}; it takes {}", parameter.name, owner,
            written.empty() ? found(start) : fmt::format("'{}'", written.substr(0, 40)), accepted(parameter));
    }
    return *std::move(read);
  }

  std::string_view text_;
  std::size_t at_ = 0;
  Index spent_ = 0;
};

}  // namespace

Layers read_text(std::string_view text) { return TextReader(text).whole(); }

std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t\r\n";
  const auto first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

std::string write_value(const Value& value) { return std::visit(TextValue{}, value); }

std::string to_text(const Layer& layer) {
  const Form& form = form_of(layer);
  std::vector<std::string> plain;
  std::vector<std::string> nested;
  for (const Argument& argument : form.arguments) {
    if (!form.must_write(argument, layer)) continue;
    const std::string value = write_value(argument.get(layer));
    if (argument.parameter.is<Layers>()) {
      nested.push_back(value);
    } else {
      plain.push_back(fmt::format("{}={}", argument.parameter.name, value));
    }
  }
  std::string text(form.name);
  if (!plain.empty()) text += fmt::format("({})", fmt::join(plain, ", "));
  if (!nested.empty()) text += fmt::format("{{ {} }}", fmt::join(nested, " | "));
  return text;
}

std::string write_text(const Layers& layers) {
  std::string text;
  for (const Layer& layer : layers) {
    if (!text.empty()) text += ' ';
    text += to_text(layer);
  }
  return text;
}

}  // namespace widelimit
