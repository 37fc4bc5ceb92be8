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

/// How a user names data: `name`, `name:part`, either with arguments: `spirals(n=200,noise=0.1)`.
struct DataSpec {
  std::string name;
  std::string part;
  std::map<std::string, std::string> arguments;
};

/// Error{usage} for parentheses that do not close, and for arguments that are not key=value.
[[nodiscard]] DataSpec parse_spec(std::string_view text);

struct DataOptions {
  std::optional<std::string> label;   ///< files: which column or array is the label, or "none"
  Index least_features = 0;           ///< LIBSVM files: at least so many columns
  TableOptions table;                 ///< CSV files, uci:NAME
  const TableLayout* like = nullptr;  ///< of these: read the columns that another table had
  bool keep_missing = false;          ///< of these: NaN where values are to be filled, for the caller to fill
  std::optional<bool> degree_tags;    ///< graphs: whether the tag of a node is its degree; else degrees_as_tags says
  Part part = Part::train;            ///< NPZ, HDF5: of a file that holds arrays to train and to test
  ReadLimits limits;
};

/// Loads what `spec` names:
/// - `digits`; `spirals`, `circles`, `moons`, `gaussians` (arguments n, noise, turns, seed): always there;
/// - `mnist:train|test`, `cifar10:train|test`, `uci:NAME`: looked for in data_folders();
/// - `graphs:NAME`, or the path of a graph text file (.txt, .txt.gz): samples that are graphs;
/// - a file by its ending (formats()), with arguments `x=` and `label=` for what a file may hold several of;
/// - a folder of images, whose folders are classes (image_folder.hpp);
/// - `-`, or `FORMAT:-`: standard input (standard_input.hpp).
/// Error{input} says where it looked and what to do.
[[nodiscard]] Dataset load_data(const std::string& spec, const DataOptions& options = {});

/// True where `spec` names a folder of images.
[[nodiscard]] bool names_folder(const std::string& spec);

/// `graphs:NAME`, or the path of a graph text file (.txt, .txt.gz).
[[nodiscard]] GraphSet load_graphs(const std::string& spec, const ReadLimits& limits = {});

/// True where `spec` names graphs, so that load_graphs reads it.
[[nodiscard]] bool names_graphs(const std::string& spec);

/// A line of `data list`.
struct CatalogueEntry {
  std::string name;  ///< as a SPEC, NAME standing for one of `members`
  std::string what;
  std::string samples;
  std::string where;  ///< a path or "embedded"; empty where it was not found
  std::vector<std::string> members;
};

[[nodiscard]] std::vector<CatalogueEntry> list_data();

}  // namespace widelimit
