#include "widelimit/data/formats/npy.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/types.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/byte_stream.hpp"
#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/labels/labels.hpp"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

namespace {

/// Parsed header of an NPY file.
struct NpyHeader {
  std::endian order = std::endian::little;
  char kind = 'f';  ///< one of b i u f S U, NumPy's type codes
  Index size = 8;   ///< bytes of one element
  bool fortran = false;
  std::vector<Index> dims;
  std::size_t body = 0;  ///< offset of the first number
};

/// Parses the Python literal `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 4), }`, keys in any order.
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
  [[noreturn]] void malformed() const { fail(Code::input, "{}: the NPY header is malformed at byte {}", source_, at_); }
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
      fail(Code::input, "{}: structured arrays are not supported; save the features as a plain array", source_);
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
      accept('L');  // suffix of long integers in Python 2
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

/// Throws Error{input} unless the header is well-formed and of version 1 to 3.
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

/// Calls visit(index in the file) for every element in C order.
template <typename Visit>
void for_each_element(const NpyHeader& header, Index count, Visit visit) {
  if (!header.fortran || header.dims.size() < 2) {
    interruptible_rows(count, 1, visit);
    return;
  }
  const std::size_t rank = header.dims.size();
  std::vector<Index> steps(rank, 1);
  for (std::size_t k = 1; k < rank; ++k) steps[k] = steps[k - 1] * header.dims[k - 1];
  std::vector<Index> at(rank, 0);
  Index place = 0;
  interruptible_rows(count, 1, [&](Index) {
    visit(place);
    for (std::size_t k = rank; k-- > 0;) {
      place += steps[k];
      if (++at[k] < header.dims[k]) break;
      place -= steps[k] * header.dims[k];
      at[k] = 0;
    }
  });
}

template <typename Stored, typename Held>
Matrix<Held> numbers(const NpyHeader& header, Bytes body, Index count, const std::string& source) {
  Matrix<Held> matrix(header.dims.empty() ? 1 : header.dims.front(), row_size(header.dims));
  Held* out = matrix.data();
  for_each_element(header, count, [&](Index place) {
    const auto value = load_scalar<Stored>(body.data() + place * header.size, header.order);
    *out = static_cast<Held>(value);
    if (sizeof(Stored) == 8 && std::is_integral_v<Stored> && std::abs(static_cast<double>(*out)) > exact_integers) {
      fail(Code::input, "{}: the integer {} is not exactly representable as a double", source, value);
    }
    ++out;
  });
  return matrix;
}

AnyMatrix typed_numbers(const NpyHeader& header, Bytes body, Index count, const std::string& source) {
  const auto as = [&](auto stored, auto held) -> AnyMatrix {
    return numbers<decltype(stored), decltype(held)>(header, body, count, source);
  };
  const bool integer = header.kind == 'i';
  switch (header.size + (header.kind == 'f' ? 100 : 0)) {
    case 1:
      return integer ? as(std::int8_t{}, double{}) : as(std::uint8_t{}, float{});
    case 2:
      return integer ? as(std::int16_t{}, double{}) : as(std::uint16_t{}, double{});
    case 4:
      return integer ? as(std::int32_t{}, double{}) : as(std::uint32_t{}, double{});
    case 8:
      return integer ? as(std::int64_t{}, double{}) : as(std::uint64_t{}, double{});
    case 104:
      return as(float{}, float{});
    case 108:
      return as(double{}, double{});
    default:
      fail(Code::input, "{}: {}-byte numbers of kind '{}' cannot be read; save them as float32 or float64", source,
           header.size, header.kind);
  }
}

void append_utf8(std::string& text, std::uint32_t point, const std::string& source) {
  if (point > 0x10FFFF) fail(Code::input, "{}: text with an invalid character; the file is damaged", source);
  const auto put = [&](std::uint32_t byte) { text.push_back(static_cast<char>(byte)); };
  if (point < 0x80) return put(point);
  if (point < 0x800) {
    put(0xC0 | (point >> 6));
  } else if (point < 0x10000) {
    put(0xE0 | (point >> 12));
    put(0x80 | ((point >> 6) & 0x3F));
  } else {
    put(0xF0 | (point >> 18));
    put(0x80 | ((point >> 12) & 0x3F));
    put(0x80 | ((point >> 6) & 0x3F));
  }
  put(0x80 | (point & 0x3F));
}

std::vector<std::string> texts(const NpyHeader& header, Bytes body, Index count, const std::string& source) {
  std::vector<std::string> all;
  all.reserve(static_cast<std::size_t>(count));
  for_each_element(header, count, [&](Index place) {
    const std::byte* from = body.data() + place * header.size;
    std::string text;
    if (header.kind == 'S') {
      text.assign(reinterpret_cast<const char*>(from), static_cast<std::size_t>(header.size));
    } else {
      for (Index k = 0; k < header.size; k += 4) {
        append_utf8(text, load_scalar<std::uint32_t>(from + k, header.order), source);
      }
    }
    text.resize(text.find_last_not_of('\0') + 1);  // padding of NumPy
    all.push_back(std::move(text));
  });
  return all;
}

/// Removes column `label` from an n × d array and returns it as the labels.
Array take_column(Array& x, const std::string& label, const std::string& source) {
  const Index columns = x.dims.size() == 2 ? x.dims[1] : 0;
  const auto column = column_number(label, columns);
  if (!column || columns < 2) {
    fail(Code::input, "{}: no label column '{}'; it must be the number of a column of an n x d array, or \"none\"",
         source, label);
  }
  Array y;
  y.dims = {x.rows()};
  std::visit(
      [&](const auto& all) {
        using Numbers = std::decay_t<decltype(all)>;
        Numbers kept(all.rows(), columns - 1);
        Numbers taken(all.rows(), 1);
        for (Index i = 0; i < all.rows(); ++i) {
          const auto* row = all.view().row(i);
          taken(i, 0) = row[*column];
          std::copy(row + *column + 1, row + columns, std::copy(row, row + *column, kept.view().row(i)));
        }
        y.values = std::move(taken);
        x.values = std::move(kept);
      },
      AnyMatrix(std::move(x.values)));
  x.dims[1] = columns - 1;
  return y;
}

}  // namespace

Array parse_npy(Bytes bytes, const std::string& source, const ReadLimits& limits) {
  const NpyHeader header = parse_npy_header(bytes, source);
  const Bytes body = bytes.subspan(header.body);
  const Index count = checked_count(header.dims, header.size, body.size(), source);
  if (count * header.size != std::ssize(body)) {
    fail(Code::input, "{}: {} bytes follow the last number", source, std::ssize(body) - count * header.size);
  }
  const bool text = header.kind == 'S' || header.kind == 'U';
  // Memory as allocated below: bytes and unsigned float32 as float, else double; texts include sizeof(std::string).
  const bool as_float = header.size == (header.kind == 'f' ? 4 : 1) && header.kind != 'i';
  const std::size_t held = text       ? sizeof(std::string) + static_cast<std::size_t>(header.size)
                           : as_float ? sizeof(float)
                                      : sizeof(double);
  limits.require(static_cast<double>(bytes.size()) + static_cast<double>(count) * static_cast<double>(held), source);
  Array array;
  array.dims = header.dims;
  if (text) {
    array.texts = texts(header, body, count, source);
  } else {
    array.values = typed_numbers(header, body, count, source);
  }
  return array;
}

Dataset parse_npy_samples(Bytes bytes, const ReadOptions& options) {
  Array x = parse_npy(bytes, options.source, options.limits);
  std::optional<Array> y;
  if (options.label && options.label != "none") y = take_column(x, *options.label, options.source);
  return dataset_from_arrays(std::move(x), y, options.source);
}

Dataset read_npy(const std::filesystem::path& path, const ReadOptions& options) {
  const Blob bytes = read_unpacked(path, options.limits);
  return parse_npy_samples(bytes, options);
}

std::string npy_header(std::string_view descr, const std::vector<Index>& dims) {
  std::string shape;
  for (const Index size : dims) shape += fmt::format("{},", size);
  if (dims.size() > 1) shape.pop_back();
  std::string literal = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}), }}", descr, shape);
  constexpr std::size_t prefix = 10;
  constexpr std::size_t alignment = 64;
  const std::size_t total = (prefix + literal.size() + alignment) / alignment * alignment;
  literal.append(total - prefix - literal.size() - 1, ' ').push_back('\n');
  std::string header("\x93NUMPY\x01\0", 8);
  header.push_back(static_cast<char>(literal.size() & 0xFF));
  header.push_back(static_cast<char>(literal.size() >> 8));
  return header + literal;
}

}  // namespace widelimit
