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

/// A kind of file that widelimit writes and reads back: HDF5 arrays, and the attribute "settings", JSON
/// {"format": name, "format_number": …, "checksum": "…", key: {description}}. The checksum is of the description, as it
/// is printed without blanks, and then of the arrays.
struct SealedFormat {
  std::string_view name;  ///< "widelimit model"
  int number = 1;         ///< raised when an older program could no longer read what a newer one writes
  const char* key;        ///< where the description stands: "model"
  const char* article;    ///< "a model"
  const char* writer;     ///< "save a trained network to make one"
};

using Description = nlohmann::ordered_json;

/// Complete or absent; Error{resource} where it cannot be written, Error{usage} where the name does not say that it is
/// HDF5: .h5 or .hdf5.
void write_sealed(const std::filesystem::path& path, const SealedFormat& format, const Description& description,
                  const std::vector<NamedArray>& arrays);

/// A file that is what it was when it was written.
class SealedFile {
 public:
  /// `names`: its arrays in the order in which the checksum takes them. Error{input} where the file is none of this
  /// format, of a later one, or damaged.
  SealedFile(ArrayFile file, const SealedFormat& format, std::span<const std::string> names);

  [[nodiscard]] const Description& description() const { return description_; }
  /// Each array can be taken once. Error{input} where it is not of the form that is asked for.
  [[nodiscard]] AnyMatrix take(const std::string& name);
  [[nodiscard]] Matrix<double> take_doubles(const std::string& name);
  [[nodiscard]] std::vector<double> take_column(const std::string& name);

 private:
  ArrayFile file_;
  Description description_;
};

/// Runs `read`, and turns every Error of what the file says, and JSON that lacks a field, into an Error{input} of
/// `source`.
void reading_sealed(const std::string& source, const SealedFormat& format, const std::function<void()>& read);

}  // namespace widelimit
