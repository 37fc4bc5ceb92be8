#include "widelimit/report/drawing/png.hpp"

#include "widelimit/base/error.hpp"

#include <algorithm>
#include <string_view>

namespace widelimit {
namespace {

void put_big_endian(std::string& bytes, std::uint32_t value) {
  for (const int shift : {24, 16, 8, 0}) bytes.push_back(static_cast<char>((value >> shift) & 0xFFU));
}

/// CRC-32 of a chunk's type and data, bit by bit: pictures here have kilobytes.
std::uint32_t cyclic_redundancy(std::string_view bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  for (const char byte : bytes) {
    crc ^= static_cast<unsigned char>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) != 0 ? 0xEDB88320U : 0U);
  }
  return ~crc;
}

std::uint32_t adler(std::string_view bytes) {
  std::uint32_t low = 1;
  std::uint32_t high = 0;
  for (const char byte : bytes) {
    low = (low + static_cast<unsigned char>(byte)) % 65521U;
    high = (high + low) % 65521U;
  }
  return (high << 16U) | low;
}

/// A zlib stream of stored blocks, each of 65,535 bytes at most.
std::string stored(std::string_view bytes) {
  constexpr std::size_t longest = 0xFFFF;
  const std::uint32_t sum = adler(bytes);
  std::string stream = "\x78\x01";
  do {
    const std::size_t size = std::min(bytes.size(), longest);
    stream.push_back(size == bytes.size() ? '\x01' : '\x00');
    for (const std::size_t word : {size, ~size}) {
      stream.push_back(static_cast<char>(word & 0xFFU));
      stream.push_back(static_cast<char>((word >> 8U) & 0xFFU));
    }
    stream += bytes.substr(0, size);
    bytes.remove_prefix(size);
  } while (!bytes.empty());
  put_big_endian(stream, sum);
  return stream;
}

void put_chunk(std::string& file, std::string_view type, std::string_view data) {
  put_big_endian(file, static_cast<std::uint32_t>(data.size()));
  std::string checked(type);
  checked += data;
  file += checked;
  put_big_endian(file, cyclic_redundancy(checked));
}

}  // namespace

std::string png(std::span<const std::uint8_t> pixels, int width, int height, int channels) {
  constexpr int largest = 4096;
  const bool sizes = width > 0 && height > 0 && width <= largest && height <= largest;
  if (!sizes || (channels != 1 && channels != 3) ||
      pixels.size() != static_cast<std::size_t>(width) * static_cast<std::size_t>(height * channels)) {
    fail(Code::usage, "{} bytes are no picture of {} by {} with {} channels", pixels.size(), width, height, channels);
  }
  std::string header;
  put_big_endian(header, static_cast<std::uint32_t>(width));
  put_big_endian(header, static_cast<std::uint32_t>(height));
  header.push_back('\x08');                           // bits of a channel
  header.push_back(channels == 1 ? '\x00' : '\x02');  // grey or colours
  header.append(3, '\x00');                           // deflate, filters by row, not interlaced
  std::string rows;
  const auto line = static_cast<std::size_t>(width * channels);
  for (std::size_t begin = 0; begin < pixels.size(); begin += line) {
    rows.push_back('\x00');  // no filter
    rows.append(reinterpret_cast<const char*>(pixels.data() + begin), line);
  }
  std::string file = "\x89PNG\r\n\x1a\n";
  put_chunk(file, "IHDR", header);
  put_chunk(file, "IDAT", stored(rows));
  put_chunk(file, "IEND", "");
  return file;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t count = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      word = (word << 8U) | (k < count ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      text.push_back(k <= count ? digits[(word >> (18U - 6U * static_cast<unsigned>(k))) & 63U] : '=');
    }
  }
  return text;
}

}  // namespace widelimit
