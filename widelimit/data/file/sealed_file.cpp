#include "widelimit/data/file/sealed_file.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"

#include <array>

namespace widelimit {

namespace {

std::string printed(const Description& json) {
  return json.dump(-1, ' ', false, Description::error_handler_t::replace);
}

template <typename T>
std::uint64_t add_checksum(const T* numbers, Index rows, Index cols, std::uint64_t seed) {
  const std::array<std::int64_t, 3> size{sizeof(T), rows, cols};
  seed = checksum(std::as_bytes(std::span(size)), seed);
  return checksum(std::as_bytes(std::span(numbers, static_cast<std::size_t>(rows * cols))), seed);
}

/// Integers are converted to double, as the reader does.
std::uint64_t add_checksum(const std::int64_t* numbers, Index rows, Index cols, std::uint64_t seed) {
  const std::vector<double> read(numbers, numbers + rows * cols);
  return add_checksum(read.data(), rows, cols, seed);
}

std::string checksum_text(std::uint64_t sum) { return fmt::format("{:016x}", sum); }

/// Returns the version that wrote a file of a later format, if it is recorded at the known place.
std::string writer_of(const Description& settings, const SealedFormat& format) {
  const Description::json_pointer place(fmt::format("/{}/version", format.key));
  if (!settings.contains(place) || !settings.at(place).is_string()) return "of a later version";
  return settings.at(place).get<std::string>();
}

/// Formats that users confuse, with the function that reads each.
struct OtherFormat {
  std::string_view name;
  const char* what;
};
constexpr std::array<OtherFormat, 2> other_formats{
    {{"widelimit model", "a fitted model; load_model reads it"},
     {"widelimit network", "a trained network of finite width; load_network reads it"}}};

[[noreturn]] void refuse_format(const Description& json, const SealedFormat& format) {
  for (const OtherFormat& other : other_formats) {
    if (json.is_object() && json.contains("format") && json["format"] == other.name) {
      fail(Code::input, "it is not {} but {}", format.article, other.what);
    }
  }
  fail(Code::input, "it is not {} of widelimit; {}", format.article, format.writer);
}

Description parsed_settings(const std::string& settings, const SealedFormat& format) {
  // Levels deeper than in any valid file are dropped during parsing, so that no recursion overflows the stack.
  constexpr int deepest = 4;
  const auto shallow = [](int depth, Description::parse_event_t, const Description&) { return depth <= deepest; };
  const Description json = Description::parse(settings, shallow, false);
  if (!json.is_object() || !json.contains("format") || json["format"] != format.name) {
    refuse_format(json, format);
  }
  const Description& number = json.at("format_number");
  if (!number.is_number_integer() || number.get<std::int64_t>() < 1) fail(Code::input, "its format number is invalid");
  if (number.get<std::int64_t>() > format.number) {
    fail(Code::input,
         "it has format {}, written by widelimit {}; this is widelimit {}, which reads up to format {}: upgrade",
         number.get<std::int64_t>(), writer_of(json, format), version(), format.number);
  }
  return json;
}

void require_matrices(const ArrayFile& file, std::span<const std::string> names) {
  for (const std::string& name : names) {
    const auto found = file.arrays.find(name);
    if (found == file.arrays.end()) fail(Code::input, "array '{}' is missing", name);
    if (!found->second.texts.empty() || found->second.dims.size() != 2) {
      fail(Code::input, "array '{}' is not a matrix of numbers", name);
    }
  }
}

}  // namespace

void write_sealed(const std::filesystem::path& path, const SealedFormat& format, const Description& description,
                  const std::vector<NamedArray>& arrays) {
  if (path.extension() != ".h5" && path.extension() != ".hdf5") {
    fail(Code::usage, "{}: {} is written as HDF5; the name must end in .h5 or .hdf5", path.string(), format.article);
  }
  // Normalised as a reader will see it: invalid UTF-8 has been replaced.
  const Description json = Description::parse(printed(description));
  std::uint64_t sum = checksum(as_bytes(printed(json)));
  for (const NamedArray& array : arrays) {
    sum =
        std::visit([&](const auto& view) { return add_checksum(view.data, view.rows, view.cols, sum); }, array.values);
  }
  Description settings;
  settings["format"] = format.name;
  settings["format_number"] = format.number;
  settings["checksum"] = checksum_text(sum);
  settings[format.key] = json;
  write_hdf5(path, arrays, printed(settings));
}

SealedFile::SealedFile(ArrayFile file, const SealedFormat& format, std::span<const std::string> names)
    : file_(std::move(file)) {
  const Description settings = parsed_settings(file_.settings, format);
  description_ = settings.at(format.key);
  require_matrices(file_, names);
  std::uint64_t sum = checksum(as_bytes(printed(description_)));
  for (const std::string& name : names) {
    sum = std::visit([&](const auto& m) { return add_checksum(m.data(), m.rows(), m.cols(), sum); },
                     file_.arrays.at(name).values);
  }
  if (settings.at("checksum").get<std::string>() != checksum_text(sum)) {
    fail(Code::input, "its checksum does not match: it was damaged or changed; create it again or fetch another copy");
  }
}

AnyMatrix SealedFile::take(const std::string& name) {
  const auto found = file_.arrays.find(name);
  if (found == file_.arrays.end()) fail(Code::input, "array '{}' is missing", name);
  return std::move(found->second.values);
}

Matrix<double> SealedFile::take_doubles(const std::string& name) {
  AnyMatrix values = take(name);
  auto* matrix = std::get_if<Matrix<double>>(&values);
  if (matrix == nullptr) fail(Code::input, "array '{}' is not float64", name);
  return std::move(*matrix);
}

std::vector<double> SealedFile::take_column(const std::string& name) {
  const Matrix<double> matrix = take_doubles(name);
  if (matrix.cols() != 1) fail(Code::input, "array '{}' has {} columns instead of one", name, matrix.cols());
  return {matrix.data(), matrix.data() + matrix.rows()};
}

void reading_sealed(const std::string& source, const SealedFormat& format, const std::function<void()>& read) {
  try {
    read();
  } catch (const Error& error) {
    const bool of_the_file = error.code() != Code::resource && error.code() != Code::interrupted;
    fail(of_the_file ? Code::input : error.code(), "{}: {}", source, error.what());
  } catch (const Description::exception& error) {
    fail(Code::input, "{}: the description of {} is damaged ({})", source, format.article, error.what());
  }
}

}  // namespace widelimit
