#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace widelimit {

/// Writes beside the target and renames, so that a reader sees the old file or the new one, never half of one. A
/// link is followed; a device or pipe is written straight. Throws Error{resource}.
void write_atomically(const std::filesystem::path& path, std::string_view contents);

/// The whole file; Error{resource} where it cannot be read.
[[nodiscard]] std::string read_back(const std::filesystem::path& path);

/// A fresh folder for this process alone, removed with everything in it.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace widelimit
