#pragma once

#include "widelimit/data/bytes.hpp"

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
  std::filesystem::path shown_;
  int id_ = -1;
  int error_ = 0;
};

/// Error{resource} in the words of errno.
[[noreturn]] void fail_writing(const std::filesystem::path& path, int error);

}  // namespace widelimit
