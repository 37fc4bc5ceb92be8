#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>

namespace widelimit {

/// The name of a file that is worth nothing before it is complete, known to remove_unfinished() while this lives.
class Unfinished {
 public:
  explicit Unfinished(const std::filesystem::path& path);
  ~Unfinished();
  Unfinished(const Unfinished&) = delete;
  Unfinished& operator=(const Unfinished&) = delete;

 private:
  std::optional<std::size_t> slot_;
};

/// Removes all of them. For a program that a signal ends: calls nothing that POSIX forbids inside a handler.
void remove_unfinished() noexcept;

}  // namespace widelimit
