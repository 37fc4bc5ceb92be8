#pragma once

#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <cstdint>
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// A zip file by its directory (PKWARE's APPNOTE, with its 64-bit fields), members stored or deflated. What stands in
/// it twice, in the directory and before a member, must agree, and contents must have their length and checksum; all
/// else is Error{input}.
class ZipFile {
 public:
  struct Member {
    std::string name;
    std::uint64_t size = 0;    ///< bytes when unpacked
    std::uint64_t packed = 0;  ///< bytes in the file
    std::uint64_t place = 0;   ///< of its header
    std::uint32_t checksum = 0;
    bool deflated = false;
  };

  explicit ZipFile(const std::filesystem::path& path);
  /// Bytes that outlive it.
  ZipFile(Bytes bytes, std::string source);

  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// Error{resource} where the contents are larger than `limits` allow.
  [[nodiscard]] Blob read(const Member& member, const ReadLimits& limits) const;

 private:
  using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> into)>;

  void read_directory();
  [[nodiscard]] Blob bytes_at(std::uint64_t offset, std::uint64_t count) const;
  /// Where the contents of a member begin.
  [[nodiscard]] std::uint64_t contents_of(const Member& member) const;
  void inflate_into(Blob& contents, const Member& member, std::uint64_t place, const ReadLimits& limits) const;

  std::string source_;
  std::uint64_t size_ = 0;
  ReadAt read_at_;
  std::uint64_t directory_ = 0;  ///< where it begins, and the contents end
  std::vector<Member> members_;
};

}  // namespace widelimit
