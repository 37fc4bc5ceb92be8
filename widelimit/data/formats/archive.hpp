#pragma once

#include "widelimit/data/formats/byte_stream.hpp"

#include <memory>
#include <string>
#include <vector>

struct archive;

namespace widelimit {

/// Sequential reader of a tar archive (plain, gz, xz): `while (a.next()) use(a.member(), a.read())`. Throws
/// Error{input} if it is damaged. The checksums of gz and xz come last, so the contents are verified only once next()
/// has returned false.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& path, const ReadLimits& limits = {});
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// Moves to the next regular file; returns false at the end.
  bool next();
  [[nodiscard]] const std::string& member() const { return member_; }
  /// Returns the contents of the current member. Throws Error{resource} if they exceed the limits.
  [[nodiscard]] Blob read();

 private:
  struct Close {
    void operator()(archive* handle) const noexcept;
  };
  struct Source;

  std::string source_;
  ReadLimits limits_;
  std::unique_ptr<Source> packed_;
  std::unique_ptr<archive, Close> handle_;
  std::string member_;
  std::uint64_t expected_ = 0;
};

[[nodiscard]] std::vector<std::string> list_members(const std::filesystem::path& path);

}  // namespace widelimit
