#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/kernel/entries.hpp"
#include "widelimit/kernel/file/gram_writer.hpp"
#include "widelimit/kernel/gram.hpp"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Samples of a kernel block: x1 with itself, or every sample of x1 with every sample of x2.
struct GramBlock {
  std::string prefix;  ///< prefix of the names in the file: "" or "test_"
  SampleView x1;
  std::optional<SampleView> x2;
};

struct GramFileOptions {
  Kind kind = GramOptions{}.kind;
  Precision precision = GramOptions{}.precision;
  /// Limit in bytes for samples, loaded data and tiles in flight; absent: half of the available memory.
  std::optional<std::size_t> memory;
  Existing existing = Existing::refuse;
  Progress* progress = nullptr;
  nlohmann::ordered_json settings =
      nlohmann::ordered_json::object();  ///< stored in the file, with route and quadrature_error
  std::vector<NamedArray> beside;        ///< small arrays stored in the same file, e.g. labels
  Index most_loaded = 0;                 ///< samples loaded at once; 0: as many as memory allows
};

/// Summary of a written file.
struct GramFileSummary {
  struct Matrix {
    std::string name;
    Entries entries;  ///< only rows and columns if the file was already complete
  };
  std::vector<Matrix> matrices;
  bool complete_before = false;     ///< nothing had to be computed
  std::vector<std::string> routes;  ///< description of the method for each network
  double quadrature_error = 0.0;
  double seconds = 0.0;
  double pairs = 0.0;       ///< computed by this run
  double pairs_kept = 0.0;  ///< computed by previous runs
  std::size_t memory = 0;   ///< bytes of the memory plan
  Index panels = 0;         ///< row panels, over all networks and blocks
};

/// Computes kernels of `networks` on `blocks` and writes them tile by tile to the HDF5 file `path`; the matrices may
/// exceed the available memory. Names are prefix + "nngp" and prefix + "ntk"; for several networks, each has a group
/// "network1/", "network2/", …. The entries equal those of gram() bitwise for any memory limit and number of threads,
/// and after any number of interruptions (see GramWriter). Error{interrupted} and Error{resource} explain how to
/// continue.
GramFileSummary write_gram(const std::filesystem::path& path, std::span<const Network> networks,
                           std::span<const GramBlock> blocks, const GramFileOptions& options, const Engine& engine);

}  // namespace widelimit
