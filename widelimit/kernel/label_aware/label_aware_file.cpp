#include "widelimit/kernel/label_aware/label_aware_file.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/clock.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/interruption.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/transpose.hpp"
#include "widelimit/data/file/file.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/file/file_sink.hpp"
#include "widelimit/kernel/label_aware/label_aware_text.hpp"
#include "widelimit/kernel/label_aware/pair_estimate.hpp"
#include "widelimit/kernel/label_aware/pair_tiles.hpp"

#include <algorithm>

namespace widelimit {

namespace {

/// Edge of the tiles, equal to the chunks of the file.
constexpr Index tile_edge = 512;
constexpr unsigned place_bits = 48;

void check_request(const LabelAwareOptions& aware) {
  if (aware.method == LabelAwareMethod::kr2) {
    fail(Code::usage, "kr2 factorises the whole kernel in memory and does not support files; choose kr1 or linear");
  }
  if (aware.psd != Psd::none) {
    fail(Code::usage,
         "psd = {} needs all eigenvalues, hence the whole kernel in memory; choose none for kernels in files",
         to_string(aware.psd));
  }
}

/// The output and its unfinished files must not replace the kernel while it is read.
void check_paths(const std::filesystem::path& out, const std::filesystem::path& theta) {
  for (const std::filesystem::path& written : {out, part_of(out), journal_of(out)}) {
    if (!same_file(written, theta)) continue;
    fail(Code::usage, "'{}' holds the kernel to read and would be overwritten; write to another file", theta.string());
  }
}

/// Memory that remains for blocks after a strip of rows and its transpose, a tile and its mirror image.
std::size_t block_memory(Index samples, const std::optional<std::size_t>& allowed) {
  const std::size_t needed = sizeof(double) * usize(2 * pair_strip * samples + 3 * tile_edge * tile_edge);
  const std::size_t memory = allowed.value_or(half_of_memory());
  if (memory <= needed) {
    fail(Code::resource, {Remedy::more_memory},
         "strips of the kernel need {} of memory, but only {} are allowed; allow more",
         bytes_text(static_cast<double>(needed)), bytes_text(static_cast<double>(memory)));
  }
  return memory - needed;
}

/// λ and the coefficients identify the fit, which depends on the kernel, the samples and the labels.
Fingerprint fingerprint_of(const LabelAware& aware, const GramFile& train, const std::optional<GramFile>& test,
                           const PairSources& sources) {
  const LabelAwareText text = label_aware_text(aware);
  Fingerprint result{
      {"label_aware", text.json}, {"samples", train.rows()}, {"precision", to_string(train.precision())}};
  if (sources.train) result["train"] = describe_samples(*sources.train);
  if (test) result["test_samples"] = test->rows();
  if (test && sources.test) result["test"] = describe_samples(*sources.test);
  return result;
}

TiledMatrix matrix_of(std::string name, const GramFile& theta) {
  return {std::move(name),
          theta.precision(),
          theta.rows(),
          theta.cols(),
          std::min(theta.rows(), tile_edge),
          std::min(theta.cols(), tile_edge),
          0};
}

/// All tiles of the test kernel; the tiles on and above the diagonal of the training kernel, which is symmetric.
std::vector<Tile> tiles_of(const GramFile& theta, bool test) {
  std::vector<Tile> tiles;
  for (const Range rows : cut({0, theta.rows()}, tile_edge)) {
    for (const Range cols : cut({test ? 0 : rows.begin, theta.cols()}, tile_edge)) tiles.push_back({rows, cols});
  }
  return tiles;
}

/// Identifies a tile in the journal.
std::uint64_t key_of(const Tile& tile, const GramFile& theta, bool test) {
  return std::uint64_t{test} << place_bits |
         static_cast<std::uint64_t>(tile.rows.begin * theta.cols() + tile.cols.begin);
}

/// Number of pairs without the tiles that the journal holds.
Index pairs_left(const GramFile& theta, bool test, const GramWriter& file) {
  Index pairs = 0;
  for (const Tile& tile : tiles_of(theta, test))
    pairs += file.finished(key_of(tile, theta, test)) ? 0 : tile.rows.size() * tile.cols.size();
  return pairs;
}

/// Number of test pairs that kernel regression clamps to the range of the training pairs, in tiles of any run.
Index clamped_pairs(const LabelAware& aware, const GramFile& test) {
  const auto* smoother = std::get_if<PairSmoother>(&aware.estimate);
  if (smoother == nullptr) return 0;
  Index clamped = 0;
  for (const Tile& tile : tiles_of(test, true)) {
    Matrix<double> theta(tile.rows.size(), tile.cols.size(), Content::unset);
    test.read(tile.rows.begin, tile.cols.begin, theta.view());
    clamped += std::count_if(theta.data(), theta.data() + theta.rows() * theta.cols(),
                             [&](double entry) { return !smoother->covers(entry); });
  }
  return clamped;
}

/// Writes the tiles of one matrix sequentially; the threads share the pairs of a tile.
template <typename T>
class TileWriter {
 public:
  TileWriter(const PairEstimator& z, double lambda, bool test, const GramFile& theta, GramWriter& file,
             const Engine& engine, PairProgress& progress)
      : z_(z), lambda_(lambda), test_(test), theta_(theta), file_(file), engine_(engine), progress_(progress) {}

  void write_all() {
    for (const Tile& tile : tiles_of(theta_, test_)) {
      interruption_point();
      if (!kept(tile.rows, tile.cols)) write(tile.rows, tile.cols);
      progress_.report();
    }
  }
  [[nodiscard]] const EntryCount& count() const { return count_; }
  [[nodiscard]] double kept_pairs() const { return kept_pairs_; }

 private:
  [[nodiscard]] const TiledMatrix& matrix() const { return file_.matrix(test_ ? 1 : 0); }
  [[nodiscard]] bool mirrored(Range rows, Range cols) const { return !test_ && rows.begin != cols.begin; }
  [[nodiscard]] std::uint64_t key(Range rows, Range cols) const { return key_of({rows, cols}, theta_, test_); }

  void remember(const Matrix<T>& tile, Range rows, Range cols) {
    EntryCount count;
    for (Index i = 0; i < tile.rows(); ++i) {
      for (Index j = 0; j < tile.cols(); ++j) {
        const auto entry = static_cast<double>(tile(i, j));
        count.smallest = std::min(count.smallest, entry);
        count.largest = std::max(count.largest, entry);
        count.sum += (mirrored(rows, cols) ? 2 : 1) * entry;
      }
      if (!test_ && rows.begin == cols.begin) count.trace += static_cast<double>(tile(i, i));
    }
    count_.add(count);
  }

  /// Checksum that depends on the position of the tile.
  std::uint64_t sum_of(const Matrix<T>& tile, Range rows, Range cols) const {
    const auto entries = std::as_bytes(std::span(tile.data(), usize(tile.rows() * tile.cols())));
    return checksum(entries, key(rows, cols));
  }

  /// Whether a previous run finished a tile and its mirror image, and both match the recorded checksum.
  bool kept(Range rows, Range cols) {
    const auto expected = file_.finished(key(rows, cols));
    if (!expected) return false;
    Matrix<T> tile(rows.size(), cols.size(), Content::unset);
    file_.file().read(matrix(), rows.begin, cols.begin, tile.view());
    if (sum_of(tile, rows, cols) != *expected) return false;
    if (mirrored(rows, cols)) {
      Matrix<T> lower(cols.size(), rows.size(), Content::unset);
      file_.file().read(matrix(), cols.begin, rows.begin, lower.view());
      Matrix<T> turned(rows.size(), cols.size(), Content::unset);
      transpose(MatrixView<const T>(lower.view()), turned.view());
      if (sum_of(turned, rows, cols) != *expected) return false;
    }
    remember(tile, rows, cols);
    kept_pairs_ += static_cast<double>(rows.size() * cols.size());
    return true;
  }

  void write(Range rows, Range cols) {
    Matrix<double> entries(rows.size(), cols.size(), Content::unset);
    theta_.read(rows.begin, cols.begin, entries.view());
    add_to_strip(z_, lambda_, rows, cols.begin, test_, entries.view(), engine_);
    if (!test_ && rows.begin == cols.begin) mirror_upper(entries.view());
    Matrix<T> tile(rows.size(), cols.size(), Content::unset);
    std::transform(entries.data(), entries.data() + rows.size() * cols.size(), tile.data(),
                   [](double entry) { return static_cast<T>(entry); });
    file_.file().write(matrix(), rows.begin, cols.begin, MatrixView<const T>(tile.view()));
    if (mirrored(rows, cols)) {
      Matrix<T> lower(cols.size(), rows.size(), Content::unset);
      transpose(MatrixView<const T>(tile.view()), lower.view());
      file_.file().write(matrix(), cols.begin, rows.begin, MatrixView<const T>(lower.view()));
    }
    remember(tile, rows, cols);
    file_.record(key(rows, cols), sum_of(tile, rows, cols));
    progress_.add(rows.size() * cols.size());
  }

  const PairEstimator& z_;
  double lambda_;
  bool test_;
  const GramFile& theta_;
  GramWriter& file_;
  const Engine& engine_;
  PairProgress& progress_;
  EntryCount count_;
  double kept_pairs_ = 0;
};

void write_tiles(const LabelAware& aware, KernelPart part, const GramFile& theta, const PairSources& sources,
                 GramWriter& file, const Engine& engine, PairProgress& progress, LabelAwareFileSummary& summary) {
  const PairEstimator z(aware, part, sources);
  const bool test = part == KernelPart::test;
  const auto write = [&](auto writer) {
    writer.write_all();
    summary.pairs_kept += writer.kept_pairs();
    writer.count().write(!test, summary.matrices[test ? 1 : 0].entries);
  };
  if (theta.precision() == Precision::f32) {
    write(TileWriter<float>(z, aware.lambda, test, theta, file, engine, progress));
  } else {
    write(TileWriter<double>(z, aware.lambda, test, theta, file, engine, progress));
  }
}

}  // namespace

LabelAwareFileSummary write_label_aware(const std::filesystem::path& path, const StoredKernel& theta,
                                        const PairSources& sources, std::span<const Index> labels, Index classes,
                                        const LabelAwareFileOptions& options, const Engine& engine) {
  const Interruptible interruptible(options.progress);
  const auto start = Clock::now();
  check_request(options.aware);
  check_paths(path, theta.path);
  const GramFile train(theta.path, theta.name);
  std::optional<GramFile> test;
  if (theta.test) test.emplace(theta.path, "test_" + theta.name);
  if (test) check_test_kernel(options.aware.method, sources, test->rows(), test->cols(), train.rows());
  const std::size_t memory = block_memory(train.rows(), options.memory);
  if (options.existing == Existing::refuse && std::filesystem::exists(part_of(path))) {
    fail(Code::usage, {Remedy::resume, Remedy::begin_again},
         "'{}' holds an unfinished label-aware kernel; resume it, or begin again", part_of(path).string());
  }
  LabelAwareFileSummary summary;
  summary.made.aware = fit_label_aware(file_gram(GramFile(theta.path, theta.name), engine, memory, options.progress),
                                       sources, labels, classes, options.aware, options.progress);
  check_sources(summary.made.aware, KernelPart::train, sources, train.rows(), train.cols());
  if (test) {
    check_sources(summary.made.aware, KernelPart::test, sources, test->rows(), test->cols());
    summary.made.beyond = clamped_pairs(summary.made.aware, *test);
  }
  std::vector<TiledMatrix> matrices{matrix_of("label_aware", train)};
  if (test) matrices.push_back(matrix_of("test_label_aware", *test));
  for (const TiledMatrix& matrix : matrices) {
    summary.matrices.push_back({matrix.name, {.rows = matrix.rows, .cols = matrix.cols}});
  }
  GramWriter file(path, fingerprint_of(summary.made.aware, train, test, sources), options.existing);
  summary.complete_before = file.complete();
  if (file.complete()) return summary;
  const Index pairs = pairs_left(train, false, file) + (test ? pairs_left(*test, true, file) : 0);
  PairProgress progress(options.progress, pairs);
  try {
    if (!file.resumed()) {
      file.create(matrices, options.beside,
                  options.settings.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
    }
    write_tiles(summary.made.aware, KernelPart::train, train, sources, file, engine, progress, summary);
    if (test) write_tiles(summary.made.aware, KernelPart::test, *test, sources, file, engine, progress, summary);
    file.finish();
  } catch (const Error& error) {
    if (error.code() != Code::interrupted && error.code() != Code::resource) throw;
    file.stop(error);
  }
  summary.pairs = static_cast<double>(progress.done());
  summary.seconds = seconds_since(start);
  return summary;
}

}  // namespace widelimit
