#include "widelimit/kernel/file/stored_gram.hpp"

#include "widelimit/base/memory.hpp"
#include "widelimit/data/formats/array_file.hpp"
#include "widelimit/kernel/file/gram_store.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace widelimit {

namespace fs = std::filesystem;

namespace {

Hdf5Blocks open_complete(const fs::path& given) {
  std::error_code ignored;
  // Asked for under its working name, it is no more complete.
  const fs::path path = given.extension() == ".part" ? fs::path(given).replace_extension() : given;
  const bool begun = fs::exists(journal_of(path), ignored) && fs::exists(part_of(path), ignored);
  if (begun && (given != path || !fs::exists(path, ignored))) {
    fail(Code::input,
         "'{}' is not complete: its computation was stopped; run the same command again with --resume (Python: "
         "resume=True)",
         path.string());
  }
  return Hdf5Blocks(given);
}

std::vector<std::string> names_of(const Hdf5Blocks& file) {
  std::vector<std::string> names;
  for (const auto& matrix : file.matrices()) names.push_back(matrix.name);
  return names;
}

Hdf5Blocks::Extent choose(const Hdf5Blocks& file, const std::optional<std::string>& wanted, const fs::path& path) {
  const auto find = [&](std::string_view name) {
    const auto& all = file.matrices();
    return std::find_if(all.begin(), all.end(), [&](const auto& matrix) { return matrix.name == name; });
  };
  const auto end = file.matrices().end();
  if (wanted) {
    if (const auto found = find(*wanted); found != end) return *found;
    fail(Code::input, "'{}' has no matrix '{}'; it has: {}", path.string(), *wanted, fmt::join(names_of(file), ", "));
  }
  for (const char* usual : {"ntk", "nngp", "kernel"}) {
    if (const auto found = find(usual); found != end) return *found;
  }
  if (file.matrices().size() == 1) return file.matrices().front();
  fail(Code::input, "'{}' holds {}; say which matrix", path.string(),
       file.matrices().empty() ? "no matrix" : fmt::format("{}", fmt::join(names_of(file), ", ")));
}

}  // namespace

StoredGram::StoredGram(const fs::path& path, const std::optional<std::string>& name)
    : file_(open_complete(path)),
      matrix_(choose(file_, name, path)),
      settings_(file_.text(std::string(settings_name))) {}

std::vector<std::string> StoredGram::names() const { return names_of(file_); }

AnyMatrix StoredGram::read(Index row, Index col, Index rows, Index cols) const {
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
  const double entry = matrix_.precision == Precision::f32 ? sizeof(float) : sizeof(double);
  require_memory(entry * static_cast<double>(rows) * static_cast<double>(cols), std::nullopt,
                 fmt::format("a block of {} × {} of {}", rows, cols, matrix_.name), "read smaller blocks");
  return matrix_.precision == Precision::f32 ? filled(Matrix<float>(rows, cols)) : filled(Matrix<double>(rows, cols));
}

}  // namespace widelimit
