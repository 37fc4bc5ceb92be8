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

/// Samples whose kernel is wanted: x1 with itself, or every sample of x1 with every sample of x2.
struct GramBlock {
  std::string prefix;  ///< of the names in the file: "" or "test_"
  SampleView x1;
  std::optional<SampleView> x2;
};

struct GramFileOptions {
  Kind kind = GramOptions{}.kind;
  Precision precision = GramOptions{}.precision;
  /// Bytes that samples, what is made of them, and tiles under way may take; absent: half of what the machine has left.
  std::optional<std::size_t> memory;
  Existing existing = Existing::refuse;
  Progress* progress = nullptr;
  nlohmann::ordered_json settings =
      nlohmann::ordered_json::object();  ///< travel in the file, with route and quadrature_error
  std::vector<NamedArray> beside;        ///< small arrays for the same file, as labels
  Index most_loaded = 0;                 ///< samples loaded at once; 0: as many as memory allows
};

/// What went into the file.
struct GramFileSummary {
  struct Matrix {
    std::string name;
    Entries entries;  ///< only rows and columns where the file was complete before
  };
  std::vector<Matrix> matrices;
  bool complete_before = false;     ///< nothing was left to do
  std::vector<std::string> routes;  ///< of each network, in words
  double quadrature_error = 0.0;
  double seconds = 0.0;
  double pairs = 0.0;       ///< computed by this run
  double pairs_kept = 0.0;  ///< that an earlier run had finished
  std::size_t memory = 0;   ///< bytes the plan takes
  Index panels = 0;         ///< row panels, over all networks and blocks
};

/// Kernels of `networks` on `blocks`, written to the HDF5 file `path` tile by tile while they are computed: the
/// matrices may be far larger than memory. Names are prefix + "nngp" and prefix + "ntk"; of several networks each has
/// its group "network1/", "network2/", …. The entries are those of gram(), bit for bit, for any memory and number of
/// threads, and so is the file after any number of interruptions (see GramWriter). Error{interrupted} and
/// Error{resource} say how to go on.
GramFileSummary write_gram(const std::filesystem::path& path, std::span<const Network> networks,
                           std::span<const GramBlock> blocks, const GramFileOptions& options, const Engine& engine);

}  // namespace widelimit
