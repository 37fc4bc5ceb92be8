#pragma once

#include "widelimit/data/catalogue.hpp"
#include "widelimit/data/image_layout.hpp"
#include "widelimit/data/scaling.hpp"

#include <cstdint>
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
  std::optional<std::string> label;
  ImageLayout layout = {};            ///< of the samples in their source
  std::optional<std::size_t> memory;  ///< bytes that loading may take at once; absent: what the machine has left
  Progress* progress = nullptr;

  /// Error{usage} for what contradicts itself or is out of range.
  void validate() const;
};

struct TrainTest {
  Dataset train;
  std::optional<Dataset> test;
  std::optional<Scaler> scaling;  ///< what both went through; nothing where there was nothing to do
};

/// Loads, then: layout of images → classes → shuffle (train and a separate test each) → split → limits → scale. The
/// test set's labels are indices into the training set's class_names. Error{input} where the two do not fit together.
[[nodiscard]] TrainTest load_train_test(const DataRequest& request);

}  // namespace widelimit
