#include "widelimit/kernel/file/gram_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/parallel.hpp"
#include "widelimit/data/formats/array_file.hpp"
#include "widelimit/engine/tiles.hpp"
#include "widelimit/kernel/block_product.hpp"
#include "widelimit/kernel/file/gram_writer.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

Hdf5Blocks open_complete(const fs::path& given) {
  std::error_code ignored;
  // A file opened by its .part name is incomplete as well.
  const fs::path path = given.extension() == ".part" ? fs::path(given).replace_extension() : given;
  const bool begun = fs::exists(journal_of(path), ignored) && fs::exists(part_of(path), ignored);
  if (begun && (given != path || !fs::exists(path, ignored))) {
    fail(Code::input, {Remedy::resume}, "'{}' is not complete: its computation was stopped; resume that first",
         path.string());
  }
  return Hdf5Blocks(given);
}

std::vector<std::string> names_of(const Hdf5Blocks& file) {
  std::vector<std::string> names;
  for (const auto& matrix : file.matrices()) names.push_back(matrix.name);
  return names;
}

Hdf5Blocks::Extent choose(const Hdf5Blocks& file, const std::optional<std::string>& requested, const fs::path& path) {
  const auto find = [&](std::string_view name) {
    const auto& all = file.matrices();
    return std::find_if(all.begin(), all.end(), [&](const auto& matrix) { return matrix.name == name; });
  };
  const auto end = file.matrices().end();
  if (requested) {
    if (const auto found = find(*requested); found != end) return *found;
    fail(Code::input, "'{}' has no matrix '{}'; it has: {}", path.string(), *requested,
         fmt::join(names_of(file), ", "));
  }
  for (const char* usual : {"ntk", "nngp", "kernel"}) {
    if (const auto found = find(usual); found != end) return *found;
  }
  if (file.matrices().size() == 1) return file.matrices().front();
  fail(Code::input, "'{}' holds {}; say which matrix", path.string(),
       file.matrices().empty() ? "no matrix" : fmt::format("{}", fmt::join(names_of(file), ", ")));
}

/// Edge of the chunks that HDF5 reads at a time.
constexpr Index chunk = 512;
/// Reads the file block by block; one block at a time is on the engine.
class FileSource final : public GramSource {
 public:
  FileSource(GramFile file, const Engine& engine, std::size_t memory, Progress* progress)
      : file_(std::move(file)), engine_(engine), edge_(block_edge(file_, memory)) {
    if (file_.rows() != file_.cols()) {
      fail(Code::input, "a Gram matrix is square; '{}' is {} by {}", file_.name(), file_.rows(), file_.cols());
    }
    read_diagonal();
    check(progress);
  }

  [[nodiscard]] const Engine& engine() const override { return engine_; }
  [[nodiscard]] Index samples() const override { return file_.rows(); }
  [[nodiscard]] Precision precision() const override { return file_.precision(); }
  [[nodiscard]] std::vector<double> diagonal() const override { return diagonal_; }
  /// Reads runs of consecutive samples at once, since HDF5 reads whole chunks for any request.
  [[nodiscard]] Matrix<double> columns(std::span<const Index> chosen) const override {
    Matrix<double> result(samples(), std::ssize(chosen), Content::unset);
    for (Index begin = 0; begin < std::ssize(chosen);) {
      Index count = 1;
      while (count < chunk && begin + count < std::ssize(chosen) &&
             chosen[usize(begin + count)] == chosen[usize(begin)] + count) {
        ++count;
      }
      Matrix<double> rows(count, samples(), Content::unset);
      file_.read(chosen[usize(begin)], 0, rows.view());
      for (Index i = 0; i < samples(); ++i) {
        for (Index j = 0; j < count; ++j) result(i, begin + j) = rows(j, i);
      }
      begin += count;
    }
    return result;
  }
  void multiply(MatrixView<const double> v, MatrixView<double> out, Progress* progress) const override {
    for (Index i = 0; i < out.rows; ++i) std::fill_n(out.row(i), out.cols, 0.0);
    ProgressTicker ticker(progress, pairs(), "pairs");
    Index done = 0;
    each_block({0, samples()}, {0, samples()}, edge_, [&](Range rows, Range cols) {
      const AnyMatrix block = read(rows, cols);
      add_block_product(engine_.algebra(), engine_.algebra().hold(view_of(block)), rows, cols, v, out);
      ticker.at(done += Tile{rows, cols}.upper_pairs());
    });
  }
  /// Approximate cost of reading and copying a number.
  [[nodiscard]] double entry_cost() const override { return 20; }
  [[nodiscard]] std::size_t bytes() const override { return usize(edge_ * edge_) * size_of(precision()); }

 private:
  /// Two blocks are in memory while the triangles are compared. A multiple of the chunk size if one chunk fits.
  static Index block_edge(const GramFile& file, std::size_t memory) {
    const std::size_t entries = memory / (2 * size_of(file.precision()));
    const auto fits = static_cast<Index>(std::sqrt(static_cast<double>(entries)));
    if (fits < 1)
      fail(Code::resource, "{} bytes of memory cannot hold an entry of '{}'; allow more", memory, file.name());
    return std::min(std::max<Index>(1, file.rows()), fits < chunk ? fits : fits / chunk * chunk);
  }
  [[nodiscard]] Index pairs() const { return samples() * (samples() + 1) / 2; }
  [[nodiscard]] AnyMatrix read(Range rows, Range cols) const {
    return file_.read(rows.begin, cols.begin, rows.size(), cols.size());
  }

  void read_diagonal() {
    for (Index begin = 0; begin < samples(); begin += chunk) {
      const Index size = std::min(chunk, samples() - begin);
      Matrix<double> square(size, size, Content::unset);
      file_.read(begin, begin, square.view());
      for (Index i = 0; i < size; ++i) diagonal_.push_back(square(i, i));
    }
  }

  void check(Progress* progress) const {
    ProgressTicker ticker(progress, pairs(), "pairs");
    Index done = 0;
    each_block({0, samples()}, {0, samples()}, edge_, [&](Range rows, Range cols) {
      const AnyMatrix upper = read(rows, cols);
      const AnyMatrix lower = rows.begin == cols.begin ? AnyMatrix() : read(cols, rows);
      std::visit(
          [&]<typename T>(const Matrix<T>& block) {
            const Matrix<T>& mirror = rows.begin == cols.begin ? block : std::get<Matrix<T>>(lower);
            compare(block.view(), mirror.view(), rows, cols);
          },
          upper);
      ticker.at(done += Tile{rows, cols}.upper_pairs());
    });
  }

  template <typename T>
  void compare(MatrixView<const T> upper, MatrixView<const T> lower, Range rows, Range cols) const {
    const double allowed = asymmetry_ulps * static_cast<double>(std::numeric_limits<T>::epsilon());
    for (Index i = 0; i < upper.rows; ++i) {
      for (Index j = 0; j < upper.cols; ++j) {
        const auto above = static_cast<double>(upper(i, j));
        const auto below = static_cast<double>(lower(j, i));
        const Index row = rows.begin + i;
        const Index col = cols.begin + j;
        if (!std::isfinite(above) || !std::isfinite(below)) {
          fail(Code::input, "entry ({}, {}) of '{}' is {}", row, col, file_.name(),
               std::isfinite(above) ? below : above);
        }
        const double scale = std::sqrt(std::abs(diagonal_[usize(row)])) * std::sqrt(std::abs(diagonal_[usize(col)]));
        if (std::abs(above - below) > allowed * scale) {
          fail(Code::input, "'{}' is not symmetric: entry ({}, {}) is {}, entry ({}, {}) is {}", file_.name(), row, col,
               upper(i, j), col, row, lower(j, i));
        }
      }
    }
  }

  GramFile file_;
  const Engine& engine_;
  Index edge_;
  std::vector<double> diagonal_;
};

}  // namespace

GramMatrix file_gram(GramFile file, const Engine& engine, std::size_t memory, Progress* progress) {
  return GramMatrix(std::make_shared<FileSource>(std::move(file), engine, memory, progress));
}

GramFile::GramFile(const fs::path& path, const std::optional<std::string>& name)
    : file_(open_complete(path)),
      matrix_(choose(file_, name, path)),
      settings_(file_.text(std::string(settings_name))) {}

std::vector<std::string> GramFile::names() const { return names_of(file_); }

AnyMatrix GramFile::read(Index row, Index col, Index rows, Index cols) const {
  const auto filled = [&](auto matrix) {
    file_.read(matrix_, row, col, matrix.view());
    return AnyMatrix(std::move(matrix));
  };
  const Index height = std::clamp<Index>(rows, 0, matrix_.rows);
  const Index width = std::clamp<Index>(cols, 0, matrix_.cols);
  if (height != rows || width != cols) {
    fail(Code::usage, "a block of {} × {} is larger than {}, which is {} × {}", rows, cols, matrix_.name, matrix_.rows,
         matrix_.cols);
  }
  const auto entry = static_cast<double>(size_of(matrix_.precision));
  require_memory(entry * static_cast<double>(rows) * static_cast<double>(cols), std::nullopt,
                 fmt::format("a block of {} × {} of {}", rows, cols, matrix_.name), "read smaller blocks", {});
  return matrix_.precision == Precision::f32 ? filled(Matrix<float>(rows, cols)) : filled(Matrix<double>(rows, cols));
}

}  // namespace widelimit
