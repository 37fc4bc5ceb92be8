#pragma once

#include "widelimit/data/formats/bytes.hpp"

#include <cstdint>
#include <filesystem>

namespace widelimit {

/// An open file of the system, closed with this. Calls go on after a signal, until all bytes have passed. Errors name
/// the path: Error{resource} in writing, Error{input} in reading.
class Descriptor {
 public:
  /// `flags` as of open(2). `shown` is the path that errors name, where it is another one.
  Descriptor(const std::filesystem::path& path, int flags, const std::filesystem::path& shown);
  Descriptor(const std::filesystem::path& path, int flags) : Descriptor(path, flags, path) {}
  ~Descriptor() { close(); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  /// False where the file could not be opened; error() is then what errno was.
  [[nodiscard]] bool opened() const { return id_ >= 0; }
  [[nodiscard]] int error() const { return error_; }
  [[nodiscard]] int id() const { return id_; }
  void close();

  /// A path to this very file, whatever its name leads to by now: for libraries that open files by name.
  [[nodiscard]] std::filesystem::path own_path() const;

  /// From where the last read ended, as much as there is; less than asked for at the end of the file only.
  std::size_t read(std::span<std::byte> bytes) const;
  /// Where the last write ended, or at the end of a file opened with O_APPEND.
  void write(Bytes bytes) const;
  void write_at(std::uint64_t offset, Bytes bytes) const;
  /// Error where the file ends before `bytes` is full.
  void read_at(std::uint64_t offset, std::span<std::byte> bytes) const;
  [[nodiscard]] std::uint64_t size() const;
  /// Error unless the disk takes a file of `bytes`; a file system without reservations has to be taken at its word.
  void reserve(std::uint64_t bytes) const;
  void truncate(std::uint64_t bytes) const;
  /// Waits until all is on the disk.
  void sync() const;

 private:
  std::filesystem::path path_;
  std::filesystem::path shown_;
  int id_ = -1;
  int error_ = 0;
};

/// For files of our own that lie beside the user's under a name that can be foreseen: never through a link that
/// somebody put there, and without waiting for the other end of a pipe.
extern const int own_file_flags;
/// Error{resource} unless a file opened so is a regular one with a single name.
void require_own_file(const Descriptor& file, const std::filesystem::path& path);

/// Error{input} in the words of errno; Error{resource} where nothing is wrong with the file but too many are open.
[[noreturn]] void fail_opening(const std::filesystem::path& path, int error);

/// Error{resource} in the words of errno.
[[noreturn]] void fail_writing(const std::filesystem::path& path, int error);

}  // namespace widelimit
