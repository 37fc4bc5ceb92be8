#include "widelimit/data/formats/zip.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/data/file/file.hpp"

#include <zlib.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

namespace widelimit {

namespace {

constexpr std::uint32_t end_signature = 0x06054b50;
constexpr std::uint32_t end64_signature = 0x06064b50;
constexpr std::uint32_t locator64_signature = 0x07064b50;
constexpr std::uint32_t entry_signature = 0x02014b50;
constexpr std::uint32_t local_signature = 0x04034b50;
constexpr std::size_t end_bytes = 22;
constexpr std::size_t locator64_bytes = 20;
constexpr std::size_t end64_bytes = 56;
constexpr std::size_t entry_bytes = 46;
constexpr std::size_t local_bytes = 30;
constexpr std::size_t longest_comment = 0xFFFF;
constexpr std::uint32_t in_64_bits = 0xFFFFFFFF;  ///< the value is in the ZIP64 extra field
constexpr unsigned encrypted = 1U;
constexpr unsigned sizes_after_contents = 8U;
constexpr std::size_t zip_piece = std::size_t{1} << 18;
constexpr std::size_t stored_piece = std::size_t{1} << 24;

[[noreturn]] void fail_zip(const std::string& source, const char* what) {
  fail(Code::input, "{}: not a readable zip file ({}); it is damaged or cut short", source, what);
}

template <typename T>
T field(Bytes bytes, std::size_t at) {
  return load_scalar<T>(bytes.data() + at, std::endian::little);
}

/// Replaces those of `values` that are marked as 64-bit by the values in the extra field; returns false if one is
/// missing.
bool widen(Bytes extra, std::initializer_list<std::uint64_t*> values) {
  constexpr std::uint16_t zip64 = 1;
  const auto absent = [](const std::uint64_t* value) { return *value != in_64_bits; };
  if (std::all_of(values.begin(), values.end(), absent)) return true;
  while (extra.size() >= 4) {
    const auto kind = field<std::uint16_t>(extra, 0);
    const std::size_t length = field<std::uint16_t>(extra, 2);
    if (length > extra.size() - 4) return false;
    Bytes body = extra.subspan(4, length);
    extra = extra.subspan(4 + length);
    if (kind != zip64) continue;
    for (std::uint64_t* value : values) {
      if (*value != in_64_bits) continue;
      if (body.size() < sizeof(std::uint64_t)) return false;
      *value = field<std::uint64_t>(body, 0);
      body = body.subspan(sizeof(std::uint64_t));
    }
    return true;
  }
  return false;
}

/// Fields common to a local header and a directory entry.
struct Header {
  unsigned flags = 0;
  unsigned method = 0;
  std::uint32_t checksum = 0;
  std::uint64_t packed = 0;
  std::uint64_t size = 0;
  std::size_t name_bytes = 0;
  std::size_t extra_bytes = 0;
};

/// `from`: offset of the flags.
Header parse_header(Bytes bytes, std::size_t from) {
  return {field<std::uint16_t>(bytes, from),      field<std::uint16_t>(bytes, from + 2),
          field<std::uint32_t>(bytes, from + 8),  field<std::uint32_t>(bytes, from + 12),
          field<std::uint32_t>(bytes, from + 16), field<std::uint16_t>(bytes, from + 20),
          field<std::uint16_t>(bytes, from + 22)};
}

/// zlib state for a raw deflate stream.
struct Inflater {
  z_stream state{};
  Inflater() {
    if (inflateInit2(&state, -15) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&state); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
};

std::uint32_t checksum_of(Bytes bytes) {
  return static_cast<std::uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}

}  // namespace

ZipFile::ZipFile(const std::filesystem::path& path) : source_(path.string()) {
  const auto file = std::make_shared<InputFile>(path);
  size_ = file->size();
  read_at_ = [file](std::uint64_t offset, std::span<std::byte> into) { file->read_at(offset, into); };
  read_directory();
}

ZipFile::ZipFile(Bytes bytes, std::string source) : source_(std::move(source)), size_(bytes.size()) {
  read_at_ = [bytes](std::uint64_t offset, std::span<std::byte> into) {
    std::copy_n(bytes.data() + offset, into.size(), into.data());
  };
  read_directory();
}

Blob ZipFile::bytes_at(std::uint64_t offset, std::uint64_t count) const {
  if (offset > size_ || count > size_ - offset) fail_zip(source_, "an offset beyond its end");
  Blob bytes(count);
  read_at_(offset, bytes);
  return bytes;
}

void ZipFile::read_directory() {
  // The end record is last, except for a comment whose length it contains.
  const std::uint64_t tail = std::min<std::uint64_t>(size_, end_bytes + longest_comment);
  const Blob last = bytes_at(size_ - tail, tail);
  std::optional<std::size_t> found;
  for (std::size_t at = last.size() < end_bytes ? 0 : last.size() - end_bytes + 1; at-- > 0 && !found;) {
    const Bytes rest = Bytes(last).subspan(at);
    const bool ends =
        field<std::uint32_t>(rest, 0) == end_signature && field<std::uint16_t>(rest, 20) == rest.size() - end_bytes;
    if (ends) found = at;
  }
  if (!found) fail_zip(source_, "no end record");
  const Bytes end = Bytes(last).subspan(*found);
  std::uint64_t ends_at = size_ - tail + *found;
  std::uint64_t count = field<std::uint16_t>(end, 10);
  std::uint64_t bytes = field<std::uint32_t>(end, 12);
  directory_ = field<std::uint32_t>(end, 16);
  if (count == 0xFFFF || bytes == in_64_bits || directory_ == in_64_bits) {
    if (ends_at < locator64_bytes) fail_zip(source_, "no 64-bit end record");
    const Blob locator = bytes_at(ends_at - locator64_bytes, locator64_bytes);
    ends_at = field<std::uint64_t>(locator, 8);
    const Blob end64 = bytes_at(ends_at, end64_bytes);
    const bool good =
        field<std::uint32_t>(locator, 0) == locator64_signature && field<std::uint32_t>(end64, 0) == end64_signature;
    if (!good) fail_zip(source_, "no 64-bit end record");
    count = field<std::uint64_t>(end64, 32);
    bytes = field<std::uint64_t>(end64, 40);
    directory_ = field<std::uint64_t>(end64, 48);
  }
  if (directory_ > ends_at || bytes != ends_at - directory_)
    fail_zip(source_, "its directory is not at the recorded offset");
  const Blob directory = bytes_at(directory_, bytes);
  for (Bytes rest(directory); !rest.empty();) {
    if (rest.size() < entry_bytes || field<std::uint32_t>(rest, 0) != entry_signature) {
      fail_zip(source_, "its directory is damaged");
    }
    const Header header = parse_header(rest, 8);
    const std::size_t length = entry_bytes + header.name_bytes + header.extra_bytes + field<std::uint16_t>(rest, 32);
    if (length > rest.size()) fail_zip(source_, "its directory is cut short");
    Member member{std::string(as_text(rest.subspan(entry_bytes, header.name_bytes))),
                  header.size,
                  header.packed,
                  field<std::uint32_t>(rest, 42),
                  header.checksum,
                  header.method == Z_DEFLATED};
    const Bytes extra = rest.subspan(entry_bytes + header.name_bytes, header.extra_bytes);
    if (!widen(extra, {&member.size, &member.packed, &member.place})) fail_zip(source_, "a size is missing");
    if ((header.flags & encrypted) != 0 || (header.method != 0 && header.method != Z_DEFLATED)) {
      fail(Code::input, "{}/{}: its compression is not supported; store or deflate it", source_, member.name);
    }
    members_.push_back(std::move(member));
    rest = rest.subspan(length);
  }
  if (members_.size() != count) fail_zip(source_, "its directory has another number of members than recorded");
  // Checks also the members that are not read: a damaged name can decide which are read.
  for (const Member& member : members_) (void)contents_of(member);
}

std::uint64_t ZipFile::contents_of(const Member& member) const {
  const Blob bytes = bytes_at(member.place, local_bytes);
  if (field<std::uint32_t>(bytes, 0) != local_signature) fail_zip(source_, "a member is not at the recorded offset");
  Header header = parse_header(bytes, 6);
  const Blob rest = bytes_at(member.place + local_bytes, header.name_bytes + header.extra_bytes);
  const bool sized = (header.flags & sizes_after_contents) == 0;
  const bool widened = !sized || widen(Bytes(rest).subspan(header.name_bytes), {&header.size, &header.packed});
  const bool agrees =
      widened && as_text(rest).substr(0, header.name_bytes) == member.name &&
      (header.method == Z_DEFLATED) == member.deflated &&
      (!sized || (header.size == member.size && header.packed == member.packed && header.checksum == member.checksum));
  if (!agrees) fail_zip(source_, "a member contradicts its directory entry");
  const std::uint64_t begin = member.place + local_bytes + rest.size();
  if (begin > directory_ || member.packed > directory_ - begin) fail_zip(source_, "a member is cut short");
  return begin;
}

void ZipFile::inflate_into(Blob& contents, const Member& member, std::uint64_t place, const ReadLimits& limits) const {
  ProgressTicker ticker(limits.progress, static_cast<std::int64_t>(member.packed), "B");
  Inflater inflater;
  z_stream& state = inflater.state;
  Blob piece(std::min<std::uint64_t>(member.packed, zip_piece));
  std::uint64_t taken = 0;
  std::size_t made = 0;
  std::byte beyond{};   // receives the excess byte of a member that is longer than declared
  bool filled = false;  // zlib may hold more output of the current input
  int outcome = Z_OK;
  while (outcome == Z_OK || outcome == Z_BUF_ERROR) {
    if (state.avail_in == 0 && !filled) {
      const std::uint64_t more = std::min<std::uint64_t>(member.packed - taken, piece.size());
      if (more == 0) break;
      read_at_(place + taken, std::span(piece).first(more));
      taken += more;
      ticker.at(static_cast<std::int64_t>(taken));
      state.next_in = reinterpret_cast<Bytef*>(piece.data());
      state.avail_in = static_cast<uInt>(more);
    }
    const std::size_t space = std::min<std::size_t>(contents.size() - made, zip_piece);
    std::byte* const out = space == 0 ? &beyond : contents.data() + made;
    state.next_out = reinterpret_cast<Bytef*>(out);
    state.avail_out = static_cast<uInt>(std::max<std::size_t>(space, 1));
    outcome = inflate(&state, Z_NO_FLUSH);
    made += static_cast<std::size_t>(reinterpret_cast<std::byte*>(state.next_out) - out);
    filled = state.avail_out == 0;
    if (made > contents.size()) break;
  }
  const bool whole =
      outcome == Z_STREAM_END && made == contents.size() && state.avail_in == 0 && taken == member.packed;
  if (outcome == Z_MEM_ERROR) throw std::bad_alloc();
  if (!whole) fail_zip(source_ + "/" + member.name, "its contents are damaged");
}

Blob ZipFile::read(const Member& member, const ReadLimits& limits) const {
  const std::uint64_t place = contents_of(member);
  const std::string name = source_ + "/" + member.name;
  // Maximum expansion of deflate: a larger declared size is rejected before memory is allocated.
  constexpr std::uint64_t most_expansion = 1032;
  const bool possible = member.deflated ? member.size / most_expansion <= member.packed : member.size == member.packed;
  if (!possible) fail_zip(name, "its sizes contradict each other");
  limits.require(static_cast<double>(member.size), name);
  Blob contents(member.size);
  if (member.deflated) {
    inflate_into(contents, member, place, limits);
  } else {
    ProgressTicker ticker(limits.progress, static_cast<std::int64_t>(member.size), "B");
    for (std::size_t done = 0; done < contents.size();) {
      const std::size_t more = std::min(contents.size() - done, stored_piece);
      read_at_(place + done, std::span(contents).subspan(done, more));
      done += more;
      ticker.at(static_cast<std::int64_t>(done));
    }
  }
  if (checksum_of(contents) != member.checksum) fail_zip(name, "its checksum does not match");
  return contents;
}

}  // namespace widelimit
