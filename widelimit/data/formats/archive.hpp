#pragma once

#include "widelimit/data/formats/byte_stream.hpp"

#include <memory>
#include <string>
#include <vector>

struct archive;

namespace widelimit {

/// A tar (plain, gz, xz) read once, front to back: `while (a.next()) use(a.member(), a.read())`. Damage is
/// Error{input}. The checksums of gz and xz come last, so that nothing of an archive is to be trusted before next() has
/// been false.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& path, const ReadLimits& limits = {});
  ~Archive();
  Archive(const Archive&) = delete;
  Archive& operator=(const Archive&) = delete;

  /// Moves to the next regular file; false at the end.
  bool next();
  [[nodiscard]] const std::string& member() const { return member_; }
  /// The contents of the present member. Error{resource} where they are larger than the limits allow.
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
