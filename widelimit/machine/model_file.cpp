#include "widelimit/machine/model_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file/sealed_file.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/data/origin_text.hpp"
#include "widelimit/network/text.hpp"

#include <array>
#include <limits>

namespace widelimit {

namespace {

constexpr SealedFormat model_form{.name = "widelimit model",
                                  .number = model_format,
                                  .key = "model",
                                  .article = "a model",
                                  .writer = "`widelimit fit` writes one"};
/// Models whose support is dense are written as they always were.
constexpr int dense_format = 1;

constexpr const char* support_columns = "support_columns";
constexpr const char* support_offsets = "support_offsets";

/// In the order in which the checksum takes them.
std::vector<std::string> array_names(bool sparse) {
  std::vector<std::string> names{"support", "alpha", "bias", "shift", "scale", "calibration"};
  if (sparse) names.insert(names.end(), {support_columns, support_offsets});
  return names;
}

/// Scalings that have no numbers of their own for each column, of which sparse samples have many.
bool scales_rows(Scaling scaling) { return scaling == Scaling::unit || scaling == Scaling::byte; }

/// The numbers of a model as arrays of a file; borrows them.
class ModelArrays {
 public:
  explicit ModelArrays(const Model& model) {
    std::visit([&](const auto& m) { add_support(m); }, model.support);
    add("alpha", model.alpha.data(), model.alpha.rows(), model.alpha.cols());
    add("bias", model.bias.data(), std::ssize(model.bias), 1);
    const bool sparse = std::holds_alternative<SparseMatrix>(model.support);
    const bool columns = model.scaling && !(sparse && scales_rows(model.scaling->scaling()));
    add("shift", columns ? model.scaling->shift().data() : nullptr, columns ? model.scaling->features() : 0, 1);
    add("scale", columns ? model.scaling->scale().data() : nullptr, columns ? model.scaling->features() : 0, 1);
    for (const Sigmoid& c : model.calibration) calibration_.insert(calibration_.end(), {c.slope, c.offset});
    add("calibration", calibration_.data(), std::ssize(model.calibration), 2);
    if (const auto* support = std::get_if<SparseMatrix>(&model.support)) add_places(support->view());
  }

  [[nodiscard]] const std::vector<NamedArray>& arrays() const { return arrays_; }

 private:
  template <typename T>
  void add(const char* name, const T* numbers, Index rows, Index cols) {
    arrays_.push_back({name, MatrixView<const T>{numbers, rows, cols, cols}, {}});
  }

  template <typename T>
  void add_support(const Matrix<T>& m) {
    add("support", m.data(), m.rows(), m.cols());
  }
  void add_support(const SparseMatrix& m) { add("support", m.view().values, m.stored(), 1); }

  void add_places(const SparseView& support) {
    columns_.assign(support.columns, support.columns + support.stored());
    add(support_columns, columns_.data(), std::ssize(columns_), 1);
    add(support_offsets, support.offsets, support.rows + 1, 1);
  }

  std::vector<NamedArray> arrays_;
  std::vector<double> calibration_;
  std::vector<std::int64_t> columns_;
};

Description description(const Model& model) {
  Description json;
  json["version"] = model.version.empty() ? std::string(version()) : model.version;
  if (const auto* network = std::get_if<Network>(&model.kernel)) {
    json["network"] = network->to_text();
    json["kind"] = model.kind == Kind::ntk ? "ntk" : "nngp";
  } else {
    json["classical"] = std::get<ClassicalKernel>(model.kernel).to_text();
  }
  json["precision"] = to_string(model.precision);
  json["shape"] = {model.shape.height, model.shape.width, model.shape.channels};
  if (model.channels_first) json["channels_first"] = true;
  if (model.scaling) json["scaling"] = to_string(model.scaling->scaling());
  json["machine"] = to_string(model.machine);
  json["scheme"] = to_string(model.scheme);
  json["classes"] = model.classes;
  json["lambda"] = model.lambda;
  json["epsilon"] = model.epsilon;
  json["has_bias"] = model.has_bias;
  if (model.posterior) json["posterior"] = true;
  if (model.origin.known()) json["data"] = origin_text(model.origin);
  json["record"] = model.record;
  return json;
}

void describe(Model& model, const Description& json) {
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
  model.channels_first = json.contains("channels_first") && json.at("channels_first").get<bool>();
  model.machine = parse_machine(json.at("machine").get<std::string>());
  model.scheme = parse_scheme(json.at("scheme").get<std::string>());
  model.classes = json.at("classes").get<std::vector<std::string>>();
  model.lambda = json.at("lambda").get<double>();
  model.epsilon = json.at("epsilon").get<double>();
  model.has_bias = json.at("has_bias").get<bool>();
  model.posterior = json.contains("posterior") && json.at("posterior").get<bool>();
  if (json.contains("data")) model.origin = parse_origin_text(json.at("data").get<std::string>());
  model.record = json.at("record").get<std::string>();
}

/// Integers, which a file gives back as doubles.
template <typename Integer>
std::vector<Integer> take_places(SealedFile& arrays, const char* name) {
  const std::vector<double> numbers = arrays.take_column(name);
  std::vector<Integer> places;
  places.reserve(numbers.size());
  for (const double number : numbers) {
    if (!(number >= 0 && number <= static_cast<double>(std::numeric_limits<Integer>::max()))) {
      fail(Code::input, "array '{}' holds {}, which is no place", name, number);
    }
    places.push_back(static_cast<Integer>(number));
  }
  return places;
}

AnySamples take_support(const Model& model, SealedFile& arrays, bool sparse) {
  if (!sparse) return samples_of(arrays.take("support"));
  return SparseMatrix(model.shape.size(), take_places<std::int64_t>(arrays, support_offsets),
                      take_places<std::int32_t>(arrays, support_columns), arrays.take_column("support"),
                      "the support of the model");
}

void fill(Model& model, const Description& json, SealedFile& arrays, bool sparse) {
  model.support = take_support(model, arrays, sparse);
  model.alpha = arrays.take_doubles("alpha");
  model.bias = arrays.take_column("bias");
  std::vector<double> shift = arrays.take_column("shift");
  std::vector<double> scale = arrays.take_column("scale");
  if (json.contains("scaling")) {
    const Scaling scaling = parse_scaling(json.at("scaling").get<std::string>());
    if (sparse && scales_rows(scaling)) {
      const double bytes = 2 * sizeof(double) * static_cast<double>(model.shape.size());
      require_memory(bytes, std::nullopt, "the scaling of this model", "use a machine with more");
      shift.assign(usize(model.shape.size()), 0.0);
      scale.assign(usize(model.shape.size()), 1.0);
    }
    model.scaling.emplace(scaling, std::move(shift), std::move(scale));
  }
  const Matrix<double> calibration = arrays.take_doubles("calibration");
  if (calibration.cols() != 2) fail(Code::input, "a calibration has {} numbers instead of two", calibration.cols());
  for (Index i = 0; i < calibration.rows(); ++i) {
    model.calibration.push_back({calibration(i, 0), calibration(i, 1)});
  }
}

Model checked_model(ArrayFile file, const std::string& source) {
  Model model;
  reading_sealed(source, model_form, [&] {
    const bool sparse = file.arrays.contains(support_columns);
    SealedFile sealed(std::move(file), model_form, array_names(sparse));
    describe(model, sealed.description());
    fill(model, sealed.description(), sealed, sparse);
    model.validate();
  });
  return model;
}

}  // namespace

void save_model(const std::filesystem::path& path, const Model& model) {
  model.validate();
  const ModelArrays arrays(model);
  SealedFormat form = model_form;
  if (model.support_view().sparse() == nullptr) form.number = dense_format;
  write_sealed(path, form, description(model), arrays.arrays());
}

Model load_model(const std::filesystem::path& path, const ReadLimits& limits) {
  return checked_model(read_hdf5_arrays(path, limits), path.string());
}

Model parse_model(Bytes bytes, const std::string& source) {
  return checked_model(parse_hdf5_arrays(bytes, source), source);
}

}  // namespace widelimit
