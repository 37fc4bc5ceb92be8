#include "widelimit/data/formats/images/idx.hpp"

#include "widelimit/data/formats/byte_stream.hpp"
#include "widelimit/data/formats/bytes.hpp"

#include <cstdint>

namespace widelimit {

namespace {

/// Converts the numbers of type `Stored` in the file to a matrix of `Held`.
template <typename Stored, typename Held>
Matrix<Held> numbers(Bytes body, const std::vector<Index>& dims, const std::string& source, const ReadLimits& limits) {
  const Index count = checked_count(dims, sizeof(Stored), body.size(), source);
  if (count * static_cast<Index>(sizeof(Stored)) != std::ssize(body)) {
    fail(Code::input, "{}: {} bytes follow the last number", source,
         std::ssize(body) - count * static_cast<Index>(sizeof(Stored)));
  }
  limits.require(static_cast<double>(body.size()) + sizeof(Held) * static_cast<double>(count), source);
  Matrix<Held> matrix(dims.front(), row_size(dims), Content::unset);
  for (Index i = 0; i < count; ++i) {
    matrix.data()[i] =
        static_cast<Held>(load_scalar<Stored>(body.data() + i * static_cast<Index>(sizeof(Stored)), std::endian::big));
  }
  return matrix;
}

AnyMatrix typed_numbers(std::byte type, Bytes body, const std::vector<Index>& dims, const std::string& source,
                        const ReadLimits& limits) {
  switch (std::to_integer<int>(type)) {
    case 0x08:
      return numbers<std::uint8_t, float>(body, dims, source, limits);
    case 0x09:
      return numbers<std::int8_t, double>(body, dims, source, limits);
    case 0x0B:
      return numbers<std::int16_t, double>(body, dims, source, limits);
    case 0x0C:
      return numbers<std::int32_t, double>(body, dims, source, limits);
    case 0x0D:
      return numbers<float, float>(body, dims, source, limits);
    case 0x0E:
      return numbers<double, double>(body, dims, source, limits);
    default:
      fail(Code::input, "{}: number type {:#04x} is not an IDX type", source, std::to_integer<int>(type));
  }
}

}  // namespace

Array parse_idx(Bytes bytes, const std::string& source, const ReadLimits& limits) {
  constexpr std::size_t prefix = 4;
  if (bytes.size() < prefix || bytes[0] != std::byte{0} || bytes[1] != std::byte{0}) {
    fail(Code::input, "{}: not an IDX file (it must start with two zero bytes)", source);
  }
  const auto rank = std::to_integer<std::size_t>(bytes[3]);
  if (rank == 0 || bytes.size() < prefix + 4 * rank) fail(Code::input, "{}: the IDX header is cut short", source);
  Array array;
  for (std::size_t k = 0; k < rank; ++k) {
    array.dims.push_back(load_scalar<std::uint32_t>(bytes.data() + prefix + 4 * k, std::endian::big));
  }
  array.values = typed_numbers(bytes[2], bytes.subspan(prefix + 4 * rank), array.dims, source, limits);
  return array;
}

Dataset read_idx(const std::filesystem::path& images, const std::filesystem::path& labels, const ReadLimits& limits) {
  const auto read = [&](const std::filesystem::path& path) {
    return parse_idx(read_unpacked(path, limits), path.string(), limits);
  };
  Array x = read(images);
  const std::optional<Array> y = read(labels);
  return dataset_from_arrays(std::move(x), y, images.string());
}

}  // namespace widelimit
