#pragma once

#include "widelimit/data/file/descriptor.hpp"
#include "widelimit/data/file/unfinished.hpp"
#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <filesystem>
#include <optional>

namespace widelimit {

/// A regular file open for reading. Error{input} where it is none or cannot be opened, Error{resource} where too many
/// files are open. Nothing waits for the other end of a pipe.
class InputFile {
 public:
  explicit InputFile(const std::filesystem::path& path);

  [[nodiscard]] std::uint64_t size() const { return size_; }
  std::size_t read(std::span<std::byte> bytes) const { return file_.read(bytes); }
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const { file_.read_at(offset, bytes); }

 private:
  Descriptor file_;
  std::uint64_t size_ = 0;
};

/// The whole file. Error{input} where it cannot be read, Error{resource} where it does not fit in memory.
[[nodiscard]] Blob read_file(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Where a file meant for `path` really goes: renaming onto a link would replace the link, onto a device the device.
/// Error{resource} where what is there is not a regular file.
[[nodiscard]] std::filesystem::path write_target(const std::filesystem::path& path);

/// Error{resource} unless a file of `bytes` can be made at `path`. Leaves nothing there, even where the process is
/// killed.
void check_writable(const std::filesystem::path& path, std::uint64_t bytes);

/// A file that appears complete or not at all: written under a temporary name of its own in the same folder, renamed by
/// commit(), removed when destroyed before that, or by remove_unfinished(). All failures are Error{resource}.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  [[nodiscard]] const Descriptor& file() const { return *file_; }
  /// To disk, then renamed.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::optional<Descriptor> file_;
  std::optional<Unfinished> unfinished_;
};

/// The same for contents that are there as a whole.
void write_atomically(const std::filesystem::path& path, std::string_view contents);

}  // namespace widelimit
