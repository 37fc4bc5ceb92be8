#include "widelimit/data/catalogue/sources.hpp"
#include "widelimit/data/preparation/missing.hpp"
#include "widelimit/data/preparation/preprocess.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace widelimit {

namespace {

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
  if (origin.samples > 0 && is_source_of(origin, found.data)) {
    found.notes.push_back(fmt::format("{}: the model was trained on {} of these samples{}", found.data.name,
                                      origin.split || origin.limit || !origin.classes.empty() ? "some" : "all",
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
