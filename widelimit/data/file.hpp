#pragma once

#include "widelimit/data/bytes.hpp"
#include "widelimit/data/descriptor.hpp"

#include <filesystem>
#include <optional>

namespace widelimit {

/// The whole file. Error{input} where it cannot be read, Error{resource} where it does not fit in memory.
[[nodiscard]] Blob read_file(const std::filesystem::path& path);

/// Where a file meant for `path` really goes: renaming onto a link would replace the link, onto a device the device.
/// Error{resource} where what is there is not a regular file.
[[nodiscard]] std::filesystem::path write_target(const std::filesystem::path& path);

/// Error{resource} unless a file of `bytes` can be made at `path`. Leaves nothing there, even where the process is
/// killed.
void check_writable(const std::filesystem::path& path, std::uint64_t bytes);

/// A file that appears complete or not at all: written under a temporary name in the same folder, renamed by
/// commit(), removed when destroyed before that. All failures are Error{resource}.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  [[nodiscard]] const std::filesystem::path& temporary() const { return temporary_; }
  [[nodiscard]] const Descriptor& file() const { return *file_; }
  /// To disk, then renamed.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::optional<Descriptor> file_;
};

}  // namespace widelimit
