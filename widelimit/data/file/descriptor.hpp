#pragma once

#include "widelimit/data/formats/bytes.hpp"

#include <cstdint>
#include <filesystem>

namespace widelimit {

/// Open file descriptor, closed on destruction. System calls interrupted by a signal are resumed until all bytes are
/// transferred. Errors name the path: Error{resource} if writing fails, Error{input} if reading fails.
class Descriptor {
 public:
  /// Opens `path` with the `flags` of open(2). Errors name `shown` instead of `path`.
  Descriptor(const std::filesystem::path& path, int flags, const std::filesystem::path& shown);
  Descriptor(const std::filesystem::path& path, int flags) : Descriptor(path, flags, path) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  /// Returns false if the file could not be opened; error() is then the value of errno.
  [[nodiscard]] bool opened() const { return id_ >= 0; }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int id() const { return id_; }
  void close();

  /// Returns a path to this open file even if it was renamed, for libraries that open files by name.
  [[nodiscard]] std::filesystem::path own_path() const;

  /// Reads from the current position. Returns fewer bytes than requested only at the end of the file.
  std::size_t read(std::span<std::byte> bytes) const;
  /// Writes at the current position, or at the end of a file opened with O_APPEND.
  void write(Bytes bytes) const;
  void write_at(std::uint64_t offset, Bytes bytes) const;
  /// Throws Error{input} if the file ends before `bytes` is full.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  [[nodiscard]] std::uint64_t size() const;
  /// Reserves `bytes` of disk space. Throws Error{resource} if the disk is full; does nothing on a file system without
  /// reservations.
  void reserve(std::uint64_t bytes) const;
  void truncate(std::uint64_t bytes) const;
  /// Waits until all data is on the disk.
  void sync() const;

 private:
  std::filesystem::path path_;
  std::filesystem::path shown_;
  int id_ = -1;
  int error_ = 0;
};

/// open(2) flags for files with a predictable name next to the user's: never follow a symbolic link planted there, and
/// do not block on a pipe.
extern const int own_file_flags;
/// Throws Error{resource} unless the opened file is a regular file with a single hard link.
void require_own_file(const Descriptor& file, const std::filesystem::path& path);

/// Throws Error{input} with the text of errno; Error{resource} if too many files are open or memory is exhausted.
[[noreturn]] void fail_opening(const std::filesystem::path& path, int error);

/// Throws Error{resource} with the text of errno.
[[noreturn]] void fail_writing(const std::filesystem::path& path, int error);

}  // namespace widelimit
