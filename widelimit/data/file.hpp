#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>
#include <vector>

namespace widelimit {

/// What every parser reads: bytes from anywhere, so that a fuzzer needs no file.
using Bytes = std::span<const std::byte>;
using Blob = std::vector<std::byte>;

[[nodiscard]] inline std::string_view as_text(Bytes bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}
[[nodiscard]] inline Bytes as_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

/// The whole file. Error{input} where it cannot be read, Error{resource} where it does not fit in memory.
[[nodiscard]] Blob read_file(const std::filesystem::path& path);

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
  [[nodiscard]] int descriptor() const { return descriptor_; }
  /// Appends.
  void write(Bytes bytes);
  /// Writes at a place of the file, which may lie past its end.
  void write_at(std::size_t offset, Bytes bytes);
  /// Error{resource} unless the disk takes a file of `bytes`; asked before a library that handles a full disk badly.
  void require_space(std::size_t bytes);
  /// To disk, then renamed.
  void commit();

 private:
  std::filesystem::path target_;
  std::filesystem::path temporary_;
  int descriptor_ = -1;
};

}  // namespace widelimit
