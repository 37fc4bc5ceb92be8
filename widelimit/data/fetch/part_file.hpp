#pragma once

#include "widelimit/data/file/descriptor.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace widelimit {

/// Partial download: the received bytes in TARGET.part, and their source in TARGET.part.source. Both are kept if a run
/// ends before the file is complete, so that the next run can resume. They are locked by one process at a time. Write
/// failures throw Error{resource}.
class PartFile {
 public:
  explicit PartFile(const std::filesystem::path& target);

  [[nodiscard]] const std::filesystem::path& path() const { return part_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// Returns the validator for requesting the rest of `url`; empty if the received bytes cannot be resumed from `url`.
  [[nodiscard]] std::string validator(const std::string& url) const;

  /// Starts over: discards the received bytes and records the source.
  void restart(const std::string& url, const std::string& validator);
  void append(Bytes piece);
  [[nodiscard]] std::string sha256(const std::function<void()>& wait) const;
  /// Syncs to disk and renames to the target.
  void commit();
  /// Removes both files.
  void discard();

 private:
  void open();

  std::filesystem::path target_;
  std::filesystem::path part_;
  std::filesystem::path source_;
  std::optional<Descriptor> file_;
  std::uint64_t size_ = 0;
};

}  // namespace widelimit
