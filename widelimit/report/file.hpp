#pragma once

#include "widelimit/data/file/file.hpp"

#include <filesystem>
#include <string>

namespace widelimit {

/// The whole file; Error where it cannot be read.
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
