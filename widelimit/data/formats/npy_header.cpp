#include "widelimit/data/formats/npy_header.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/formats/scalar.hpp"

#include <charconv>
#include <cstdint>
#include <string_view>

namespace widelimit {

namespace {

/// Reads the Python literal `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, keys in any order.
class Literal {
 public:
  Literal(std::string_view text, const std::string& source) : text_(text), source_(source) {}

  void read(NpyHeader& header) {
    expect('{');
    int keys = 0;
    while (!accept('}')) {
      const std::string_view key = quoted();
      expect(':');
      if (key == "descr") {
        read_type(quoted(), header);
      } else if (key == "fortran_order") {
        header.fortran = boolean();
      } else if (key == "shape") {
        header.dims = tuple();
      } else {
        malformed();
      }
      ++keys;
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    skip();
    if (keys != 3 || at_ != text_.size()) malformed();
  }

 private:
  [[noreturn]] void malformed() const {
    fail(Code::input, "{}: the NPY header is malformed at its byte {}", source_, at_);
  }
  void skip() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n')) ++at_;
  }
  bool accept(char c) {
    skip();
    const bool there = at_ < text_.size() && text_[at_] == c;
    at_ += there ? 1 : 0;
    return there;
  }
  void expect(char c) {
    if (!accept(c)) malformed();
  }
  bool accept_word(std::string_view word) {
    skip();
    const bool there = text_.substr(at_).starts_with(word);
    at_ += there ? word.size() : 0;
    return there;
  }
  std::string_view quoted() {
    skip();
    if (at_ < text_.size() && text_[at_] == '[') {
      fail(Code::input, "{}: a structured array; save the features as one plain array", source_);
    }
    const char quote = at_ < text_.size() ? text_[at_] : ' ';
    if (quote != '\'' && quote != '"') malformed();
    const auto end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) malformed();
    const auto inner = text_.substr(at_ + 1, end - at_ - 1);
    at_ = end + 1;
    return inner;
  }
  bool boolean() {
    if (accept_word("True")) return true;
    if (!accept_word("False")) malformed();
    return false;
  }
  std::vector<Index> tuple() {
    std::vector<Index> sizes;
    expect('(');
    while (!accept(')')) {
      skip();
      Index size = 0;
      const auto result = std::from_chars(text_.data() + at_, text_.data() + text_.size(), size);
      if (result.ec != std::errc{} || size < 0 || sizes.size() == 32) malformed();
      at_ = static_cast<std::size_t>(result.ptr - text_.data());
      accept('L');  // Python 2 wrote long integers so
      sizes.push_back(size);
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return sizes;
  }
  void read_type(std::string_view type, NpyHeader& header) const {
    constexpr std::string_view kinds = "biufSU";
    Index size = 0;
    const auto* const end = type.data() + type.size();
    const bool plausible = type.size() >= 3 && std::string_view("<>|=").find(type[0]) != std::string_view::npos &&
                           kinds.find(type[1]) != std::string_view::npos;
    const auto result = plausible ? std::from_chars(type.data() + 2, end, size) : std::from_chars_result{};
    if (!plausible || result.ec != std::errc{} || result.ptr != end || size < 1 || size > (Index{1} << 30)) {
      fail(Code::input, "{}: numbers of type '{}' cannot be read; save them as float32, float64 or integers", source_,
           type);
    }
    header.order = type[0] == '>' ? std::endian::big : type[0] == '<' ? std::endian::little : std::endian::native;
    header.kind = type[1];
    header.size = header.kind == 'U' ? 4 * size : size;
  }

  std::string_view text_;
  const std::string& source_;
  std::size_t at_ = 0;
};

}  // namespace

NpyHeader parse_npy_header(Bytes bytes, const std::string& source) {
  constexpr std::string_view magic = "\x93NUMPY";
  constexpr std::size_t prefix = 8;
  if (!as_text(bytes).starts_with(magic) || bytes.size() < prefix) {
    fail(Code::input, "{}: not an NPY file", source);
  }
  const int version = std::to_integer<int>(bytes[6]);
  if (version < 1 || version > 3) fail(Code::input, "{}: NPY version {} is unknown", source, version);
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  if (bytes.size() < prefix + length_bytes) fail(Code::input, "{}: the NPY header is cut short", source);
  const std::size_t length = version == 1 ? load_scalar<std::uint16_t>(bytes.data() + prefix, std::endian::little)
                                          : load_scalar<std::uint32_t>(bytes.data() + prefix, std::endian::little);
  NpyHeader header;
  header.body = prefix + length_bytes + length;
  if (header.body > bytes.size()) fail(Code::input, "{}: the NPY header is cut short", source);
  Literal(as_text(bytes).substr(prefix + length_bytes, length), source).read(header);
  return header;
}

}  // namespace widelimit
