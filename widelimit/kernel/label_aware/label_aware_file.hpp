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

/// Θ in a file: the training kernel is "name", the test × train kernel, if `test`, is "test_name".
struct StoredKernel {
  std::filesystem::path path;
  std::string name = "ntk";
  bool test = false;
};

struct LabelAwareFileOptions {
  LabelAwareOptions aware;
  /// Limit in bytes for strips and tiles of the matrices; absent: half of the available memory.
  std::optional<std::size_t> memory;
  Existing existing = Existing::refuse;
  Progress* progress = nullptr;
  nlohmann::ordered_json settings = nlohmann::ordered_json::object();  ///< stored in the file
  std::vector<NamedArray> beside;  ///< small arrays stored in the same file, e.g. labels
};

/// Summary of a written file.
struct LabelAwareFileSummary {
  LabelAwareKernels made;  ///< without a spectrum repair
  std::vector<GramFileSummary::Matrix> matrices;
  bool complete_before = false;  ///< nothing had to be computed
  double seconds = 0;
  double pairs = 0;       ///< written by this run
  double pairs_kept = 0;  ///< written by previous runs
};

/// make_label_aware from a Gram matrix in a file to another file, as "label_aware" and, if `theta.test`,
/// "test_label_aware", tile by tile; neither matrix needs to fit into memory. Entries equal those of make_label_aware
/// on float64 matrices bitwise, also after interruptions: a resumed run repeats the fit and continues with the missing
/// tiles (see GramWriter). Throws Error{usage} for methods and spectrum repairs that need the whole matrix, and if
/// `path` is the file of `theta`.
LabelAwareFileSummary write_label_aware(const std::filesystem::path& path, const StoredKernel& theta,
                                        const PairSources& sources, std::span<const Index> labels, Index classes,
                                        const LabelAwareFileOptions& options, const Engine& engine);

}  // namespace widelimit
