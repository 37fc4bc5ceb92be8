#include "widelimit/data/file/journal.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/file/file.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view magic = "wl-jrnl1";
constexpr std::size_t word = sizeof(std::uint64_t);

/// On-disk representation.
struct StoredRecord {
  std::uint64_t key;
  std::uint64_t sum;
  std::uint64_t check;
};

std::uint64_t check_of(const Journal::Record& record, std::uint64_t seed) {
  const std::uint64_t both[]{record.key, record.sum};
  return checksum(std::as_bytes(std::span(both)), seed);
}

std::uint64_t word_at(Bytes bytes, std::size_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, word);
  return value;
}

void keep_last_of_each_key(std::vector<Journal::Record>& records) {
  const auto by_key = [](const Journal::Record& a, const Journal::Record& b) { return a.key < b.key; };
  std::stable_sort(records.begin(), records.end(), by_key);
  std::size_t kept = 0;
  for (std::size_t k = 0; k < records.size(); ++k) {
    if (k + 1 == records.size() || records[k + 1].key != records[k].key) records[kept++] = records[k];
  }
  records.resize(kept);
}

}  // namespace

Journal::Journal(const fs::path& path, bool restart)
    : path_(path), file_(path, O_RDWR | O_CREAT | O_APPEND | own_file_flags) {
  require_own_file(file_, path);
  if (::flock(file_.id(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    fail(Code::resource, "'{}' is in use: another process computes the same file; wait for it or stop it",
         path.string());
  }
  if (!restart) read();
}

void Journal::read() {
  const Blob all = read_file(path_);
  const Bytes bytes(all);
  const std::size_t fixed = magic.size() + word;
  const std::size_t known = std::min(bytes.size(), magic.size());
  if (as_text(bytes.first(known)) != magic.substr(0, known)) {
    fail(Code::input, "'{}' is not a journal of widelimit; move it out of the way", path_.string());
  }
  if (bytes.size() < fixed) return;
  const std::size_t length = word_at(bytes, magic.size());
  // A truncated header: the process ended before any record was written.
  if (length > bytes.size() - fixed || bytes.size() - fixed - length < word) return;
  const std::uint64_t sum = checksum(bytes.first(fixed + length));
  if (sum != word_at(bytes, fixed + length)) {
    fail(Code::input, "'{}' is damaged; remove it to start over", path_.string());
  }
  header_ = as_text(bytes.subspan(fixed, length));
  seed_ = sum;
  std::size_t at = fixed + length + word;
  for (; bytes.size() - at >= sizeof(StoredRecord); at += sizeof(StoredRecord)) {
    const Record record{word_at(bytes, at), word_at(bytes, at + word)};
    if (check_of(record, seed_) != word_at(bytes, at + 2 * word)) break;
    records_.push_back(record);
  }
  file_.truncate(at);
  keep_last_of_each_key(records_);
}

void Journal::begin(std::string_view header) {
  file_.truncate(0);
  records_.clear();
  header_ = header;
  const std::uint64_t length = header.size();
  std::string bytes(magic);
  bytes.append(reinterpret_cast<const char*>(&length), word).append(header);
  seed_ = checksum(as_bytes(bytes));
  bytes.append(reinterpret_cast<const char*>(&seed_), word);
  file_.write(as_bytes(bytes));
}

void Journal::append(Record record) {
  const StoredRecord stored{record.key, record.sum, check_of(record, seed_)};
  const std::lock_guard lock(appending_);
  file_.write(std::as_bytes(std::span(&stored, 1)));
  appended_ = true;
}

void Journal::remove() { ::unlink(path_.c_str()); }

}  // namespace widelimit
