#pragma once

#include "widelimit/base/error.hpp"
#include "widelimit/base/samples.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/data/file/journal.hpp"
#include "widelimit/data/hdf5/tiled_hdf5.hpp"

#include <nlohmann/json.hpp>

#include <cstdint>
#include <mutex>
#include <optional>
#include <string>

namespace widelimit {

/// Identity of a stored Gram matrix: samples, network, kind, precision. Equal fingerprints denote the same computation,
/// independent of machine, back end, memory and number of threads.
using Fingerprint = nlohmann::ordered_json;

/// Returns e.g. "1797 samples of 8x8x1, checksum 0f3c…"; depends on every value, its type and the order of the
/// samples. O(n·d)
[[nodiscard]] std::string describe_samples(const SampleView& x);

/// Returns e.g. "precision: f32 there, f64 here; …"; empty if both are equal.
[[nodiscard]] std::string difference(const Fingerprint& there, const Fingerprint& here);

/// Behaviour if a finished or unfinished file of that name exists.
enum class Existing : std::uint8_t {
  refuse,   ///< start, but fail if finished tiles would be lost
  resume,   ///< continue the previous run; start if there is none
  replace,  ///< start and overwrite
};

/// Writer of a Gram matrix to an HDF5 file K.h5. The unfinished file is K.h5.part, in the final format except for
/// missing tiles; K.h5.journal lists the finished tiles, so that neither a kill nor a full disk damages finished work.
/// finish() renames the file, so that K.h5 is either complete or absent.
class GramWriter {
 public:
  /// Throws Error{usage} naming the differences if `existing` does not allow to continue, Error{input} if the
  /// unfinished file is damaged.
  GramWriter(const std::filesystem::path& path, Fingerprint fingerprint, Existing existing);
  /// Keeps an unfinished file if it contains finished tiles.
  ~GramWriter();
  GramWriter(const GramWriter&) = delete;
  GramWriter& operator=(const GramWriter&) = delete;

  /// The file was already complete; there is nothing to compute.
  [[nodiscard]] bool complete() const { return complete_; }
  /// A previous run started the file; create() must not be called.
  [[nodiscard]] bool resumed() const { return resumed_; }

  /// Creates a file with `matrices`.
  void create(std::vector<TiledMatrix> matrices, const std::vector<NamedArray>& arrays, const std::string& settings);

  /// Settings as JSON text, of a file that was complete or resumed.
  [[nodiscard]] const std::string& settings() const { return settings_; }
  [[nodiscard]] const TiledMatrix& matrix(std::size_t k) const { return matrices_[k]; }
  [[nodiscard]] const TiledFile& file() const { return *file_; }
  /// Checksum recorded by a previous run for a finished tile.
  [[nodiscard]] std::optional<std::uint64_t> finished(std::uint64_t key) const;
  [[nodiscard]] const std::vector<Journal::Record>& records() const { return journal_->records(); }
  /// Records that tile `key` is written. Thread-safe.
  void record(std::uint64_t key, std::uint64_t sum);

  /// Throws `reason`, extended by the progress so far and how to continue.
  [[noreturn]] void stop(const Error& reason) const;
  /// Finalises the file after all tiles are written.
  void finish();
  /// Deletes the unfinished file.
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
  std::optional<Unfinished> empty_part_;  ///< removed on destruction unless a tile was finished
  std::optional<Unfinished> empty_journal_;
  std::once_flag begun_;
  std::vector<TiledMatrix> matrices_;
  bool complete_ = false;
  bool settled_ = false;  ///< the destructor has nothing to clean up
  bool resumed_ = false;
};

/// Paths of the unfinished file and of the journal that belong to K.h5.
[[nodiscard]] std::filesystem::path part_of(const std::filesystem::path& path);
[[nodiscard]] std::filesystem::path journal_of(const std::filesystem::path& path);

}  // namespace widelimit
