#pragma once

#include "widelimit/data/file/descriptor.hpp"

#include <filesystem>
#include <functional>
#include <optional>
#include <string>

namespace widelimit {

/// What has come of a download: TARGET.part, and in TARGET.part.source what it is a part of. Both stay where a run ends
/// before the file is complete, so that the next can go on. One process at a time has them. Failures in writing are
/// Error{resource}.
class PartFile {
 public:
  explicit PartFile(const std::filesystem::path& target);

  [[nodiscard]] const std::filesystem::path& path() const { return part_; }
  [[nodiscard]] std::uint64_t size() const { return size_; }
  /// By what the rest can be asked of `url`; empty where it cannot, as what is there came from elsewhere.
  [[nodiscard]] std::string validator(const std::string& url) const;

  /// Nothing has come of `url` yet.
  void restart(const std::string& url, const std::string& validator);
  void append(Bytes piece);
  [[nodiscard]] std::string sha256(const std::function<void()>& wait) const;
  /// To disk and under the name of the target.
  void commit();
  /// Removes all of it.
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
