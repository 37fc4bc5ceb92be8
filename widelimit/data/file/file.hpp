#pragma once

#include "widelimit/data/file/descriptor.hpp"
#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"

#include <cstddef>
#include <filesystem>
#include <optional>

namespace widelimit {

/// Regular file open for reading. Throws Error{input} if it is not a regular file or cannot be opened, Error{resource}
/// if too many files are open. Does not block on a pipe.
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

/// Reads the whole file. Throws Error{input} if it cannot be read, Error{resource} if it does not fit into memory.
[[nodiscard]] Blob read_file(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Resolves the symbolic links of an output `path`, since renaming onto a link would replace the link, and onto a
/// device the device. Throws Error{resource} if the target exists and is not a regular file.
[[nodiscard]] std::filesystem::path write_target(const std::filesystem::path& path);

/// Returns whether both paths lead to one file, also through links and before it exists.
[[nodiscard]] bool same_file(const std::filesystem::path& a, const std::filesystem::path& b);

/// Throws Error{resource} unless a file of `bytes` can be created at `path`. Leaves no file behind, even if the process
/// is killed.
void check_writable(const std::filesystem::path& path, std::uint64_t bytes);

/// Registers the name of an incomplete file with remove_unfinished() for its lifetime.
class Unfinished {
 public:
  explicit Unfinished(const std::filesystem::path& path);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  std::optional<std::size_t> slot_;
};

/// Removes all registered files. Async-signal-safe.
void remove_unfinished() noexcept;

/// Output file that appears complete or not at all: it is written under a unique temporary name in the same folder,
/// renamed by commit(), and removed on destruction without commit(), or by remove_unfinished(). All failures throw
/// Error{resource}.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& target);
  ~AtomicFile();
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  [[nodiscard]] const std::filesystem::path& target() const { return target_; }
  [[nodiscard]] const Descriptor& file() const { return *file_; }
  /// Syncs to disk and renames to the target.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  std::optional<Descriptor> file_;
  std::optional<Unfinished> unfinished_;
};

/// Writes `contents` with AtomicFile.
void write_atomically(const std::filesystem::path& path, std::string_view contents);

}  // namespace widelimit
