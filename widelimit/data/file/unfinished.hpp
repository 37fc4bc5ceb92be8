#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace widelimit {

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

}  // namespace widelimit
