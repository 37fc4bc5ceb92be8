#include "widelimit/machine/model_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/memory.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file/sealed_file.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/kernel/label_aware/label_aware_text.hpp"
#include "widelimit/network/text.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace widelimit {

namespace {

constexpr SealedFormat model_form{.name = "widelimit model",
                                  .number = model_format,
                                  .key = "model",
                                  .article = "a model",
                                  .writer = "`widelimit fit` writes one"};
/// Format number of models with a dense support.
constexpr int dense_format = 1;
/// Format number of models with a sparse support or graphs.
constexpr int sparse_format = 2;

constexpr const char* support_columns = "support_columns";
constexpr const char* support_offsets = "support_offsets";
constexpr const char* support_nodes = "support_nodes";
constexpr const char* support_edges = "support_edges";
constexpr const char* support_neighbours = "support_neighbours";
constexpr const char* directions_name = "label_aware_directions";

/// Type of the support, determined by the arrays of the file.
enum class Support : std::uint8_t { dense, sparse, graphs };
Support support_of(const ArrayFile& file) {
  if (file.arrays.contains(support_nodes)) return Support::graphs;
  return file.arrays.contains(support_columns) ? Support::sparse : Support::dense;
}

/// Returns the array names in the order of the checksum.
std::vector<std::string> array_names(Support support, bool directions) {
  std::vector<std::string> names{"support", "alpha", "bias", "shift", "scale", "calibration"};
  if (support == Support::sparse) names.insert(names.end(), {support_columns, support_offsets});
  if (support == Support::graphs) names.insert(names.end(), {support_nodes, support_edges, support_neighbours});
  if (directions) names.emplace_back(directions_name);
  return names;
}

/// Scalings without per-column parameters; sparse samples have many columns.
bool scales_rows(Scaling scaling) { return scaling == Scaling::unit || scaling == Scaling::byte; }

/// The numeric data of a model as arrays of a file; borrows them.
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
    if (const auto* support = std::get_if<Graphs>(&model.support)) add_places(support->view());
    if (!model.label_aware) return;
    directions_ = label_aware_text(*model.label_aware).directions;
    if (directions_.rows() > 0) add(directions_name, directions_.data(), directions_.rows(), directions_.cols());
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
  void add_support(const Graphs& graphs) {
    if (graphs.tagged()) {
      add("support", graphs.tags.data(), std::ssize(graphs.tags), 1);
    } else {
      add("support", graphs.features.data(), graphs.node_count(), graphs.width);
    }
  }

  void add_places(const SparseView& support) {
    columns_.assign(support.columns, support.columns + support.stored());
    add(support_columns, columns_.data(), std::ssize(columns_), 1);
    add(support_offsets, support.offsets, support.rows + 1, 1);
  }
  void add_places(const GraphView& support) {
    const Graphs& graphs = *support.graphs;
    columns_.assign(graphs.neighbours.begin(), graphs.neighbours.end());
    nodes_.assign(graphs.nodes.begin(), graphs.nodes.end());
    edges_.assign(graphs.edges.begin(), graphs.edges.end());
    add(support_nodes, nodes_.data(), std::ssize(nodes_), 1);
    add(support_edges, edges_.data(), std::ssize(edges_), 1);
    add(support_neighbours, columns_.data(), std::ssize(columns_), 1);
  }

  std::vector<NamedArray> arrays_;
  std::vector<double> calibration_;
  Matrix<double> directions_;
  std::vector<std::int64_t> columns_, nodes_, edges_;
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
  if (model.label_aware) json["label_aware"] = label_aware_text(*model.label_aware).json;
  json["precision"] = to_string(model.precision);
  json["shape"] = {model.shape.height, model.shape.width, model.shape.channels};
  if (model.shape.nodes) json["nodes"] = std::get<Graphs>(model.support).tagged() ? "tags" : "features";
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
  model.shape = {shape[0], shape[1], shape[2], json.contains("nodes")};
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

/// Reads integers, which are stored as doubles.
template <typename Integer>
std::vector<Integer> take_places(SealedFile& arrays, const char* name) {
  const std::vector<double> numbers = arrays.take_column(name);
  std::vector<Integer> places;
  places.reserve(numbers.size());
  for (const double number : numbers) {
    if (!(number >= 0 && number <= static_cast<double>(std::numeric_limits<Integer>::max()))) {
      fail(Code::input, "array '{}' holds {}, which is not a valid index", name, number);
    }
    places.push_back(static_cast<Integer>(number));
  }
  return places;
}

Graphs take_graphs(const Description& json, SealedFile& arrays) {
  Graphs graphs;
  graphs.nodes = take_places<Index>(arrays, support_nodes);
  graphs.edges = take_places<Index>(arrays, support_edges);
  graphs.neighbours = take_places<std::int32_t>(arrays, support_neighbours);
  const Matrix<double> carried = arrays.take_doubles("support");
  const double* const end = carried.data() + carried.rows() * carried.cols();
  if (json.at("nodes").get<std::string>() == "tags") {
    std::for_each(carried.data(), end, [&](double tag) { graphs.tags.push_back(static_cast<std::int64_t>(tag)); });
  } else {
    graphs.features.assign(carried.data(), end);
    graphs.width = carried.cols();
  }
  graphs.validate();
  return graphs;
}

AnySamples take_support(const Model& model, const Description& json, SealedFile& arrays, Support support) {
  if (support == Support::dense) return samples_of(arrays.take("support"));
  if (support == Support::graphs) return take_graphs(json, arrays);
  return SparseMatrix(model.shape.size(), take_places<std::int64_t>(arrays, support_offsets),
                      take_places<std::int32_t>(arrays, support_columns), arrays.take_column("support"),
                      "the support of the model");
}

void fill(Model& model, const Description& json, SealedFile& arrays, Support support) {
  model.support = take_support(model, json, arrays, support);
  model.alpha = arrays.take_doubles("alpha");
  model.bias = arrays.take_column("bias");
  std::vector<double> shift = arrays.take_column("shift");
  std::vector<double> scale = arrays.take_column("scale");
  if (json.contains("scaling")) {
    const Scaling scaling = parse_scaling(json.at("scaling").get<std::string>());
    if (support == Support::sparse && scales_rows(scaling)) {
      const double bytes = 2 * sizeof(double) * static_cast<double>(model.shape.size());
      require_memory(bytes, std::nullopt, "the scaling of this model", "use a computer with more memory");
      shift.assign(usize(model.shape.size()), 0.0);
      scale.assign(usize(model.shape.size()), 1.0);
    }
    model.scaling.emplace(scaling, std::move(shift), std::move(scale));
  }
  const Matrix<double> calibration = arrays.take_doubles("calibration");
  if (calibration.cols() != 2) fail(Code::input, "a calibration has {} parameters instead of two", calibration.cols());
  for (Index i = 0; i < calibration.rows(); ++i) {
    model.calibration.push_back({calibration(i, 0), calibration(i, 1)});
  }
}

Model checked_model(ArrayFile file, const std::string& source) {
  Model model;
  reading_sealed(source, model_form, [&] {
    const Support support = support_of(file);
    const bool directions = file.arrays.contains(directions_name);
    SealedFile sealed(std::move(file), model_form, array_names(support, directions));
    describe(model, sealed.description());
    if (model.shape.nodes != (support == Support::graphs)) fail(Code::input, "its support does not match its shape");
    fill(model, sealed.description(), sealed, support);
    if (sealed.description().contains("label_aware")) {
      model.label_aware = parse_label_aware(sealed.description().at("label_aware"),
                                            directions ? sealed.take_doubles(directions_name) : Matrix<double>());
    }
    model.validate();
  });
  return model;
}

}  // namespace

void save_model(const std::filesystem::path& path, const Model& model) {
  model.validate();
  const ModelArrays arrays(model);
  SealedFormat form = model_form;
  const SampleView support = model.support_view();
  if (!model.label_aware) {
    form.number = support.sparse() == nullptr && support.graphs() == nullptr ? dense_format : sparse_format;
  }
  write_sealed(path, form, description(model), arrays.arrays());
}

Model load_model(const std::filesystem::path& path, const ReadLimits& limits) {
  return checked_model(read_hdf5_arrays(path, limits), path.string());
}

Model parse_model(Bytes bytes, const std::string& source) {
  return checked_model(parse_hdf5_arrays(bytes, source), source);
}

}  // namespace widelimit
