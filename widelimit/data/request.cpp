#include "widelimit/data/request.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/data/formats/csv.hpp"
#include "widelimit/data/formats/standard_input.hpp"
#include "widelimit/data/preparation/equal_rows.hpp"
#include "widelimit/data/preparation/missing.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace widelimit {

namespace {

constexpr std::uint64_t train_stream = 0;
constexpr std::uint64_t test_stream = 1;

/// Options for reading one source of a request.
struct SourceReading {
  Index least_features = 0;
  std::optional<std::string> label;
  const TableLayout* like = nullptr;  ///< used if it has columns
  std::optional<bool> degree_tags = {};
  Missing missing = Missing::refuse;
  Part part = Part::train;  ///< part to read if a file holds both
};

Dataset load_text(const std::string& name, const std::string& text, const DataOptions& options) {
  ReadOptions how;
  how.source = name;
  how.label = options.label;
  how.limits = options.limits;
  how.table = options.table;
  how.like = options.like;
  how.keep_missing = options.keep_missing;
  return parse_csv(text, how);
}

/// Loads the samples of `spec` within the memory limit of `request`, unprocessed: missing values to be filled are NaN.
/// Throws Error{usage} if columns are selected and the source is not a table.
Dataset load_source(const DataRequest& request, const std::string& spec, const SourceReading& how) {
  DataOptions options;
  options.label = how.label;
  options.table = request.table;
  options.table.missing = how.missing;
  options.like = how.like != nullptr && !how.like->columns.empty() ? how.like : nullptr;
  options.degree_tags = how.degree_tags;
  options.keep_missing = true;
  options.part = how.part;
  options.least_features = how.least_features;
  options.limits = {request.memory, request.progress};
  const auto text = request.texts.find(spec);
  Dataset data = text != request.texts.end() ? load_text(spec, text->second, options) : load_data(spec, options);
  lay_out(data, request.layout);
  return data;
}

/// Applies the steps before the split: selection of classes, shuffle.
Dataset before_split(Dataset source, const DataOrigin& origin) {
  if (!origin.classes.empty()) source = select_classes(source, origin.classes);
  if (origin.shuffle) source = shuffle_rows(source, *origin.shuffle, train_stream);
  return source;
}

/// Returns the memory of the values in bytes.
double bytes_of(const Dataset& data) { return static_cast<double>(data.view().bytes()); }

/// Throws Error{resource} if the copies made by selecting, shuffling and splitting do not fit into memory.
void require_copies(const DataRequest& request, const TrainTest& parts) {
  if (request.classes.empty() && !request.shuffle && !request.split && !request.limit && !request.test_limit) return;
  const double test = parts.test ? bytes_of(*parts.test) : 0;
  ReadLimits{request.memory, nullptr}.require(2 * bytes_of(parts.train) + 2 * test, parts.train.name);
}

/// Returns the label to read from a separate test set: the layout of a training table finds its columns, and sources
/// with labels of their own can only leave them out.
std::optional<std::string> label_of_test(const DataRequest& request, bool table) {
  const bool named = request.label && request.label != "none";
  return table || (named && has_fixed_labels(*request.test)) ? std::nullopt : request.label;
}

/// Throws Error{input} if the model reads graphs and the samples are none. Labels, which are compared with those of the
/// model afterwards, do not tell the reason.
void require_same_kind(const Dataset& data, const DataOrigin& origin) {
  const bool graphs = std::holds_alternative<Graphs>(data.values);
  if (origin.degree_tags && !graphs) {
    fail(Code::input, "the model reads graphs, but {} has samples of shape {}", data.name, to_string(data.shape));
  }
  if (!origin.degree_tags && graphs && origin.samples > 0) {
    fail(Code::input, "{} has graphs, but the model reads vectors or images", data.name);
  }
}

/// Loads a separate test set with the columns and the shape of `train`.
Dataset load_test(const DataRequest& request, Dataset& train) {
  const bool table = !train.layout.columns.empty();
  SourceReading how{.least_features = train.shape.size(),
                    .label = label_of_test(request, table),
                    .like = table ? &train.layout : nullptr,
                    .degree_tags = train.degree_tags,
                    .missing = request.table.missing,
                    .part = Part::test};
  Dataset test = load_source(request, *request.test, how);
  // LIBSVM omits trailing zeros: if the test set has more columns, the training set is read again with as many.
  if (train.shape.size() < test.shape.size() && !names_standard_input(request.train)) {
    train = load_source(request, request.train,
                        {.least_features = test.shape.size(),
                         .label = request.label,
                         .like = &request.like,
                         .missing = request.table.missing});
  }
  if (test.shape != train.shape) {
    fail(Code::input, "samples of {} have shape {}, those of {} have {}", test.name, to_string(test.shape), train.name,
         to_string(train.shape));
  }
  return test;
}

void choose_task(const DataRequest& request, TrainTest& parts) {
  if (request.task && parts.train.labelled()) {
    set_task(parts.train, *request.task);
  } else if (request.classes.empty() && !names_folder(request.train)) {
    // Not for folders of images: their names are class names, even if numeric.
    guess_task(parts.train);
  }
  if (parts.test && parts.test->labelled() && request.task == Task::classification) {
    set_task(*parts.test, Task::classification);
  }
}

/// Applies class selection and shuffle to a separate test set and maps its labels to the class names of `train`.
Dataset chosen_test(const DataRequest& request, Dataset test, const Dataset& train) {
  // Unlabelled test data has no classes to select.
  if (!request.classes.empty() && !test.class_names.empty()) test = select_classes(test, request.classes);
  if (request.shuffle && test.labelled()) test = shuffle_rows(test, *request.shuffle, test_stream);
  if (train.labelled()) relabel(test, train.class_names, !train.targets.empty());
  return test;
}

std::vector<std::string> absent_classes(const Dataset& data) {
  std::vector<bool> present(data.class_names.size(), false);
  for (const Index label : data.labels) present[usize(label)] = true;
  std::vector<std::string> names;
  for (std::size_t c = 0; c < present.size(); ++c) {
    if (!present[c]) names.push_back(data.class_names[c]);
  }
  return names;
}

void split_parts(TrainTest& parts) {
  const SplitRows rows = split_rows(parts.train, *parts.origin.split);
  parts.test = take_rows(parts.train, rows.test);
  parts.train = take_rows(parts.train, rows.train);
  const std::vector<std::string> absent = absent_classes(*parts.test);
  if (absent.empty()) return;
  parts.notes.push_back(fmt::format("{}: the test part of the split has no sample of class {}", parts.train.name,
                                    fmt::join(absent, ", ")));
}

void take_notes(TrainTest& parts) {
  std::vector<std::string> notes;
  const auto add = [&](const std::vector<std::string>& more) {
    for (const std::string& note : more) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
  };
  add(std::exchange(parts.train.notes, {}));
  if (parts.test) add(std::exchange(parts.test->notes, {}));
  add(parts.notes);
  parts.notes = std::move(notes);
}

void fill_parts(const DataRequest& request, TrainTest& parts) {
  if (!fills(request.table.missing)) return;
  learn_fill(parts.train, request.table.missing);
  fill_missing(parts.train, parts.train.layout);
  if (parts.test) fill_missing(*parts.test, parts.train.layout);
}

/// If only one of the two sets is sparse, converts the other to sparse.
void make_alike(Dataset& train, Dataset& test) {
  const bool sparse = train.view().sparse() != nullptr;
  if (sparse == (test.view().sparse() != nullptr)) return;
  Dataset& dense = sparse ? test : train;
  dense.values = sparse_copy(dense.view());
}

/// Adds a note on test samples that equal a training sample: their errors are not those of new samples.
void note_known_samples(TrainTest& parts) {
  const Index known = samples_also_in(parts.test->values, parts.train.values);
  if (known == 0) return;
  parts.notes.push_back(
      fmt::format("{}: {} of {} test samples equal a training sample; their scores are not those of new samples",
                  parts.test->name, known, parts.test->count()));
}

bool is_source_of(const DataOrigin& origin, const Dataset& data) {
  return data.count() == origin.samples && sample_checksum(data) == origin.checksum;
}

bool has_fills(const TableLayout& layout) {
  return std::any_of(layout.columns.begin(), layout.columns.end(), [](const Column& c) { return c.fill.has_value(); });
}

/// Sets the task of `data` to that of the model: classification or regression.
void follow_task(Dataset& data, const std::vector<std::string>& classes) {
  if (data.labelled()) set_task(data, classes.empty() ? Task::regression : Task::classification);
}

Missing missing_of(const DataRequest& request, const DataOrigin& origin) {
  if (has_fills(origin.layout)) return origin.layout.missing;
  if (fills(request.table.missing)) {
    fail(Code::usage,
         "the model has no fill values for missing values; drop their rows, or fit it again with them filled");
  }
  return request.table.missing;
}

/// Loads all samples of the source, including training samples.
NewSamples load_all(const DataRequest& request, const DataOrigin& origin, const std::vector<std::string>& classes) {
  NewSamples found;
  found.data = load_source(request, request.train,
                           {.label = request.label,
                            .like = &origin.layout,
                            .degree_tags = origin.degree_tags,
                            .missing = missing_of(request, origin),
                            .part = Part::test});
  require_same_kind(found.data, origin);
  if (origin.samples > 0 && is_source_of(origin, found.data)) {
    found.part = origin.split || origin.limit || !origin.classes.empty() ? Part::all : Part::train;
    found.notes.push_back(fmt::format("{}: the model was trained on {} of these samples{}", found.data.name,
                                      found.part == Part::all ? "some" : "all",
                                      origin.split ? "; its test part was held out" : ""));
  }
  follow_task(found.data, classes);
  if (request.classes.empty() && !request.shuffle && !request.limit) return found;
  ReadLimits{request.memory, nullptr}.require(2 * bytes_of(found.data), found.data.name);
  DataOrigin chosen;
  chosen.classes = request.classes;
  chosen.shuffle = request.shuffle;
  found.data = before_split(std::move(found.data), chosen);
  return found;
}

/// Drops samples of classes that are unknown to the model; none of them was trained on.
void drop_unknown_classes(NewSamples& found, const std::vector<std::string>& classes) {
  Dataset& data = found.data;
  if (classes.empty() || data.labels.empty()) return;
  std::vector<Index> rows;
  std::set<std::string> dropped;
  for (std::size_t i = 0; i < data.labels.size(); ++i) {
    const std::string& name = data.class_names[usize(data.labels[i])];
    if (std::find(classes.begin(), classes.end(), name) != classes.end()) {
      rows.push_back(static_cast<Index>(i));
    } else {
      dropped.insert(name);
    }
  }
  if (dropped.empty()) return;
  found.notes.push_back(fmt::format("{}: the model has no class {}; {} samples are left out", data.name,
                                    fmt::join(dropped, ", "), data.count() - std::ssize(rows)));
  std::vector<std::string> known;
  for (const std::string& name : data.class_names) {
    if (!dropped.contains(name)) known.push_back(name);
  }
  data = select_classes(data, known);
}

/// Loads a part of the model's split from the source of the split.
NewSamples load_split_part(const DataRequest& request, const DataOrigin& origin,
                           const std::vector<std::string>& classes, Part part) {
  if (!origin.split) {
    fail(Code::usage, "the model was made without a split; it has no {} part to take", to_string(part));
  }
  if (!request.classes.empty() || request.shuffle || request.label == "none") {
    fail(Code::usage,
         "the model's split already defines classes, labels and order; choose none of them for a part of it");
  }
  NewSamples found;
  found.part = part;
  Dataset source = load_source(request, request.train,
                               {.label = request.label || !origin.layout.columns.empty() ? request.label : origin.label,
                                .like = &origin.layout,
                                .degree_tags = origin.degree_tags,
                                .missing = origin.layout.missing});
  if (!is_source_of(origin, source)) {
    fail(Code::input, "{} is not the source that the model's split was taken from: that had {} samples, this has {}{}",
         source.name, origin.samples, source.count(), source.count() == origin.samples ? " of other values" : "");
  }
  follow_task(source, classes);
  ReadLimits{request.memory, nullptr}.require(2 * bytes_of(source), source.name);
  source = before_split(std::move(source), origin);
  const SplitRows rows = split_rows(source, *origin.split);
  found.data = take_rows(source, part == Part::test ? rows.test : rows.train);
  found.data.notes.clear();  // notes on reading the source were already shown when the model was fitted
  if (part == Part::train && origin.limit) found.data = limit_rows(std::move(found.data), *origin.limit);
  drop_unknown_classes(found, classes);
  return found;
}

}  // namespace

void DataRequest::validate() const {
  if (test && split) fail(Code::usage, "a separate test set and a split are mutually exclusive; give one");
  if (test && names_standard_input(train) && names_standard_input(*test)) {
    fail(Code::usage, "standard input can be read once: only one of the training and the test samples can be '-'");
  }
  if (split) Split{*split, split_order, seed}.validate();
  table.validate();
  if (limit && *limit < 1) fail(Code::usage, "a limit of {} samples leaves no samples; give at least 1", *limit);
  if (test_limit && *test_limit < 1)
    fail(Code::usage, "a test limit of {} samples leaves no samples; give at least 1", *test_limit);
}

TrainTest load_train_test(const DataRequest& request) {
  const Interruptible interruptible(request.progress);
  request.validate();
  TrainTest parts;
  parts.train = load_source(request, request.train,
                            {.label = request.label, .like = &request.like, .missing = request.table.missing});
  if (request.test) parts.test = load_test(request, parts.train);
  choose_task(request, parts);
  require_copies(request, parts);
  parts.origin = {.layout = {},
                  .degree_tags = parts.train.degree_tags,
                  .samples = parts.train.count(),
                  .checksum = sample_checksum(parts.train),
                  .label = request.label,
                  .classes = request.classes,
                  .shuffle = request.shuffle,
                  .split = {},
                  .limit = request.limit};
  if (request.split) parts.origin.split = Split{*request.split, request.split_order, request.seed};
  parts.train = before_split(std::move(parts.train), parts.origin);
  if (parts.test) parts.test = chosen_test(request, std::move(*parts.test), parts.train);
  if (request.split) split_parts(parts);
  if (request.limit) parts.train = limit_rows(std::move(parts.train), *request.limit);
  if (request.test_limit && parts.test) parts.test = limit_rows(std::move(*parts.test), *request.test_limit);
  if (parts.train.count() == 0) fail(Code::input, "{}: no samples are left to train on", parts.train.name);
  drop_absent_classes(parts.train, parts.test);
  fill_parts(request, parts);
  take_notes(parts);
  parts.origin.layout = parts.train.layout;
  if (parts.test) {
    make_alike(parts.train, *parts.test);
    note_known_samples(parts);
  }
  if (request.scale == Scaling::none) return parts;
  parts.scaling.emplace(request.scale, parts.train);
  parts.scaling->apply(parts.train);
  if (parts.test) parts.scaling->apply(*parts.test);
  return parts;
}

NewSamples load_new_samples(const DataRequest& request, const DataOrigin& origin,
                            const std::vector<std::string>& classes, Part part) {
  request.validate();
  NewSamples found =
      part == Part::all ? load_all(request, origin, classes) : load_split_part(request, origin, classes, part);
  if (request.limit) found.data = limit_rows(std::move(found.data), *request.limit);
  fill_missing(found.data, origin.layout);
  if (found.data.labelled()) relabel(found.data, classes, classes.empty());
  found.notes.insert(found.notes.begin(), found.data.notes.begin(), found.data.notes.end());
  found.data.notes.clear();
  return found;
}

}  // namespace widelimit
