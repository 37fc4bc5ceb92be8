#include "widelimit/data/request.hpp"

#include "widelimit/base/interruption.hpp"
#include "widelimit/data/catalogue/sources.hpp"
#include "widelimit/data/formats/standard_input.hpp"
#include "widelimit/data/preparation/missing.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <fmt/ranges.h>

#include <algorithm>

namespace widelimit {

namespace {

constexpr std::uint64_t test_stream = 1;

/// Throws Error{resource} if the copies made by selecting, shuffling and splitting do not fit into memory.
void require_copies(const DataRequest& request, const TrainTest& parts) {
  if (request.classes.empty() && !request.shuffle && !request.split && !request.limit && !request.test_limit) return;
  const double test = parts.test ? bytes_of(*parts.test) : 0;
  ReadLimits{request.memory, nullptr}.require(2 * bytes_of(parts.train) + 2 * test, parts.train.name);
}

/// Loads a separate test set with the columns and the shape of `train`.
Dataset load_test(const DataRequest& request, Dataset& train) {
  const bool table = !train.layout.columns.empty();
  SourceReading how{.least_features = train.shape.size(),
                    .label = table ? std::nullopt : request.label,
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

}  // namespace

void DataRequest::validate() const {
  if (test && split) fail(Code::usage, "a separate test set and a split are mutually exclusive; give one");
  if (test && names_standard_input(train) && names_standard_input(*test)) {
    fail(Code::usage, "standard input can be read once: only one of the training and the test samples can be '-'");
  }
  if (split) Split{*split, split_order, seed}.validate();
  table.validate();
  if (limit && *limit < 1) fail(Code::usage, "a limit of {} samples leaves nothing", *limit);
  if (test_limit && *test_limit < 1) fail(Code::usage, "a test limit of {} samples leaves nothing", *test_limit);
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
  if (parts.test) make_alike(parts.train, *parts.test);
  if (request.scale == Scaling::none) return parts;
  parts.scaling.emplace(request.scale, parts.train);
  parts.scaling->apply(parts.train);
  if (parts.test) parts.scaling->apply(*parts.test);
  return parts;
}

}  // namespace widelimit
