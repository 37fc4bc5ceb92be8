#pragma once

#include "widelimit/data/file/descriptor.hpp"

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// What of a long work is done, on disk: a header that says what the work is, then one record for each finished
/// piece, appended and never changed. A process may be killed at any moment: what it had appended stays, and a record
/// cut short counts as not written. One process at a time.
///
/// On disk: "wl-jrnl1", length and text of the header, checksum; then records of key, sum and their checksum.
class Journal {
 public:
  /// A finished piece: its number, and the checksum of what it wrote elsewhere.
  struct Record {
    std::uint64_t key = 0;
    std::uint64_t sum = 0;
  };

  /// Opens, or makes an empty one. Error{resource} where another process has it open or it cannot be written,
  /// Error{input} where its header is damaged. Whatever follows a damaged record is forgotten.
  /// `forget` leaves whatever it holds unread.
  explicit Journal(const std::filesystem::path& path, bool forget = false);

  /// Empty where no work had begun.
  [[nodiscard]] const std::string& header() const { return header_; }
  /// Of earlier processes, by key; of two with one key the later counts.
  [[nodiscard]] const std::vector<Record>& records() const { return records_; }
  /// Whether a record was there or was appended since.
  [[nodiscard]] bool has_records() const { return appended_ || !records_.empty(); }

  /// Forgets everything and begins a work.
  void begin(std::string_view header);
  /// From any thread.
  void append(Record record);
  /// The work is done, or given up.
  void remove();

 private:
  void read();

  std::filesystem::path path_;
  Descriptor file_;
  std::uint64_t seed_ = 0;  ///< checksum of the header: records of another work do not fit
  std::string header_;
  std::vector<Record> records_;
  bool appended_ = false;
  std::mutex appending_;
};

}  // namespace widelimit
