#include "widelimit/kernel/file/gram_writer.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/formats/array_file.hpp"
#include "widelimit/data/hdf5/hdf5_blocks.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace widelimit {

namespace {

std::string value_text(const Fingerprint& fingerprint, const std::string& key) {
  if (!fingerprint.is_object() || !fingerprint.contains(key)) return "none";
  const auto& value = fingerprint.at(key);
  return value.is_string() ? value.get<std::string>() : value.dump();
}

template <typename T>
std::uint64_t checksum_of(const MatrixView<const T>& rows) {
  std::uint64_t sum = sizeof(T);
  for (Index i = 0; i < rows.rows; ++i) sum = checksum(std::as_bytes(std::span(rows.row(i), usize(rows.cols))), sum);
  return sum;
}
std::uint64_t checksum_of(const SparseView& rows) {
  std::uint64_t sum = sparse_entry_bytes;
  for (Index i = 0; i < rows.rows; ++i) {
    const SparseView::Row row = rows.row(i);
    sum = checksum(std::as_bytes(row.values), checksum(std::as_bytes(row.columns), sum ^ row.size()));
  }
  return sum;
}

std::uint64_t checksum_of(const GraphView& graphs) { return graphs_checksum(graphs); }

}  // namespace

std::string describe_samples(const SampleView& x) {
  const std::uint64_t sum = std::visit([](const auto& rows) { return checksum_of(rows); }, x.values);
  return fmt::format("{} {}samples of {}, checksum {:016x}", x.count(), x.sparse() != nullptr ? "sparse " : "",
                     to_string(x.shape), sum);
}

std::string difference(const Fingerprint& there, const Fingerprint& here) {
  std::string text;
  const auto compare = [&](const std::string& key) {
    const std::string old_value = value_text(there, key);
    const std::string new_value = value_text(here, key);
    if (old_value == new_value) return;
    text += fmt::format("{}{}: {} there, {} here", text.empty() ? "" : "; ", key, old_value, new_value);
  };
  for (const auto& item : here.items()) compare(item.key());
  if (!there.is_object()) return text;
  for (const auto& item : there.items()) {
    if (!here.contains(item.key())) compare(item.key());
  }
  return text;
}

namespace fs = std::filesystem;

namespace {

using Json = nlohmann::ordered_json;

constexpr const char* fingerprint_name = "fingerprint";
constexpr int format_version = 1;

Json as_json(const TiledMatrix& matrix) {
  return {{"name", matrix.name}, {"precision", to_string(matrix.precision)},        {"rows", matrix.rows},
          {"cols", matrix.cols}, {"chunk", {matrix.chunk_rows, matrix.chunk_cols}}, {"place", matrix.place}};
}

TiledMatrix as_matrix(const Json& json) {
  return {json.at("name"),        parse_precision(json.at("precision").get<std::string>()),
          json.at("rows"),        json.at("cols"),
          json.at("chunk").at(0), json.at("chunk").at(1),
          json.at("place")};
}

/// A rename is durable only after the directory is synced.
void sync_folder(const fs::path& file) {
  const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
  const Descriptor descriptor(folder, O_RDONLY | O_DIRECTORY);
  if (descriptor.opened()) descriptor.sync();
}

}  // namespace

fs::path part_of(const fs::path& path) { return fs::path(path) += ".part"; }
fs::path journal_of(const fs::path& path) { return fs::path(path) += ".journal"; }

GramWriter::GramWriter(const fs::path& path, Fingerprint fingerprint, Existing existing)
    : target_(write_target(path)),
      part_(part_of(target_)),
      journal_path_(journal_of(target_)),
      fingerprint_(std::move(fingerprint)) {
  std::error_code ignored;
  const bool begun = fs::exists(part_, ignored);
  journal_.emplace(journal_path_, existing == Existing::replace);
  if (existing == Existing::refuse && begun && journal_->has_records()) {
    fail(Code::usage, {Remedy::resume, Remedy::begin_again},
         "'{}' holds an unfinished Gram matrix; resume it, or begin again", part_.string());
  }
  if (existing != Existing::resume) return;
  if (begun && !journal_->header().empty()) {
    resume_part();
  } else if (fs::exists(target_, ignored)) {
    // The journal has no records of this run and is removed whatever the result of the check.
    journal_->remove();
    settled_ = true;
    check_complete();
    complete_ = true;
  }
}

GramWriter::~GramWriter() {
  if (!settled_ && !journal_->has_records()) discard();
}

void GramWriter::check_complete() {
  const Hdf5Blocks file(target_);
  const std::string text = file.text(fingerprint_name);
  const Json there = Json::parse(text, nullptr, false);
  if (text.empty() || !there.is_object()) {
    fail(Code::usage, {Remedy::begin_again},
         "'{}' was not written tile by tile, so there is nothing to resume; begin again to replace it",
         target_.string());
  }
  if (there != fingerprint_) {
    fail(Code::usage, {Remedy::begin_again},
         "'{}' is complete, but for other inputs ({}); begin again to replace it, or choose another file",
         target_.string(), difference(there, fingerprint_));
  }
  settings_ = file.text(std::string(settings_name));
}

void GramWriter::resume_part() {
  const std::string again = fmt::format("begin again, which replaces it and '{}'", journal_path_.string());
  const Json header = Json::parse(journal_->header(), nullptr, false);
  try {
    if (header.at("format") != format_version) {
      fail(Code::input, {Remedy::begin_again},
           "'{}' has format {} of unfinished Gram files, but widelimit {} reads format {}; {}", part_.string(),
           header.at("format").dump(), version(), format_version, again);
    }
    if (header.at(fingerprint_name) != fingerprint_) {
      fail(Code::usage, {Remedy::begin_again},
           "'{}' was begun for other inputs ({}); use the same settings, or begin again", part_.string(),
           difference(header.at(fingerprint_name), fingerprint_));
    }
    for (const Json& matrix : header.at("matrices")) matrices_.push_back(as_matrix(matrix));
  } catch (const Json::exception&) {
    fail(Code::input, {Remedy::begin_again}, "'{}' cannot be parsed; {}", journal_path_.string(), again);
  }
  file_.emplace(part_);
  if (file_->bytes() != header.at("bytes").get<std::size_t>()) {
    fail(Code::input, {Remedy::begin_again}, "'{}' has {} bytes, expected {}; it is damaged: {}", part_.string(),
         file_->bytes(), header.at("bytes").get<std::size_t>(), again);
  }
  const Hdf5Blocks content(part_);
  if (Json::parse(content.text(fingerprint_name), nullptr, false) != fingerprint_) {
    fail(Code::input, {Remedy::begin_again}, "'{}' does not match its journal; {}", part_.string(), again);
  }
  settings_ = content.text(std::string(settings_name));
  resumed_ = true;
}

void GramWriter::create(std::vector<TiledMatrix> matrices, const std::vector<NamedArray>& arrays,
                        const std::string& settings) {
  matrices_ = std::move(matrices);
  empty_part_.emplace(part_);
  empty_journal_.emplace(journal_path_);
  // Start with an empty journal: if the process ends here, no journal claims that the file is valid.
  journal_->begin("");
  create_tiled_hdf5(part_, matrices_, arrays,
                    {{std::string(settings_name), settings}, {fingerprint_name, fingerprint_.dump()}});
  file_.emplace(part_);
  Json header{{"format", format_version}, {fingerprint_name, fingerprint_}, {"bytes", file_->bytes()}};
  for (const TiledMatrix& matrix : matrices_) header["matrices"].push_back(as_json(matrix));
  journal_->begin(header.dump());
}

std::optional<std::uint64_t> GramWriter::finished(std::uint64_t key) const {
  const auto& all = journal_->records();
  const auto found = std::lower_bound(all.begin(), all.end(), key,
                                      [](const Journal::Record& record, std::uint64_t k) { return record.key < k; });
  return found != all.end() && found->key == key ? std::optional(found->sum) : std::nullopt;
}

void GramWriter::record(std::uint64_t key, std::uint64_t sum) {
  journal_->append({key, sum});
  std::call_once(begun_, [this] {
    empty_part_.reset();
    empty_journal_.reset();
  });
}

void GramWriter::stop(const Error& reason) const {
  if (!journal_->has_records()) fail(reason.code(), reason.remedies(), "{}; nothing was finished", reason.what());
  std::vector<Remedy> remedies = reason.remedies();
  remedies.push_back(Remedy::resume);
  fail(reason.code(), std::move(remedies), "{}; finished tiles are kept in '{}': resume with the same settings",
       reason.what(), part_.string());
}

void GramWriter::finish() {
  file_->sync();
  if (::rename(part_.c_str(), target_.c_str()) != 0) fail_writing(target_, errno);
  sync_folder(target_);
  settled_ = true;
  journal_->remove();
}

void GramWriter::discard() {
  std::error_code ignored;
  file_.reset();
  // Do not remove a file that another program replaced or linked.
  const bool ours = fs::is_regular_file(fs::symlink_status(part_, ignored)) && fs::hard_link_count(part_, ignored) == 1;
  if (ours) fs::remove(part_, ignored);
  journal_->remove();
  settled_ = true;
}

}  // namespace widelimit
