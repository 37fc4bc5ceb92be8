#include "widelimit/data/catalogue/catalogue.hpp"

#include "widelimit/base/choice.hpp"
#include "widelimit/base/error.hpp"
#include "widelimit/data/catalogue/catalogue_sets.hpp"
#include "widelimit/data/catalogue/synthetic.hpp"
#include "widelimit/data/formats/format.hpp"
#include "widelimit/data/formats/images/image_folder.hpp"
#include "widelimit/data/formats/number.hpp"
#include "widelimit/data/formats/standard_input.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace widelimit {

DataSpec parse_spec(std::string_view text) {
  DataSpec spec;
  const auto open = text.find('(');
  std::string_view arguments;
  if (open != std::string_view::npos) {
    if (text.back() != ')') fail(Code::usage, "data '{}': the parenthesis is not closed", text);
    arguments = text.substr(open + 1, text.size() - open - 2);
  }
  const std::string_view name = text.substr(0, open);
  const auto colon = name.find(':');
  spec.name = name.substr(0, colon);
  if (colon != std::string_view::npos) spec.part = name.substr(colon + 1);
  while (!arguments.empty()) {
    const auto comma = std::min(arguments.find(','), arguments.size());
    const std::string_view argument = arguments.substr(0, comma);
    const auto equals = argument.find('=');
    if (equals == std::string_view::npos || trimmed(argument.substr(0, equals)).empty()) {
      fail(Code::usage, "data '{}': argument '{}' is not key=value", text, argument);
    }
    spec.arguments.insert_or_assign(std::string(trimmed(argument.substr(0, equals))),
                                    std::string(trimmed(argument.substr(equals + 1))));
    arguments.remove_prefix(std::min(comma + 1, arguments.size()));
  }
  return spec;
}

namespace fs = std::filesystem;

namespace {

std::string embedded_place() { return "embedded"; }
std::vector<std::string> no_members() { return {}; }

/// Named data set other than the synthetic ones.
struct NamedSet {
  std::string_view name;
  std::string_view form;  ///< how a SPEC is written
  std::string_view what;
  std::string_view samples;
  bool table;  ///< whether its columns can be selected
  Dataset (*load)(const DataSpec&, const DataOptions&);
  std::string (*where)();
  std::vector<std::string> (*members)();
};

constexpr std::array<NamedSet, 4> named_sets{{
    {"digits", "digits", "handwritten digits, 8x8x1, 10 classes", "1797", false, load_digits, embedded_place,
     no_members},
    {"mnist", "mnist:train|test", "MNIST handwritten digits, 28x28x1, 10 classes", "60000 + 10000", false, load_mnist,
     find_mnist, no_members},
    {"cifar10", "cifar10:train|test", "CIFAR-10 photographs, 32x32x3, 10 classes", "50000 + 10000", false, load_cifar10,
     find_cifar10, no_members},
    {"uci", "uci:NAME", "small classification tables, standardised", "10 to 5000 each", true, load_uci, find_uci,
     uci_names},
}};

double number_argument(const DataSpec& spec, const std::string& key, double otherwise) {
  const auto found = spec.arguments.find(key);
  if (found == spec.arguments.end()) return otherwise;
  const auto value = parse_real(found->second);
  if (!value || !std::isfinite(*value)) {
    fail(Code::usage, "data '{}': {} = '{}' is not a number", spec.name, key, found->second);
  }
  return *value;
}

template <typename T>
T count_argument(const DataSpec& spec, const std::string& key, T otherwise) {
  const double value = number_argument(spec, key, static_cast<double>(otherwise));
  if (value < 0 || value > 0x1.0p53 || value != std::floor(value)) {
    fail(Code::usage, "data '{}': {} = {} is not a count", spec.name, key, value);
  }
  return static_cast<T>(value);
}

void require_known_arguments(const DataSpec& spec, std::initializer_list<std::string_view> known) {
  for (const auto& entry : spec.arguments) {
    if (std::find(known.begin(), known.end(), entry.first) == known.end()) {
      fail(Code::usage, "data '{}' has no argument '{}'", spec.name, entry.first);
    }
  }
}

Dataset load_synthetic(const Synthetic& kind, const DataSpec& spec, const ReadLimits& limits) {
  require_known_arguments(spec, {"n", "noise", "turns", "seed"});
  if (!spec.part.empty()) fail(Code::usage, "data '{}' has no part '{}'; use a split", spec.name, spec.part);
  SyntheticOptions options;
  options.n = count_argument(spec, "n", options.n);
  options.noise = number_argument(spec, "noise", options.noise);
  options.turns = number_argument(spec, "turns", options.turns);
  options.seed = count_argument(spec, "seed", options.seed);
  if (spec.arguments.contains("noise") && options.noise < 0) {
    fail(Code::usage, "data '{}': noise = {} is negative", spec.name, options.noise);
  }
  constexpr double row_bytes = 3 * 8;
  limits.require(row_bytes * static_cast<double>(options.n), spec.name);
  return make_synthetic(kind, options);
}

std::string known_names() {
  std::string names;
  for (const NamedSet& set : named_sets) names += fmt::format("{}, ", set.form);
  for (const Synthetic& kind : synthetics()) names += fmt::format("{}, ", kind.name);
  names += "graphs:NAME, - (standard input), a folder of images, or a file ending in";
  for (const Format& format : formats()) names += fmt::format(" {}", format.ending);
  return names;
}

std::string nearest_name(std::string_view name) {
  std::vector<std::string_view> names;
  for (const NamedSet& set : named_sets) names.push_back(set.name);
  for (const Synthetic& kind : synthetics()) names.push_back(kind.name);
  return suggestion(name, names);
}

/// Path and options of a file SPEC; parentheses hold arguments unless a file has them in its name.
struct FileSpec {
  fs::path path;
  ReadOptions options;
};

ReadOptions reading(const DataOptions& options, const std::string& source) {
  ReadOptions how;
  how.source = source;
  how.label = options.label;
  how.least_features = options.least_features;
  how.limits = options.limits;
  how.table = options.table;
  how.like = options.like;
  how.keep_missing = options.keep_missing;
  how.part = options.part;
  return how;
}

FileSpec parse_file_spec(const std::string& text, const DataOptions& options) {
  FileSpec file{text, reading(options, text)};
  std::error_code ignored;
  const auto open = text.rfind('(');
  const bool closed = text.ends_with(')') && open != std::string::npos;
  if (closed && !fs::exists(file.path, ignored) && find_format(text.substr(0, open)) != nullptr) {
    file.path = text.substr(0, open);
    DataSpec arguments = parse_spec("file" + text.substr(open));
    require_known_arguments(arguments, {"x", "label"});
    if (arguments.arguments.contains("x")) file.options.features = arguments.arguments.at("x");
    if (arguments.arguments.contains("label") && !options.label) file.options.label = arguments.arguments.at("label");
    file.options.source = file.path.string();
  }
  return file;
}

/// Returns whether `text` is a set of the catalogue; a folder of the same name must be given with a slash.
bool names_set(const std::string& text) {
  const auto called = [&](const auto& set) { return set.name == text; };
  return std::any_of(named_sets.begin(), named_sets.end(), called) ||
         std::any_of(synthetics().begin(), synthetics().end(), called);
}

/// Throws Error{usage} if `options` select columns: only tables have them.
void require_no_choice(const DataOptions& options, const std::string& source) {
  const TableOptions& table = options.table;
  if (options.like != nullptr || (!table.chooses() && table.missing == Missing::refuse)) return;
  fail(Code::usage, "{} is not a table: only CSV files, TSV files and uci:NAME have columns and missing values",
       source);
}

/// Throws Error{usage} if `options` choose a label of a source that has_fixed_labels.
void require_fixed_label(const DataOptions& options, const std::string& source) {
  if (!options.label || options.label == "none") return;
  fail(Code::usage, "{} has no column or array '{}' to take labels from; its only choice is 'none', without labels",
       source, *options.label);
}

void remove_labels(Dataset& data) {
  data.labels.clear();
  data.class_names.clear();
  data.targets.clear();
}

/// Returns the graphs of a set with their labels. The choice of tags or degrees of another set has priority: e.g. a
/// file of a single molecule can have one tag only, although the training graphs have several.
Dataset graph_samples(GraphSet set, std::optional<bool> degree_tags) {
  Dataset data;
  data.name = set.name;
  data.degree_tags = degree_tags.value_or(degrees_as_tags(set));
  data.values = sample_graphs(set, *data.degree_tags);
  data.shape = std::get<Graphs>(data.values).shape();
  if (*data.degree_tags) {
    const char* why = degree_tags ? "as in training" : "all nodes have one tag";
    data.notes.push_back(fmt::format("{}: {}, the degree of a node is its tag", set.name, why));
  }
  data.labels = std::move(set.labels);
  data.class_names = std::move(set.class_names);
  return data;
}

}  // namespace

bool names_folder(const std::string& spec) {
  std::error_code ignored;
  return fs::is_directory(spec, ignored) && !names_set(spec);
}

bool has_fixed_labels(const std::string& text) {
  if (names_standard_input(text)) return false;
  if (names_folder(text)) return true;
  if (find_format(parse_file_spec(text, {}).path) != nullptr) return false;
  if (names_graphs(text)) return true;
  const std::string name = text.substr(0, text.find_first_of(":("));
  const auto fixed = [&](const NamedSet& set) { return set.name == name && !set.table; };
  const auto called = [&](const Synthetic& kind) { return kind.name == name; };
  return std::any_of(named_sets.begin(), named_sets.end(), fixed) ||
         std::any_of(synthetics().begin(), synthetics().end(), called);
}

Dataset load_data(const std::string& text, const DataOptions& options) {
  if (has_fixed_labels(text)) require_fixed_label(options, text);
  const bool labelled = options.label != "none";
  if (names_standard_input(text)) {
    Dataset data = read_standard_input(text, reading(options, "standard input"));
    data.name = text;
    if (data.layout.columns.empty()) require_no_choice(options, "standard input");
    return data;
  }
  if (names_folder(text)) {
    require_no_choice(options, text);
    return read_image_folder(text, reading(options, text));
  }
  const FileSpec file = parse_file_spec(text, options);
  if (const Format* format = find_format(file.path)) {
    Dataset data = format->read(file.path, file.options);
    if (data.layout.columns.empty()) require_no_choice(options, text);
    return data;
  }
  const DataSpec spec = parse_spec(text);
  for (const Synthetic& kind : synthetics()) {
    if (kind.name != spec.name) continue;
    require_no_choice(options, text);
    Dataset data = load_synthetic(kind, spec, options.limits);
    data.name = text;
    if (!labelled) remove_labels(data);
    return data;
  }
  for (const NamedSet& set : named_sets) {
    if (set.name != spec.name) continue;
    require_known_arguments(spec, {});
    if (!set.table) require_no_choice(options, text);
    Dataset data = set.load(spec, options);
    if (!set.table && !labelled) remove_labels(data);
    return data;
  }
  if (names_graphs(text)) {
    require_no_choice(options, text);
    return graph_samples(load_graphs(text, options.limits, labelled), options.degree_tags);
  }
  std::error_code ignored;
  const char* what = fs::exists(file.path, ignored) ? "a file with an unknown extension" : "unknown";
  fail(Code::input, "data '{}' is {}; choose {}{}", text, what, known_names(), nearest_name(spec.name));
}

bool names_graphs(const std::string& spec) {
  return spec.starts_with("graphs:") || spec.ends_with(".txt") || spec.ends_with(".txt.gz");
}

GraphSet load_graphs(const std::string& spec, const ReadLimits& limits, bool labelled) {
  if (spec.starts_with("graphs:")) return load_graph_set(parse_spec(spec).part, limits, labelled);
  if (!names_graphs(spec)) fail(Code::input, "'{}' is not a set of graphs; write graphs:NAME or FILE.txt.gz", spec);
  return read_graphs(spec, {}, limits, labelled);
}

std::vector<CatalogueEntry> list_data() {
  std::vector<CatalogueEntry> entries;
  for (const NamedSet& set : named_sets) {
    entries.push_back(
        {std::string(set.form), std::string(set.what), std::string(set.samples), set.where(), set.members()});
  }
  for (const Synthetic& kind : synthetics()) {
    entries.push_back({std::string(kind.name), std::string(kind.what), "400, or n=", embedded_place(), {}});
  }
  entries.push_back({"graphs:NAME", "graph classification", "188 to 4110 each", find_graphs(), graph_names()});
  return entries;
}

}  // namespace widelimit
