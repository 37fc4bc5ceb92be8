#include "widelimit/finite/network_file.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/data/file/sealed_file.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"
#include "widelimit/data/hdf5/hdf5_blocks.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/network/text.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace widelimit {

namespace {

constexpr SealedFormat network_form{.name = "widelimit network",
                                    .number = network_format,
                                    .key = "network",
                                    .article = "a trained network",
                                    .writer = "save a trained network to make one"};

/// Names of weights or optimiser moments in a file, slot by slot: matrix and bias.
struct SlotNames {
  const char* matrix;
  const char* bias;

  [[nodiscard]] std::string w(std::size_t slot) const { return fmt::format("{}{}", matrix, slot); }
  [[nodiscard]] std::string b(std::size_t slot) const { return fmt::format("{}{}", bias, slot); }
};
constexpr SlotNames weight_names{"w", "b"};
constexpr SlotNames velocity_names{"velocity", "velocity_b"};
constexpr SlotNames square_names{"squares", "squares_b"};
constexpr std::array<const char*, 2> auxiliary_names{"auxiliary", "auxiliary_velocity"};

/// Returns names in file order: w0, b0, w1, b1, …, shift, scale, and those of a training state as far as present.
std::vector<std::string> file_arrays(const ArrayFile& file, std::size_t slots) {
  std::vector<std::string> names;
  const auto add = [&](const SlotNames& of) {
    for (std::size_t l = 0; l < slots; ++l) {
      names.push_back(of.w(l));
      names.push_back(of.b(l));
    }
  };
  add(weight_names);
  names.insert(names.end(), {"shift", "scale"});
  for (const SlotNames& of : {velocity_names, square_names}) {
    if (file.arrays.contains(of.w(0))) add(of);
  }
  for (const char* name : auxiliary_names) {
    if (file.arrays.contains(name)) names.emplace_back(name);
  }
  return names;
}

template <std::floating_point T>
NamedArray named(std::string name, std::span<const T> values, Index rows, Index cols) {
  return {std::move(name), MatrixView<const T>{values.data(), rows, cols, cols}, {}};
}

/// Appends the arrays of weights or moments.
template <std::floating_point T>
void add_slots(const Architecture& architecture, const Parameters<T>& parameters, const SlotNames& names,
               std::vector<NamedArray>& arrays) {
  require_match(architecture, parameters);
  for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
    const Weights<T>& weights = parameters.slots[l];
    const auto finite = [](T value) { return std::isfinite(value); };
    if (!std::all_of(weights.w.begin(), weights.w.end(), finite) ||
        !std::all_of(weights.b.begin(), weights.b.end(), finite)) {
      fail(Code::input, "weights of layer {} are not finite", l + 1);
    }
    const WeightSlot& slot = architecture.slots[l];
    arrays.push_back(named<T>(names.w(l), weights.w, slot.fan_in, slot.fan_out));
    arrays.push_back(named<T>(names.b(l), weights.b, std::ssize(weights.b), 1));
  }
}

void add_slots(const Architecture& architecture, const AnyParameters& parameters, const SlotNames& names,
               std::vector<NamedArray>& arrays) {
  std::visit([&](const auto& known) { add_slots(architecture, known, names, arrays); }, parameters);
}

void add_state(const TrainedNetwork& trained, std::vector<NamedArray>& arrays) {
  const TrainState& state = *trained.state;
  const int moments = state.optimiser.moments();
  if (moments > 0) add_slots(trained.architecture, state.velocity, velocity_names, arrays);
  if (moments > 1) add_slots(trained.architecture, state.squares, square_names, arrays);
  if (state.auxiliary.empty()) return;
  const Index size = std::ssize(state.auxiliary);
  arrays.push_back(named<double>(auxiliary_names[0], state.auxiliary, size, 1));
  arrays.push_back(named<double>(auxiliary_names[1], state.auxiliary_velocity, size, 1));
}

Description describe_state(const TrainState& state) {
  return {{"optimiser", to_string(state.optimiser.kind)},
          {"momentum", state.optimiser.momentum},
          {"beta1", state.optimiser.beta1},
          {"beta2", state.optimiser.beta2},
          {"epsilon", state.optimiser.epsilon},
          {"weight_decay", state.optimiser.weight_decay},
          {"first_loss", state.first_loss},
          {"first_objective", state.first_objective},
          {"samples", state.samples}};
}

/// Returns whether the network needs a format newer than 1.
bool is_new(const TrainedNetwork& trained) {
  return trained.state || !trained.widths.layers.empty() || trained.widths.initialisation != Initialisation::normal;
}

Description describe_network(const TrainedNetwork& trained, const NetworkNotes& notes) {
  Description json;
  json["version"] = notes.version.empty() ? std::string(version()) : notes.version;
  json["network"] = trained.network.to_text();
  json["shape"] = {trained.shape.height, trained.shape.width, trained.shape.channels};
  json["width"] = trained.widths.hidden;
  json["outputs"] = trained.widths.outputs;
  json["parameterisation"] = to_string(trained.widths.parameterisation);
  if (!trained.widths.layers.empty()) json["widths"] = trained.widths.layers;
  if (trained.widths.initialisation != Initialisation::normal) {
    json["initialisation"] = to_string(trained.widths.initialisation);
  }
  json["regulariser"] = to_string(trained.regulariser);
  json["seed"] = trained.seed;
  json["precision"] = to_string(trained.precision());
  json["centred"] = trained.centred;
  json["linearised"] = trained.linearised;
  json["ending"] = text(trained.summary.ending);
  json["message"] = trained.summary.message;
  json["steps"] = trained.summary.steps;
  json["rate"] = trained.summary.rate;
  if (trained.state) {
    json["time"] = trained.summary.time;
    json["state"] = describe_state(*trained.state);
  }
  if (notes.channels_first) json["channels_first"] = true;
  if (notes.scaling) json["scaling"] = to_string(notes.scaling->scaling());
  json["classes"] = notes.classes;
  if (notes.origin.known()) json["data"] = origin_text(notes.origin);
  json["record"] = notes.record;
  return json;
}

TrainEnding ending_of(const std::string& word) {
  for (const TrainEnding ending :
       {TrainEnding::finished, TrainEnding::diverged, TrainEnding::step_limit, TrainEnding::dead}) {
    if (word == text(ending)) return ending;
  }
  fail(Code::input, "its ending '{}' is unknown", word);
}

/// Reads the network as text only; forms that refer to files are not accepted.
void read_description(const Description& json, SavedNetwork& saved) {
  TrainedNetwork& trained = saved.trained;
  saved.notes.version = json.at("version").get<std::string>();
  trained.network = Network{read_text(json.at("network").get<std::string>())};
  validate(trained.network);
  const auto shape = json.at("shape").get<std::array<Index, 3>>();
  constexpr Index largest = Index{1} << 24;
  if (std::any_of(shape.begin(), shape.end(), [](Index side) { return side < 1 || side > largest; }) ||
      shape[0] * shape[1] > largest || shape[0] * shape[1] * shape[2] > largest) {
    fail(Code::input, "its samples have the impossible shape {} x {} x {}", shape[0], shape[1], shape[2]);
  }
  trained.shape = {shape[0], shape[1], shape[2]};
  trained.widths = {.hidden = json.at("width").get<Index>(),
                    .outputs = json.at("outputs").get<Index>(),
                    .parameterisation = parse_parameterisation(json.at("parameterisation").get<std::string>())};
  if (json.contains("widths")) trained.widths.layers = json.at("widths").get<std::vector<Index>>();
  if (json.contains("initialisation")) {
    trained.widths.initialisation = parse_initialisation(json.at("initialisation").get<std::string>());
  }
  trained.regulariser = parse_regulariser(json.at("regulariser").get<std::string>());
  trained.seed = json.at("seed").get<std::uint64_t>();
  trained.centred = json.at("centred").get<bool>();
  trained.linearised = json.at("linearised").get<bool>();
  trained.summary.ending = ending_of(json.at("ending").get<std::string>());
  trained.summary.message = json.at("message").get<std::string>();
  trained.summary.steps = json.at("steps").get<Index>();
  if (json.contains("rate")) trained.summary.rate = json.at("rate").get<double>();
  saved.notes.channels_first = json.contains("channels_first") && json.at("channels_first").get<bool>();
  saved.notes.classes = json.at("classes").get<std::vector<std::string>>();
  if (json.contains("data")) {
    saved.notes.origin = parse_origin_text(json.at("data").get<std::string>());
    const TableLayout& table = saved.notes.origin.layout;
    if (!table.columns.empty() && table.features() != trained.shape.size()) {
      fail(Code::input, "its columns give {} features instead of {}", table.features(), trained.shape.size());
    }
  }
  saved.notes.record = json.at("record").get<std::string>();
  trained.architecture = trained_architecture(trained.network, trained.shape, trained.widths, trained.regulariser);
  trained.summary.weights = trained_count(trained.architecture);
}

template <std::floating_point T>
std::vector<T> taken(SealedFile& file, const std::string& name, Index rows, Index cols) {
  const AnyMatrix values = file.take(name);
  const auto* matrix = std::get_if<Matrix<T>>(&values);
  if (matrix == nullptr || matrix->rows() != rows || matrix->cols() != cols) {
    fail(Code::input, "array '{}' is not {} by {} numbers of its precision", name, rows, cols);
  }
  const auto finite = [](T value) { return std::isfinite(value); };
  if (!std::all_of(matrix->data(), matrix->data() + rows * cols, finite)) {
    fail(Code::input, "array '{}' has entries that are not finite", name);
  }
  return {matrix->data(), matrix->data() + rows * cols};
}

template <std::floating_point T>
Parameters<T> taken_slots(SealedFile& file, const Architecture& architecture, const SlotNames& names) {
  Parameters<T> parameters;
  for (std::size_t l = 0; l < architecture.slots.size(); ++l) {
    const WeightSlot& slot = architecture.slots[l];
    parameters.slots.push_back({taken<T>(file, names.w(l), slot.fan_in, slot.fan_out),
                                taken<T>(file, names.b(l), slot.biased() ? slot.fan_out : 0, 1)});
  }
  return parameters;
}

template <std::floating_point T>
void read_state(SealedFile& file, TrainedNetwork& trained) {
  const Description& json = file.description().at("state");
  TrainState state;
  state.optimiser = {.kind = parse_optimiser(json.at("optimiser").get<std::string>()),
                     .momentum = json.at("momentum").get<double>(),
                     .beta1 = json.at("beta1").get<double>(),
                     .beta2 = json.at("beta2").get<double>(),
                     .epsilon = json.at("epsilon").get<double>(),
                     .weight_decay = json.at("weight_decay").get<double>()};
  state.optimiser.validate();
  const int moments = state.optimiser.moments();
  const Architecture& architecture = trained.architecture;
  state.velocity = moments > 0 ? taken_slots<T>(file, architecture, velocity_names) : Parameters<T>{};
  state.squares = moments > 1 ? taken_slots<T>(file, architecture, square_names) : Parameters<T>{};
  if (trained.regulariser == Regulariser::aux) {
    state.auxiliary = file.take_column(auxiliary_names[0]);
    state.auxiliary_velocity = file.take_column(auxiliary_names[1]);
    if (state.auxiliary.size() != state.auxiliary_velocity.size()) {
      fail(Code::input, "its auxiliary outputs have different sizes");
    }
  }
  state.first_loss = json.at("first_loss").get<double>();
  state.first_objective = json.at("first_objective").get<double>();
  state.samples = json.at("samples").get<std::uint64_t>();
  trained.summary.time = file.description().at("time").get<double>();
  trained.state = std::move(state);
}

/// Reads the weights; sizes are checked against the data before w₀ is drawn.
template <std::floating_point T>
void read_weights(SealedFile& file, TrainedNetwork& trained, const Engine& engine) {
  trained.parameters = taken_slots<T>(file, trained.architecture, weight_names);
  if (file.description().contains("state")) read_state<T>(file, trained);
  trained.start = draw_parameters<T>(trained.architecture, trained.seed, engine);
}

SavedNetwork read_saved(ArrayFile file, const std::string& source, const Engine& engine) {
  SavedNetwork saved;
  reading_sealed(source, network_form, [&] {
    const auto slots = static_cast<std::size_t>(std::count_if(
        file.arrays.begin(), file.arrays.end(), [](const auto& entry) { return entry.first.starts_with('w'); }));
    const std::vector<std::string> names = file_arrays(file, slots);
    SealedFile sealed(std::move(file), network_form, names);
    const Description& json = sealed.description();
    read_description(json, saved);
    if (slots != saved.trained.architecture.slots.size()) fail(Code::input, "it has {} matrices of weights", slots);
    if (parse_precision(json.at("precision").get<std::string>()) == Precision::f32) {
      read_weights<float>(sealed, saved.trained, engine);
    } else {
      read_weights<double>(sealed, saved.trained, engine);
    }
    if (json.contains("scaling")) {
      saved.notes.scaling.emplace(parse_scaling(json.at("scaling").get<std::string>()), sealed.take_column("shift"),
                                  sealed.take_column("scale"));
    }
  });
  return saved;
}

}  // namespace

void save_network(const std::filesystem::path& path, const TrainedNetwork& trained, const NetworkNotes& notes) {
  std::vector<NamedArray> arrays;
  add_slots(trained.architecture, trained.parameters, weight_names, arrays);
  static const std::vector<double> none;
  const Index features = notes.scaling ? notes.scaling->features() : 0;
  arrays.push_back(named<double>("shift", notes.scaling ? notes.scaling->shift() : none, features, 1));
  arrays.push_back(named<double>("scale", notes.scaling ? notes.scaling->scale() : none, features, 1));
  if (trained.state) add_state(trained, arrays);
  SealedFormat form = network_form;
  if (!is_new(trained)) form.number = 1;
  write_sealed(path, form, describe_network(trained, notes), arrays);
}

bool holds_network(const std::filesystem::path& path) {
  const Description settings = Description::parse(Hdf5Blocks(path).text("settings"), nullptr, false);
  return settings.is_object() && settings.contains("format") && settings["format"] == network_form.name;
}

SavedNetwork load_network(const std::filesystem::path& path, const ReadLimits& limits, const Engine& engine) {
  return read_saved(read_hdf5_arrays(path, limits), path.string(), engine);
}

SavedNetwork parse_network_file(Bytes bytes, const std::string& source, const Engine& engine) {
  return read_saved(parse_hdf5_arrays(bytes, source), source, engine);
}

}  // namespace widelimit
