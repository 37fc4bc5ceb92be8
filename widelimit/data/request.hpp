#pragma once

#include "widelimit/data/catalogue/catalogue.hpp"
#include "widelimit/data/labels/labels.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/data/preparation/image_layout.hpp"
#include "widelimit/data/preparation/scaling.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// What the common data options of every door ask for.
struct DataRequest {
  std::string train;                 ///< SPEC
  std::optional<std::string> test;   ///< SPEC; excludes `split`
  std::vector<std::string> classes;  ///< keep these; empty keeps all
  std::optional<Index> limit;        ///< of training samples
  std::optional<Index> test_limit;
  std::optional<std::uint64_t> shuffle;  ///< seed; else the order of the source
  Scaling scale = Scaling::none;         ///< learned on train, applied to both
  std::optional<double> split;           ///< fraction of `train` to train on, the rest is the test set
  SplitOrder split_order = SplitOrder::stratified;
  std::uint64_t seed = 0;  ///< of the split
  std::optional<std::string> label;
  std::optional<Task> task;                  ///< else guessed by the labels, with a note where that could be wrong
  TableOptions table;                        ///< how a table is read
  std::map<std::string, std::string> texts;  ///< tables in memory: CSV with a header, by the SPEC that names it here
  TableLayout like;                          ///< or as another was before, where this has columns
  ImageLayout layout = {};                   ///< of the samples in their source
  std::optional<std::size_t> memory;         ///< bytes that loading may take at once; absent: what the machine has left
  Progress* progress = nullptr;

  /// Error{usage} for what contradicts itself or is out of range.
  void validate() const;
};

struct TrainTest {
  Dataset train;
  std::optional<Dataset> test;
  std::optional<Scaler> scaling;   ///< what both went through; nothing where there was nothing to do
  DataOrigin origin;               ///< for models to remember
  std::vector<std::string> notes;  ///< what a reader of results should know: guesses, classes and rows left out
};

/// Loads, then: layout of images → task → classes → shuffle (train and a separate test each) → split → limits → classes
/// without samples are left out → missing values → scale. The test set's labels are indices into the training set's
/// class_names, its columns those of the training set, by name. Error{input} where the two do not fit together.
[[nodiscard]] TrainTest load_train_test(const DataRequest& request);

struct NewSamples {
  Dataset data;  ///< labels, where it has any, are indices into the classes of the model
  std::vector<std::string> notes;
};

/// New samples for a model with these classes (none: it predicts numbers), read as those that it was made from, not
/// scaled yet: `request.train`, of which `request` may choose classes, shuffle and limit. Columns are found by name and
/// missing values filled as then. A part of the model's split is taken again from the same source: Error{input} where
/// it is another, Error{usage} where the model was made without a split. A note where the model was trained on samples
/// of the source.
[[nodiscard]] NewSamples load_new_samples(const DataRequest& request, const DataOrigin& origin,
                                          const std::vector<std::string>& classes, Part part = Part::all);

}  // namespace widelimit
