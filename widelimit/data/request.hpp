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

/// The data options common to the command line, the library and the Python package.
struct DataRequest {
  std::string train;                 ///< SPEC
  std::optional<std::string> test;   ///< SPEC; mutually exclusive with `split`
  std::vector<std::string> classes;  ///< select these classes; empty: all
  std::optional<Index> limit;        ///< maximum number of training samples
  std::optional<Index> test_limit;
  std::optional<std::uint64_t> shuffle;  ///< seed; absent: the order of the source
  Scaling scale = Scaling::none;         ///< fitted on train, applied to both
  std::optional<double> split;           ///< fraction of `train` to train on; the rest is the test set
  SplitOrder split_order = SplitOrder::stratified;
  std::uint64_t seed = 0;  ///< of the split
  std::optional<std::string> label;
  std::optional<Task> task;  ///< absent: guessed from the labels, with a note if the guess could be wrong
  TableOptions table;        ///< how a table is read
  std::map<std::string, std::string> texts;  ///< CSV tables in memory, keyed by their SPEC
  TableLayout like;                          ///< if it has columns: layout of an earlier table, used instead of `table`
  ImageLayout layout = {};                   ///< of the images in their source
  std::optional<std::size_t> memory;         ///< byte limit for loading; absent: the available memory
  Progress* progress = nullptr;

  /// Throws Error{usage} if options contradict each other or are out of range.
  void validate() const;
};

struct TrainTest {
  Dataset train;
  std::optional<Dataset> test;
  std::optional<Scaler> scaling;   ///< scaling applied to both; absent if none
  DataOrigin origin;               ///< provenance that models store
  std::vector<std::string> notes;  ///< remarks for reports: guesses, omitted classes and rows
};

/// Loads, then applies: image layout → task → classes → shuffle (train and a separate test set independently) → split →
/// limits → removal of empty classes → imputation of missing values → scaling. Test labels are indices into the
/// class_names of the training set; columns of the test set are matched to those of the training set by name. Throws
/// Error{input} if the two sets are incompatible.
[[nodiscard]] TrainTest load_train_test(const DataRequest& request);

struct NewSamples {
  Dataset data;  ///< labels, if any, are indices into the classes of the model
  /// Part of the model's source that the samples are: `train` if the model was fitted to all of them, `all` if to some
  /// of them, `test` if to none as far as is known.
  Part part = Part::test;
  std::vector<std::string> notes;
};

/// Loads new samples for a model with these classes (none: a regression model), read like its training data but not
/// scaled: `request.train`, with the classes, shuffle and limit of `request`. Columns are matched by name, and missing
/// values are filled with the values learned in training. For a `part` of the model's split, the split is recomputed
/// from the same source: throws Error{input} if the source differs, Error{usage} if the model was made without a split.
/// Adds a note if the model was trained on samples of the source.
[[nodiscard]] NewSamples load_new_samples(const DataRequest& request, const DataOrigin& origin,
                                          const std::vector<std::string>& classes, Part part = Part::all);

}  // namespace widelimit
