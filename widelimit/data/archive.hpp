#pragma once

#include "widelimit/data/file.hpp"

#include <memory>
#include <string>
#include <vector>

struct archive;

namespace widelimit {

/// A tar (plain, gz, xz) or zip read once, front to back: `while (a.next()) use(a.member(), a.read())`.
/// Damage is Error{input}. Nothing grows past what an honest archive of that many bytes can hold, so a crafted one
/// cannot fill the memory.
class Archive {
 public:
  explicit Archive(const std::filesystem::path& path);
  Archive(Bytes bytes, std::string source);

  /// Moves to the next regular file; false at the end.
  bool next();
  [[nodiscard]] const std::string& member() const { return member_; }
  /// The contents of the present member.
  [[nodiscard]] Blob read();

 private:
  struct Close {
    void operator()(archive* handle) const noexcept;
  };
  std::string source_;
  std::unique_ptr<archive, Close> handle_;
  std::size_t limit_ = 0;
  std::size_t expected_ = 0;
  std::string member_;
};

[[nodiscard]] std::vector<std::string> list_members(const std::filesystem::path& path);
/// Error{input} where there is no such member.
[[nodiscard]] Blob read_member(const std::filesystem::path& path, const std::string& member);

/// The contents of a gz or xz stream, known by its first bytes; anything else is handed back as it is.
[[nodiscard]] Blob decompress(Blob bytes, const std::string& source);

}  // namespace widelimit
