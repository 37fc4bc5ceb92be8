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

/// Reader of zip files by their central directory (PKWARE's APPNOTE, with ZIP64), members stored or deflated. Throws
/// Error{input} if a local header contradicts the directory, or the contents differ in length or checksum.
class ZipFile {
 public:
  struct Member {
    std::string name;
    std::uint64_t size = 0;    ///< uncompressed size in bytes
    std::uint64_t packed = 0;  ///< compressed size in bytes
    std::uint64_t place = 0;   ///< offset of its local header
    std::uint32_t checksum = 0;
    bool deflated = false;
  };

  explicit ZipFile(const std::filesystem::path& path);
  /// Reads from `bytes`, which must outlive the object.
  ZipFile(Bytes bytes, std::string source);

  [[nodiscard]] const std::vector<Member>& members() const { return members_; }
  /// Returns the uncompressed contents. Throws Error{resource} if they exceed `limits`.
  [[nodiscard]] Blob read(const Member& member, const ReadLimits& limits) const;

 private:
  using ReadAt = std::function<void(std::uint64_t offset, std::span<std::byte> into)>;

  void read_directory();
  [[nodiscard]] Blob bytes_at(std::uint64_t offset, std::uint64_t count) const;
  /// Returns the offset of the contents of a member.
  [[nodiscard]] std::uint64_t contents_of(const Member& member) const;
  void inflate_into(Blob& contents, const Member& member, std::uint64_t place, const ReadLimits& limits) const;

  std::string source_;
  std::uint64_t size_ = 0;
  ReadAt read_at_;
  std::uint64_t directory_ = 0;  ///< offset of the directory, which is the end of the contents
  std::vector<Member> members_;
};

}  // namespace widelimit
