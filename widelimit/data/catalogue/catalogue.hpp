#pragma once

#include "widelimit/data/dataset.hpp"
#include "widelimit/data/formats/graph.hpp"
#include "widelimit/data/formats/read_limits.hpp"
#include "widelimit/data/origin.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace widelimit {

/// Parsed data specification: `name` or `name:part`, optionally with arguments, e.g. `spirals(n=200,noise=0.1)`.
struct DataSpec {
  std::string name;
  std::string part;
  std::map<std::string, std::string> arguments;
};

/// Throws Error{usage} if a parenthesis is not closed or an argument is not key=value.
[[nodiscard]] DataSpec parse_spec(std::string_view text);

struct DataOptions {
  std::optional<std::string> label;   ///< label column or array of a file, or "none" for samples without labels
  Index least_features = 0;           ///< LIBSVM files: minimum number of columns
  TableOptions table;                 ///< CSV files, uci:NAME
  const TableLayout* like = nullptr;  ///< tables: use the layout of an earlier table
  bool keep_missing = false;          ///< tables: keep NaN for values to be filled, so that the caller fills them
  std::optional<bool> degree_tags;    ///< graphs: use node degrees as node tags; absent: see degrees_as_tags
  Part part = Part::train;            ///< NPZ, HDF5: the part to read if a file holds training and test arrays
  ReadLimits limits;
};

/// Loads what `spec` names:
/// - `digits`; `spirals`, `circles`, `moons`, `gaussians` (arguments n, noise, turns, seed): built in;
/// - `mnist:train|test`, `cifar10:train|test`, `uci:NAME`: searched for in data_folders();
/// - `graphs:NAME`, or the path of a graph text file (.txt, .txt.gz): samples are graphs;
/// - a file, by its extension (formats()), with arguments `x=` and `label=` for files with several arrays;
/// - a folder of images with one sub-folder per class (image_folder.hpp);
/// - `-`, or `FORMAT:-`: standard input (standard_input.hpp).
/// Throws Error{input} with the searched locations and a remedy if nothing is found.
[[nodiscard]] Dataset load_data(const std::string& spec, const DataOptions& options = {});

/// Returns whether `spec` names a folder of images.
[[nodiscard]] bool names_folder(const std::string& spec);

/// Returns whether `spec` names samples whose labels cannot be chosen, only left out: graphs, folders of images, and
/// sets of the catalogue that are not tables.
[[nodiscard]] bool has_fixed_labels(const std::string& spec);

/// Loads `graphs:NAME`, or a graph text file (.txt, .txt.gz); without labels if not `labelled`.
[[nodiscard]] GraphSet load_graphs(const std::string& spec, const ReadLimits& limits = {}, bool labelled = true);

/// Returns whether `spec` names graphs, which load_graphs reads.
[[nodiscard]] bool names_graphs(const std::string& spec);

/// Line of `data list`.
struct CatalogueEntry {
  std::string name;  ///< as a SPEC; NAME stands for one of `members`
  std::string what;
  std::string samples;
  std::string where;  ///< path or "embedded"; empty if not found
  std::vector<std::string> members;
};

[[nodiscard]] std::vector<CatalogueEntry> list_data();

}  // namespace widelimit
