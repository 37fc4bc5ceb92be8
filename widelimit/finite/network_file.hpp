#pragma once

#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"
#include "widelimit/data/origin.hpp"
#include "widelimit/data/preparation/scaling.hpp"
#include "widelimit/finite/training/trained_network.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace widelimit {

/// Number of the format, raised when an older program could no longer read what a newer one writes.
inline constexpr int network_format = 2;

/// What a file says of a network besides.
struct NetworkNotes {
  std::optional<Scaler> scaling;     ///< what new samples go through before the network sees them
  std::vector<std::string> classes;  ///< names; empty where outputs are numbers
  DataOrigin origin;                 ///< how the samples were read and split, where that is known
  bool channels_first = false;       ///< samples came channel by channel in their source
  std::string record;                ///< settings of the training, JSON text
  std::string version;               ///< of the program that made it; empty: this one
};

struct SavedNetwork {
  TrainedNetwork trained;  ///< without its record
  NetworkNotes notes;
};

/// HDF5: datasets w0, b0, w1, … (float32 or float64, fan_in × fan_out and fan_out × 1), shift, scale, and the attribute
/// "settings" with network, widths, seed, version and a checksum. w₀ is not stored: it follows from the seed. A
/// checkpoint has the state of its training as well: velocity0, velocity_b0, …, squares0, squares_b0, …, auxiliary,
/// auxiliary_velocity, as far as the optimiser keeps them. What format 1 can say is written as format 1. The file
/// appears complete or not at all. Error{input} for weights that are not finite, Error{resource} where it cannot be
/// written.
void save_network(const std::filesystem::path& path, const TrainedNetwork& trained, const NetworkNotes& notes = {});

/// Error{input} where the file is not a trained network, damaged, or of a later format; never half a network.
[[nodiscard]] SavedNetwork load_network(const std::filesystem::path& path, const ReadLimits& limits = {},
                                        const Engine& engine = all_processors());
/// The same of the bytes of a whole file; `source` is for messages.
[[nodiscard]] SavedNetwork parse_network_file(Bytes bytes, const std::string& source,
                                              const Engine& engine = all_processors());

/// Whether the file says that it is a trained network, whole or damaged. Error{input} where it cannot be read.
[[nodiscard]] bool holds_network(const std::filesystem::path& path);

}  // namespace widelimit
