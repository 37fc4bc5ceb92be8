#include "widelimit/machine/model_file.hpp"

#include "widelimit/base/checksum.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/hdf5.hpp"
#include "widelimit/network/text.hpp"

#include <nlohmann/json.hpp>

#include <array>

namespace widelimit {

namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view format_name = "widelimit model";
/// In the order in which the checksum takes them.
constexpr std::array<const char*, 6> array_names{"support", "alpha", "bias", "shift", "scale", "calibration"};

std::string printed(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

template <typename T>
std::uint64_t add_checksum(const T* numbers, Index rows, Index cols, std::uint64_t seed) {
  const std::array<std::int64_t, 3> description{sizeof(T), rows, cols};
  seed = checksum(std::as_bytes(std::span(description)), seed);
  return checksum(std::as_bytes(std::span(numbers, static_cast<std::size_t>(rows * cols))), seed);
}

std::string checksum_text(std::uint64_t sum) { return fmt::format("{:016x}", sum); }

/// The numbers of a model as arrays of a file; borrows them.
class ModelArrays {
 public:
  explicit ModelArrays(const Model& model) {
    std::visit([&](const auto& m) { add("support", m.data(), m.rows(), m.cols()); }, model.support);
    add("alpha", model.alpha.data(), model.alpha.rows(), model.alpha.cols());
    add("bias", model.bias.data(), std::ssize(model.bias), 1);
    const std::vector<double> none;
    add("shift", (model.scaling ? model.scaling->shift() : none).data(), model.scaling ? model.scaling->features() : 0,
        1);
    add("scale", (model.scaling ? model.scaling->scale() : none).data(), model.scaling ? model.scaling->features() : 0,
        1);
    for (const Sigmoid& c : model.calibration) calibration_.insert(calibration_.end(), {c.slope, c.offset});
    add("calibration", calibration_.data(), std::ssize(model.calibration), 2);
  }

  [[nodiscard]] const std::vector<NamedArray>& arrays() const { return arrays_; }
  [[nodiscard]] std::uint64_t checksum_after(std::uint64_t seed) const {
    for (const NamedArray& array : arrays_) {
      seed = std::visit([&](const auto& view) { return add_checksum(view.data, view.rows, view.cols, seed); },
                        array.values);
    }
    return seed;
  }

 private:
  template <typename T>
  void add(const char* name, const T* numbers, Index rows, Index cols) {
    arrays_.push_back({name, MatrixView<const T>{numbers, rows, cols, cols}, {}});
  }

  std::vector<NamedArray> arrays_;
  std::vector<double> calibration_;
};

Json description(const Model& model) {
  Json json;
  json["version"] = model.version.empty() ? std::string(version()) : model.version;
  if (const auto* network = std::get_if<Network>(&model.kernel)) {
    json["network"] = network->to_text();
    json["kind"] = model.kind == Kind::ntk ? "ntk" : "nngp";
  } else {
    json["classical"] = std::get<ClassicalKernel>(model.kernel).to_text();
  }
  json["precision"] = to_string(model.precision);
  json["shape"] = {model.shape.height, model.shape.width, model.shape.channels};
  if (model.scaling) json["scaling"] = to_string(model.scaling->scaling());
  json["machine"] = to_string(model.machine);
  json["scheme"] = to_string(model.scheme);
  json["classes"] = model.classes;
  json["lambda"] = model.lambda;
  json["epsilon"] = model.epsilon;
  json["has_bias"] = model.has_bias;
  if (model.posterior) json["posterior"] = true;
  json["record"] = model.record;
  return json;
}

/// The arrays of a file, each once, of the form a model has.
class FileArrays {
 public:
  explicit FileArrays(ArrayFile& file) : file_(file) {
    for (const char* name : array_names) {
      const auto found = file.arrays.find(name);
      if (found == file.arrays.end()) fail(Code::input, "array '{}' is missing", name);
      if (!found->second.texts.empty() || found->second.dims.size() != 2) {
        fail(Code::input, "array '{}' is not a matrix of numbers", name);
      }
    }
  }

  [[nodiscard]] std::uint64_t checksum_after(std::uint64_t seed) const {
    for (const char* name : array_names) {
      seed = std::visit([&](const auto& m) { return add_checksum(m.data(), m.rows(), m.cols(), seed); },
                        file_.arrays.at(name).values);
    }
    return seed;
  }
  [[nodiscard]] AnyMatrix take(const char* name) { return std::move(file_.arrays.at(name).values); }
  [[nodiscard]] Matrix<double> take_doubles(const char* name) {
    auto* matrix = std::get_if<Matrix<double>>(&file_.arrays.at(name).values);
    if (matrix == nullptr) fail(Code::input, "array '{}' is not of float64", name);
    return std::move(*matrix);
  }
  [[nodiscard]] std::vector<double> take_column(const char* name) {
    const Matrix<double> matrix = take_doubles(name);
    if (matrix.cols() != 1) fail(Code::input, "array '{}' has {} columns instead of one", name, matrix.cols());
    return {matrix.data(), matrix.data() + matrix.rows()};
  }

 private:
  ArrayFile& file_;
};

void describe(Model& model, const Json& json) {
  if (json.contains("network")) {
    model.kernel = Network{read_text(json.at("network").get<std::string>())};
    const auto kind = json.at("kind").get<std::string>();
    if (kind != "ntk" && kind != "nngp") fail(Code::input, "its kernel kind '{}' is unknown", kind);
    model.kind = kind == "ntk" ? Kind::ntk : Kind::nngp;
  } else {
    model.kernel = ClassicalKernel::parse(json.at("classical").get<std::string>());
  }
  model.version = json.at("version").get<std::string>();
  model.precision = parse_precision(json.at("precision").get<std::string>());
  const auto shape = json.at("shape").get<std::array<Index, 3>>();
  model.shape = {shape[0], shape[1], shape[2]};
  model.machine = parse_machine(json.at("machine").get<std::string>());
  model.scheme = parse_scheme(json.at("scheme").get<std::string>());
  model.classes = json.at("classes").get<std::vector<std::string>>();
  model.lambda = json.at("lambda").get<double>();
  model.epsilon = json.at("epsilon").get<double>();
  model.has_bias = json.at("has_bias").get<bool>();
  model.posterior = json.contains("posterior") && json.at("posterior").get<bool>();
  model.record = json.at("record").get<std::string>();
}

void fill(Model& model, const Json& json, FileArrays& arrays) {
  model.support = arrays.take("support");
  model.alpha = arrays.take_doubles("alpha");
  model.bias = arrays.take_column("bias");
  std::vector<double> shift = arrays.take_column("shift");
  std::vector<double> scale = arrays.take_column("scale");
  if (json.contains("scaling")) {
    const Scaling scaling = parse_scaling(json.at("scaling").get<std::string>());
    model.scaling.emplace(scaling, std::move(shift), std::move(scale));
  }
  const Matrix<double> calibration = arrays.take_doubles("calibration");
  if (calibration.cols() != 2) fail(Code::input, "a calibration has {} numbers instead of two", calibration.cols());
  for (Index i = 0; i < calibration.rows(); ++i) {
    model.calibration.push_back({calibration(i, 0), calibration(i, 1)});
  }
}

Json parsed_settings(const std::string& settings) {
  // Deeper levels, which no model has, are left out before anything recurses into them.
  constexpr int deepest = 4;
  const auto shallow = [](int depth, Json::parse_event_t, const Json&) { return depth <= deepest; };
  const Json json = Json::parse(settings, shallow, false);
  if (!json.is_object() || !json.contains("format") || json["format"] != format_name) {
    fail(Code::input, "it is not a model of widelimit; `widelimit fit --out` writes one");
  }
  const Json& number = json.at("format_number");
  if (!number.is_number_integer() || number.get<std::int64_t>() < 1) fail(Code::input, "its format number is damaged");
  if (number.get<std::int64_t>() > model_format) {
    fail(Code::input, "it has format {}, made by a later widelimit; this one reads up to format {}: upgrade",
         number.get<std::int64_t>(), model_format);
  }
  return json;
}

Model model_from(ArrayFile& file) {
  const Json settings = parsed_settings(file.settings);
  const Json& json = settings.at("model");
  FileArrays arrays(file);
  const std::uint64_t sum = arrays.checksum_after(checksum(as_bytes(printed(json))));
  if (settings.at("checksum").get<std::string>() != checksum_text(sum)) {
    fail(Code::input,
         "its checksum does not fit: it was damaged or changed; fit the model again or fetch another copy");
  }
  Model model;
  describe(model, json);
  fill(model, json, arrays);
  model.validate();
  return model;
}

/// Every Error of reading as one of the file; JSON without a field it needs is damaged.
Model checked_model(ArrayFile file, const std::string& source) {
  try {
    return model_from(file);
  } catch (const Error& error) {
    fail(Code::input, "{}: {}", source, error.what());
  } catch (const Json::exception& error) {
    fail(Code::input, "{}: the description of the model is damaged ({})", source, error.what());
  }
}

}  // namespace

void save_model(const std::filesystem::path& path, const Model& model) {
  model.validate();
  const ModelArrays arrays(model);
  Json settings;
  settings["format"] = format_name;
  settings["format_number"] = model_format;
  // As a reader will see it: what is not UTF-8 has been replaced.
  const Json json = Json::parse(printed(description(model)));
  settings["checksum"] = checksum_text(arrays.checksum_after(checksum(as_bytes(printed(json)))));
  settings["model"] = json;
  write_hdf5(path, arrays.arrays(), printed(settings));
}

Model load_model(const std::filesystem::path& path) { return checked_model(read_hdf5_arrays(path), path.string()); }

Model parse_model(Bytes bytes, const std::string& source) {
  return checked_model(parse_hdf5_arrays(bytes, source), source);
}

}  // namespace widelimit
