#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/data/file/journal.hpp"
#include "widelimit/data/file/unfinished.hpp"
#include "widelimit/data/hdf5/tiled_hdf5.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace widelimit {

/// What a stored Gram is of, by name: samples, network, kind, precision. Two works with one fingerprint are the same
/// work, whatever machine, back end, memory or number of threads does it.
using Fingerprint = nlohmann::ordered_json;

/// "1797 samples of 8x8x1, 64-bit checksum 0f3c…": depends on every value, its type and the order of the samples.
/// O(n·d)
[[nodiscard]] std::string describe_samples(const SampleView& x);

/// "precision: f32 there, f64 here; …", empty where they are equal.
[[nodiscard]] std::string difference(const Fingerprint& there, const Fingerprint& here);

/// What to do where an unfinished or a finished file of that name is there already.
enum class Existing : std::uint8_t {
  refuse,   ///< begin, unless that would throw finished tiles away
  resume,   ///< go on where the last run stopped; begin where there was none
  replace,  ///< begin, whatever is there
};

/// A Gram on its way into an HDF5 file K.h5. Until it is complete it lies in K.h5.part, already in its final form but
/// for tiles not yet written, and K.h5.journal says which are: neither a kill nor a full disk damages what is
/// finished. finish() renames, so that K.h5 is complete or absent.
class GramWriter {
 public:
  /// Error{usage} where `existing` forbids to go on, naming what differs from the work in the file; Error{input}
  /// where the unfinished file is damaged.
  GramWriter(const std::filesystem::path& path, Fingerprint fingerprint, Existing existing);
  /// Leaves an unfinished file in place if anything of it is finished.
  ~GramWriter();
  GramWriter(const GramWriter&) = delete;
  GramWriter& operator=(const GramWriter&) = delete;

  /// The file was complete before; nothing is to be done.
  [[nodiscard]] bool complete() const { return complete_; }
  /// An earlier run began it; create() is not to be called.
  [[nodiscard]] bool resumed() const { return resumed_; }

  /// Begins a file of `matrices`.
  void create(std::vector<TiledMatrix> matrices, const std::vector<NamedArray>& arrays, const std::string& settings);

  /// JSON text of a file that was complete, or that an earlier run began.
  [[nodiscard]] const std::string& settings() const { return settings_; }
  [[nodiscard]] const TiledMatrix& matrix(std::size_t k) const { return matrices_[k]; }
  [[nodiscard]] const TiledFile& file() const { return *file_; }
  /// Checksum with which an earlier run finished a tile.
  [[nodiscard]] std::optional<std::uint64_t> finished(std::uint64_t key) const;
  [[nodiscard]] const std::vector<Journal::Record>& records() const { return journal_->records(); }
  /// Tile `key` is written; from any thread.
  void record(std::uint64_t key, std::uint64_t sum);

  /// Throws `reason`, with what was finished and how to go on.
  [[noreturn]] void stop(const Error& reason) const;
  /// All tiles are written.
  void finish();
  /// What was begun is worth nothing.
  void discard();

 private:
  void resume_part();
  void check_complete();

  std::filesystem::path target_;
  std::filesystem::path part_;
  std::filesystem::path journal_path_;
  Fingerprint fingerprint_;
  std::string settings_;
  std::optional<Journal> journal_;
  std::optional<TiledFile> file_;
  std::optional<Unfinished> empty_part_;  ///< until a tile is finished there is nothing to go on with
  std::optional<Unfinished> empty_journal_;
  std::once_flag begun_;
  std::vector<TiledMatrix> matrices_;
  bool complete_ = false;
  bool settled_ = false;  ///< nothing is left to tidy up
  bool resumed_ = false;
};

/// Beside K.h5: where it lies until it is complete, and what of it is finished.
[[nodiscard]] std::filesystem::path part_of(const std::filesystem::path& path);
[[nodiscard]] std::filesystem::path journal_of(const std::filesystem::path& path);

}  // namespace widelimit
