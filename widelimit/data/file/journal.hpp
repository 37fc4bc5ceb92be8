#pragma once

#include "widelimit/data/file/descriptor.hpp"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Progress log of a long computation on disk: a header that identifies the computation, then one append-only record
/// per finished piece. Records survive if the process is killed; a truncated record counts as not written. One process
/// at a time can open it.
///
/// Format: "wl-jrnl1", length and text of the header, checksum; then records of key, sum and their checksum.
class Journal {
 public:
  /// Finished piece: its number, and the checksum of its output.
  struct Record {
    std::uint64_t key = 0;
    std::uint64_t sum = 0;
  };

  /// Opens or creates the journal. Throws Error{resource} if another process has it open or it cannot be written,
  /// Error{input} if its header is damaged. Records from the first damaged one on are discarded. If `restart`, existing
  /// content is not read.
  explicit Journal(const std::filesystem::path& path, bool restart = false);

  /// Empty if no computation was started.
  [[nodiscard]] const std::string& header() const { return header_; }
  /// Records of earlier processes, sorted by key; the last record of each key is kept.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  /// Returns whether any record exists.
  [[nodiscard]] bool has_records() const { return appended_ || !records_.empty(); }

  /// Discards everything and starts a computation.
  void begin(std::string_view header);
  /// Appends a record. Thread-safe.
  void append(Record record);
  /// Deletes the journal.
  void remove();

 private:
  void read();

  std::filesystem::path path_;
  Descriptor file_;
  /// Checksum of the header. Seeds the checksums of the records, so that records of another computation are rejected.
  std::uint64_t seed_ = 0;
  std::string header_;
  std::vector<Record> records_;
  bool appended_ = false;
  std::mutex appending_;
};

}  // namespace widelimit
