#pragma once

#include "widelimit/data/formats/array_file.hpp"
#include "widelimit/data/formats/bytes.hpp"

#include <nlohmann/json.hpp>

#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Format of files that widelimit writes and reads: HDF5 arrays, and the attribute "settings", JSON {"format": name,
/// "format_number": …, "checksum": "…", key: {description}}. The checksum covers the description, printed without
/// whitespace, and then the arrays.
struct SealedFormat {
  std::string_view name;  ///< "widelimit model"
  int number = 1;         ///< incremented if older versions cannot read the new files
  const char* key;        ///< JSON key of the description: "model"
  const char* article;    ///< "a model"
  const char* writer;     ///< "save a trained network to make one"
};

using Description = nlohmann::ordered_json;

/// Writes the file atomically. Throws Error{resource} if it cannot be written, Error{usage} unless the name ends in .h5
/// or .hdf5.
void write_sealed(const std::filesystem::path& path, const SealedFormat& format, const Description& description,
                  const std::vector<NamedArray>& arrays);

/// File whose checksum was verified.
class SealedFile {
 public:
  /// `names`: its arrays in checksum order. Throws Error{input} if the file has another format, is of a later format
  /// number, or is damaged.
  SealedFile(ArrayFile file, const SealedFormat& format, std::span<const std::string> names);

  [[nodiscard]] const Description& description() const { return description_; }
  /// Each moves an array out, so it can be called once per array. Throws Error{input} if the array has another type or
  /// shape.
  [[nodiscard]] AnyMatrix take(const std::string& name);
  [[nodiscard]] Matrix<double> take_doubles(const std::string& name);
  [[nodiscard]] std::vector<double> take_column(const std::string& name);

 private:
  ArrayFile file_;
  Description description_;
};

/// Runs `read` and converts every Error about the file's content, and JSON errors, to Error{input} with `source`.
void reading_sealed(const std::string& source, const SealedFormat& format, const std::function<void()>& read);

}  // namespace widelimit
