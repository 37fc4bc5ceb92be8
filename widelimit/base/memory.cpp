#include "widelimit/base/memory.hpp"

#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <fstream>
#include <limits>
#include <utility>

namespace widelimit {

namespace {

/// Parses the number before a unit; std::nullopt if there is none. strtod would also accept "inf" and hexadecimal.
std::optional<double> leading_number(std::string_view text, std::size_t& end) {
  end = std::min(text.find_first_not_of("0123456789."), text.size());
  const std::string digits(text.substr(0, end));
  if (digits.empty() || digits == "." || std::count(digits.begin(), digits.end(), '.') > 1) return std::nullopt;
  return std::stod(digits);
}

/// Returns 1024^k or 1000^k for "", "B", "K", "KiB", "KB", …
std::optional<double> unit_factor(std::string unit) {
  std::transform(unit.begin(), unit.end(), unit.begin(), [](unsigned char c) { return std::tolower(c); });
  if (unit.empty() || unit == "b") return 1.0;
  const auto power = std::string_view("kmgt").find(unit.front());
  if (power == std::string_view::npos) return std::nullopt;
  const std::string_view rest = std::string_view(unit).substr(1);
  if (rest.empty() || rest == "i" || rest == "ib") return std::pow(1024.0, static_cast<double>(power + 1));
  if (rest == "b") return std::pow(1000.0, static_cast<double>(power + 1));
  return std::nullopt;
}

std::optional<std::size_t> first_number(const char* path) {
  std::ifstream file(path);
  std::size_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// Reads the line "KEY: … kB" of a /proc table.
std::optional<std::size_t> kibibytes_of(const char* path, std::string_view key) {
  std::ifstream file(path);
  std::string word;
  for (std::string rest; file >> word; std::getline(file, rest)) {
    std::size_t kibibytes = 0;
    if (word == key && file >> kibibytes) return kibibytes * 1024;
  }
  return std::nullopt;
}

std::optional<std::size_t> system_memory() { return kibibytes_of("/proc/meminfo", "MemAvailable:"); }

/// Memory left in the control group; std::nullopt without a limit ("max" is not a number).
std::optional<std::size_t> group_memory() {
  const auto limit = first_number("/sys/fs/cgroup/memory.max");
  const auto used = first_number("/sys/fs/cgroup/memory.current");
  if (!limit || !used) return std::nullopt;
  return *limit > *used ? *limit - *used : 0;
}

/// Address space left under RLIMIT_AS.
std::optional<std::size_t> process_memory() {
  struct rlimit limit {};
  if (::getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
  const auto used = kibibytes_of("/proc/self/status", "VmSize:");
  if (!used) return std::nullopt;
  return limit.rlim_cur > *used ? limit.rlim_cur - *used : 0;
}

}  // namespace

std::size_t parse_bytes(std::string_view text) {
  std::size_t end = 0;
  const auto number = leading_number(text, end);
  const std::size_t unit = std::min(text.find_first_not_of(' ', end), text.size());
  const auto factor = unit_factor(std::string(text.substr(unit)));
  const double bytes = number && factor ? *number * *factor : 0.0;
  if (!(bytes >= 1.0) || bytes > 0x1p62) {
    fail(Code::usage, "'{}' is not an amount of memory; write it as 4GiB, 500MB or a number of bytes", text);
  }
  return static_cast<std::size_t>(bytes);
}

std::string bytes_text(double bytes) {
  constexpr std::array<const char*, 6> units{"bytes", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < units.size()) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f} bytes", bytes) : fmt::format("{:.3g} {}", bytes, units[unit]);
}

std::optional<std::size_t> available_memory() {
  std::optional<std::size_t> least;
  for (const auto& left : {system_memory(), group_memory(), process_memory()}) {
    if (left) least = std::min(*left, least.value_or(*left));
  }
  return least;
}

std::size_t half_of_memory() { return available_memory().value_or(std::size_t{2} << 30) / 2; }

bool address_space_has(std::size_t bytes) {
  void* const place = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  return place != MAP_FAILED && ::munmap(place, bytes) == 0;
}

std::optional<std::size_t> peak_memory() { return kibibytes_of("/proc/self/status", "VmHWM:"); }

void require_memory(double bytes, std::optional<std::size_t> limit, std::string_view what, std::string_view advice,
                    std::vector<Remedy> remedies) {
  const auto available = limit ? limit : available_memory();
  if (!available || bytes <= static_cast<double>(*available)) return;
  fail(Code::resource, std::move(remedies), "{} needs about {}, but {} {}; {}", what, bytes_text(bytes),
       limit ? "the limit is" : "the available memory is", bytes_text(static_cast<double>(*available)), advice);
}

}  // namespace widelimit
