#include "widelimit/data/file/location.hpp"

#include <cstdlib>
#include <system_error>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

fs::path from_environment(const char* variable) {
  const char* value = std::getenv(variable);
  return value != nullptr ? fs::path(value) : fs::path();
}

}  // namespace

fs::path cache_folder() {
  const fs::path cache = from_environment("XDG_CACHE_HOME");
  if (cache.is_absolute()) return cache / "widelimit";
  const fs::path home = from_environment("HOME");
  return home.empty() ? fs::path() : home / ".cache" / "widelimit";
}

std::vector<fs::path> data_folders() {
  std::vector<fs::path> folders;
  for (const fs::path& folder : {from_environment("WIDELIMIT_DATA"), cache_folder()}) {
    if (!folder.empty()) folders.push_back(folder);
  }
  return folders;
}

std::optional<fs::path> find_data_file(const std::vector<std::string>& names) {
  std::error_code ignored;
  for (const fs::path& folder : data_folders()) {
    for (const std::string& name : names) {
      if (fs::is_regular_file(folder / name, ignored)) return folder / name;
    }
  }
  return std::nullopt;
}

void store_in_cache(const fs::path& relative, Bytes bytes) {
  const fs::path cache = cache_folder();
  if (cache.empty()) return;
  const fs::path path = cache / relative;
  std::error_code unwritable;
  fs::create_directories(path.parent_path(), unwritable);
  if (unwritable) return;
  try {
    write_atomically(path, as_text(bytes));
  } catch (const Error& error) {
    if (error.code() != Code::resource) throw;
  }
}

void fail_missing(const MissingFiles& missing) {
  std::string searched;
  for (const fs::path& folder : data_folders()) searched += fmt::format("\n  {}", (folder / missing.files).string());
  throw MissingSet(
      fmt::format("{} was not found. Looked for:{}\n{} {}, and set WIDELIMIT_DATA to the folder above it.", missing.set,
                  searched, missing.fetch_name.empty() ? "To use it," : "Fetch it, or", missing.by_hand),
      missing.fetch_name);
}

}  // namespace widelimit
