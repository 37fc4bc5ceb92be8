#include "widelimit/data/formats/npz.hpp"

#include "widelimit/data/formats/npy.hpp"
#include "widelimit/data/formats/zip.hpp"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <memory>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view npy_ending = ".npy";

std::string array_name(const ZipFile::Member& member) {
  std::string name = member.name;
  if (name.ends_with(npy_ending)) name.resize(name.size() - npy_ending.size());
  return name;
}

Array read_array(const ZipFile& zip, const ZipFile::Member& member, const std::string& source,
                 const ReadLimits& limits) {
  return parse_npy(zip.read(member, limits), source + "/" + array_name(member), limits);
}

/// Members written by scipy.sparse.save_npz for a CSR matrix.
constexpr std::array<std::string_view, 5> sparse_names{"data", "indices", "indptr", "shape", "format"};

bool holds_sparse(const std::vector<std::string>& names) {
  return std::all_of(sparse_names.begin(), sparse_names.end(),
                     [&](std::string_view name) { return std::find(names.begin(), names.end(), name) != names.end(); });
}

/// Returns the elements of a one-dimensional array as double.
std::vector<double> numbers_of(const Array& array, std::string_view name, const std::string& source) {
  if (!array.texts.empty() || array.dims.size() != 1) {
    fail(Code::input, "{}/{}: this array of a sparse matrix must be a list of numbers", source, name);
  }
  return std::visit([](const auto& m) { return std::vector<double>(m.data(), m.data() + m.rows() * m.cols()); },
                    array.values);
}

/// Converts indices and checks that they are integers from 0 to `most`, since the file may be damaged.
template <typename Integer>
std::vector<Integer> places_of(const Array& array, std::string_view name, double most, const std::string& source) {
  std::vector<Integer> places;
  for (const double number : numbers_of(array, name, source)) {
    if (!(number >= 0 && number <= most && number == std::floor(number))) {
      fail(Code::input, "{}/{}: {} is outside the matrix", source, name, number);
    }
    places.push_back(static_cast<Integer>(number));
  }
  return places;
}

Dataset read_sparse(const ZipFile& zip, const ReadOptions& options) {
  const std::string& source = options.source;
  std::map<std::string, Array> arrays;
  for (const ZipFile::Member& member : zip.members()) {
    const std::string name = array_name(member);
    const bool requested = std::find(sparse_names.begin(), sparse_names.end(), name) != sparse_names.end();
    if (requested) arrays.insert_or_assign(name, read_array(zip, member, source, options.limits));
  }
  const std::vector<std::string>& format = arrays.at("format").texts;
  if (format.size() != 1 || format.front() != "csr") {
    fail(Code::input, "{}: sparse matrices of format '{}' are not supported; save its tocsr()", source,
         format.empty() ? "" : format.front());
  }
  constexpr double most_columns = std::numeric_limits<std::int32_t>::max();
  const std::vector<double> shape = numbers_of(arrays.at("shape"), "shape", source);
  if (shape.size() != 2 || !(shape[1] >= 1 && shape[1] <= most_columns)) {
    fail(Code::input, "{}: a sparse matrix with {} dimensions, or a number of columns outside 1 … {}", source,
         shape.size(), most_columns);
  }
  std::vector<double> values = numbers_of(arrays.at("data"), "data", source);
  const auto stored = static_cast<double>(values.size());
  Dataset data;
  data.name = source;
  data.shape = {1, 1, static_cast<Index>(shape[1])};
  data.values = SparseMatrix(data.shape.size(), places_of<std::int64_t>(arrays.at("indptr"), "indptr", stored, source),
                             places_of<std::int32_t>(arrays.at("indices"), "indices", shape[1] - 1, source),
                             std::move(values), source);
  require_finite(data.values, source);
  return data;
}

/// Arrays that were not requested are not decompressed.
Dataset read_samples(const ZipFile& zip, const ReadOptions& options) {
  std::vector<std::string> names;
  for (const ZipFile::Member& member : zip.members()) names.push_back(array_name(member));
  if (holds_sparse(names)) return read_sparse(zip, options);
  const ArrayChoice choice = choose_arrays(names, options);
  std::optional<Array> x;
  std::optional<Array> y;
  for (const ZipFile::Member& member : zip.members()) {
    const std::string name = array_name(member);
    if (name == choice.features) x = read_array(zip, member, options.source, options.limits);
    if (name == choice.label) y = read_array(zip, member, options.source, options.limits);
  }
  if (!x) fail(Code::input, "{}: array '{}' cannot be read", options.source, choice.features);
  return dataset_from_arrays(std::move(*x), y, options.source);
}

class ZipWriter {
 public:
  explicit ZipWriter(AtomicFile& file) : file_(file), handle_(archive_write_new(), &archive_write_free) {
    archive_write_set_format_zip(handle_.get());
    archive_write_zip_set_compression_store(handle_.get());
    check(archive_write_open_fd(handle_.get(), file.file().id()));
  }

  void begin(const std::string& name, std::size_t bytes) {
    const std::unique_ptr<archive_entry, decltype(&archive_entry_free)> entry(archive_entry_new(), &archive_entry_free);
    archive_entry_set_pathname(entry.get(), (name + std::string(npy_ending)).c_str());
    archive_entry_set_filetype(entry.get(), AE_IFREG);
    archive_entry_set_perm(entry.get(), 0644);
    archive_entry_set_size(entry.get(), static_cast<la_int64_t>(bytes));
    check(archive_write_header(handle_.get(), entry.get()));
  }
  void write(Bytes bytes) {
    while (!bytes.empty()) {
      const auto put = archive_write_data(handle_.get(), bytes.data(), bytes.size());
      if (put <= 0) check(ARCHIVE_FATAL);
      bytes = bytes.subspan(static_cast<std::size_t>(put));
    }
  }
  void finish() { check(archive_write_close(handle_.get())); }

 private:
  void check(int outcome) {
    if (outcome == ARCHIVE_OK) return;
    const char* reason = archive_error_string(handle_.get());
    fail(Code::resource, "cannot write '{}': {}; free some space or choose another path", file_.target().string(),
         reason != nullptr ? reason : "unknown reason");
  }

  AtomicFile& file_;
  std::unique_ptr<archive, decltype(&archive_write_free)> handle_;
};

std::string_view descr(const MatrixView<const float>&) { return "<f4"; }
std::string_view descr(const MatrixView<const double>&) { return "<f8"; }
std::string_view descr(const MatrixView<const std::int64_t>&) { return "<i8"; }

void write_array(ZipWriter& zip, const NamedArray& array) {
  const std::vector<Index> dims = array.checked_dims();
  std::visit(
      [&](const auto& view) {
        using Number = std::decay_t<decltype(*view.data)>;
        const std::string header = npy_header(descr(view), dims);
        zip.begin(array.name, header.size() + static_cast<std::size_t>(view.rows * view.cols) * sizeof(Number));
        zip.write(as_bytes(header));
        for (Index i = 0; i < view.rows; ++i) {
          zip.write(std::as_bytes(std::span(view.row(i), static_cast<std::size_t>(view.cols))));
        }
      },
      array.values);
}

}  // namespace

Dataset parse_npz(Bytes bytes, const ReadOptions& options) {
  return read_samples(ZipFile(bytes, options.source), options);
}

Dataset read_npz(const fs::path& path, const ReadOptions& options) { return read_samples(ZipFile(path), options); }

ArrayFile read_npz_arrays(const fs::path& path, const ReadLimits& limits) {
  ArrayFile file;
  const ZipFile zip(path);
  for (const ZipFile::Member& member : zip.members()) {
    Array array = read_array(zip, member, path.string(), limits);
    if (array_name(member) == settings_name && array.texts.size() == 1) {
      file.settings = array.texts.front();
    } else {
      file.arrays.insert_or_assign(array_name(member), std::move(array));
    }
  }
  return file;
}

void write_npz(const fs::path& path, const std::vector<NamedArray>& arrays, std::string_view settings) {
  static_assert(std::endian::native == std::endian::little, "the types below are written as they lie in memory");
  AtomicFile file(path);
  {
    ZipWriter zip(file);
    for (const NamedArray& array : arrays) write_array(zip, array);
    // Stored as bytes: NumPy's text type takes four bytes per character. At least one byte, since NumPy has no empty
    // type.
    const std::string text = settings.empty() ? std::string(1, '\0') : std::string(settings);
    const std::string header = npy_header(fmt::format("|S{}", text.size()), {});
    zip.begin(std::string(settings_name), header.size() + text.size());
    zip.write(as_bytes(header));
    zip.write(as_bytes(text));
    zip.finish();
  }
  file.commit();
}

}  // namespace widelimit
