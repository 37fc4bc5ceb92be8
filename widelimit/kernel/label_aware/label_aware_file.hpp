#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/kernel/file/gram_file.hpp"
#include "widelimit/kernel/file/write_gram.hpp"
#include "widelimit/kernel/label_aware/label_aware.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Θ in a file: of the training samples "name", and, where `test`, of test samples with them "test_name".
struct StoredKernel {
  std::filesystem::path path;
  std::string name = "ntk";
  bool test = false;
};

struct LabelAwareFileOptions {
  LabelAwareOptions aware;
  /// Bytes for strips and tiles of the matrices; absent: half of what the machine has left.
  std::optional<std::size_t> memory;
  Existing existing = Existing::refuse;
  Progress* progress = nullptr;
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();  ///< travel in the file
  std::vector<NamedArray> beside;                                      ///< small arrays for the same file, as labels
};

/// What went into the file.
struct LabelAwareFileSummary {
  LabelAwareKernels made;  ///< without a repair
  std::vector<GramFileSummary::Matrix> matrices;
  bool complete_before = false;  ///< nothing was left to do
  double seconds = 0;
  double pairs = 0;       ///< written by this run
  double pairs_kept = 0;  ///< that an earlier run had finished
};

/// make_label_aware from a Gram matrix in a file into another file, "label_aware" and, with `theta.test`,
/// "test_label_aware", tile by tile: neither need fit into memory. Entries are those of make_label_aware on float64
/// matrices, bit for bit, after any number of interruptions, too: what is learned is learned again by a run that
/// resumes, and its tiles go on where they ended (see GramWriter). Error{usage} for methods and repairs of the spectrum
/// that need the whole matrix.
LabelAwareFileSummary write_label_aware(const std::filesystem::path& path, const StoredKernel& theta,
                                        const PairSources& sources, std::span<const Index> labels, Index classes,
                                        const LabelAwareFileOptions& options, const Engine& engine);

}  // namespace widelimit
