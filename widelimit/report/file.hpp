#pragma once

#include "widelimit/data/file/file.hpp"

#include <filesystem>
#include <string>

namespace widelimit {

/// Reads a whole file as text. Throws Error if it cannot be read.
[[nodiscard]] std::string read_back(const std::filesystem::path& path);

/// New temporary folder of this process, removed with its contents on destruction.
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
