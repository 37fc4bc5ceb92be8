#include "widelimit/data/fetch/fetch.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/data/fetch/download.hpp"
#include "widelimit/data/fetch/sha256.hpp"
#include "widelimit/data/file/location.hpp"
#include "widelimit/data/formats/archive.hpp"

#include <algorithm>
#include <cmath>
#include <set>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

bool is_file(const fs::path& path) {
  std::error_code absent;
  return fs::is_regular_file(path, absent);
}

std::uint64_t size_of(const fs::path& path) {
  std::error_code absent;
  const auto size = fs::file_size(path, absent);
  return absent ? 0 : size;
}

std::string address_of(const SourceFile& file, const std::string& mirror) {
  if (mirror.empty()) return file.url;
  return fmt::format("{}{}{}", mirror, mirror.ends_with('/') ? "" : "/", file.place);
}

void make_folder(const fs::path& folder) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) {
    fail(Code::resource, "cannot make the folder '{}': {}; choose another folder", folder.string(), error.message());
  }
}

/// Fills one data folder.
class Fetcher {
 public:
  Fetcher(const FetchOptions& options, fs::path folder, std::uint64_t bytes)
      : options_(options), folder_(std::move(folder)), meter_(options.progress, bytes) {}

  void fetch(const SourceFile& file) {
    const fs::path target = folder_ / file.place;
    const bool whole = file.members.empty() ? holds(file, target) : unpacked(file);
    const bool fetch = options_.replace || !whole;
    if (fetch && !file.members.empty()) {
      fetch_archive(file, target);
    } else if (fetch) {
      get(file, target);
    } else {
      meter_.add_present(file.bytes);
      meter_.wait();
    }
    if (file.members.empty()) add(file, target, fetch);
    for (const std::string& member : file.members) add(file, target.parent_path() / member, fetch);
  }

  [[nodiscard]] std::vector<FetchedFile> finish() {
    meter_.finish();
    return std::move(fetched_);
  }

 private:
  void add(const SourceFile& file, const fs::path& path, bool fetched) {
    fetched_.push_back({file.set, path, size_of(path), fetched});
  }

  void get(const SourceFile& file, const fs::path& target, const UseFile& use = {}) {
    make_folder(target.parent_path());
    download(file, address_of(file, options_.mirror), target, options_, client_, meter_, use);
  }

  /// Returns whether the valid file is present. Throws Error{input} if another file is: it is not replaced without
  /// request.
  bool holds(const SourceFile& file, const fs::path& target) {
    if (options_.replace || !is_file(target)) return false;
    if (size_of(target) == file.bytes && file_sha256(target, [this] { meter_.wait(); }) == file.sha256) return true;
    fail(Code::input, {Remedy::begin_again},
         "'{}' exists and differs from the file to be fetched; choose another folder, remove it, or replace it",
         target.string());
  }

  /// Returns whether all members are present. They were extracted from a verified archive, each atomically.
  [[nodiscard]] bool unpacked(const SourceFile& file) const {
    const fs::path folder = (folder_ / file.place).parent_path();
    return std::all_of(file.members.begin(), file.members.end(),
                       [&](const std::string& member) { return is_file(folder / member); });
  }

  /// An archive that the user has placed there is used and kept.
  void fetch_archive(const SourceFile& file, const fs::path& target) {
    const fs::path folder = target.parent_path();
    if (holds(file, target)) {
      meter_.add_present(file.bytes);
      unpack_members(file, target, folder);
    } else {
      get(file, target, [&](const fs::path& archive) { unpack_members(file, archive, folder); });
    }
  }

  void unpack_members(const SourceFile& file, const fs::path& path, const fs::path& folder) {
    std::set<std::string> missing(file.members.begin(), file.members.end());
    for (Archive archive(path); archive.next(); meter_.wait()) {
      if (missing.erase(archive.member()) == 0) continue;
      const fs::path target = folder / archive.member();
      make_folder(target.parent_path());
      write_atomically(target, as_text(archive.read()));
    }
    if (!missing.empty()) fail(Code::input, "'{}' has no member '{}'", path.string(), *missing.begin());
  }

  const FetchOptions& options_;
  fs::path folder_;
  HttpClient client_;
  FetchMeter meter_;
  std::vector<FetchedFile> fetched_;
};

fs::path folder_to_fill(const FetchOptions& options) {
  const fs::path folder = options.folder.empty() ? cache_folder() : options.folder;
  if (folder.empty()) {
    fail(Code::usage, "no cache folder is known, since neither XDG_CACHE_HOME nor HOME is set; give a folder");
  }
  return folder;
}

}  // namespace

void FetchOptions::validate() const {
  const std::size_t host = mirror.starts_with("https://") ? 8 : 7;
  const bool address = (host == 8 || mirror.starts_with("http://")) && mirror.size() > host;
  if (!mirror.empty() && !address) {
    fail(Code::usage, "the mirror '{}' is not an address; it must begin with https:// or http://", mirror);
  }
  if (!std::isfinite(stall) || stall <= 0 || stall > 86400) {
    fail(Code::usage, "a stall of {} s is out of range; give more than 0 and at most 86400", stall);
  }
  if (!std::isfinite(pause) || pause < 0 || pause > 3600) {
    fail(Code::usage, "a pause of {} s is out of range; give 0 to 3600", pause);
  }
  if (retries < 0 || retries > 100) fail(Code::usage, "{} retries are out of range; give 0 to 100", retries);
}

std::vector<FetchedFile> fetch_files(const std::vector<SourceFile>& files, const FetchOptions& options) {
  options.validate();
  std::uint64_t bytes = 0;
  for (const SourceFile& file : files) bytes += file.bytes;
  Fetcher fetcher(options, folder_to_fill(options), bytes);
  for (const SourceFile& file : files) fetcher.fetch(file);
  return fetcher.finish();
}

std::vector<FetchedFile> fetch_data(const std::vector<std::string>& names, const FetchOptions& options) {
  if (names.empty()) fail(Code::usage, "no set to fetch is given; there are mnist, cifar10, uci and uci:NAME");
  std::vector<SourceFile> files;
  std::set<std::string> known;
  for (const std::string& name : names) {
    for (SourceFile& file : source_files(name)) {
      if (known.insert(file.place).second) files.push_back(std::move(file));
    }
  }
  return fetch_files(files, options);
}

std::string fetch_name(const std::string& spec) {
  const std::string set = spec.substr(0, spec.find(':'));
  return set == "mnist" || set == "cifar10" || set == "uci" ? set : "";
}

}  // namespace widelimit
