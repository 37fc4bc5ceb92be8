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

/// Version of the file format, incremented if older programs cannot read files of newer ones.
inline constexpr int network_format = 2;

/// Metadata of a network file.
struct NetworkNotes {
  std::optional<Scaler> scaling;     ///< applied to new samples before the network
  std::vector<std::string> classes;  ///< names; empty for regression
  DataOrigin origin;                 ///< how the samples were read and split, if known
  bool channels_first = false;       ///< samples were channels-first in their source
  std::string record;                ///< training settings, JSON text
  std::string version;               ///< version of the program that wrote the file; empty: this one
};

struct SavedNetwork {
  TrainedNetwork trained;  ///< without its record
  NetworkNotes notes;
};

/// Writes HDF5: datasets w0, b0, w1, … (float32 or float64, fan_in × fan_out and fan_out × 1), shift, scale, and the
/// attribute "settings" with network, widths, seed, version and a checksum. w₀ is not stored, since it is determined by
/// the seed. A checkpoint also has the training state: velocity0, velocity_b0, …, squares0, squares_b0, …, auxiliary,
/// auxiliary_velocity, as used by the optimiser. Networks that format 1 can represent are written as format 1. The
/// write is atomic. Throws Error{input} for weights that are not finite, Error{resource} if the file cannot be written.
void save_network(const std::filesystem::path& path, const TrainedNetwork& trained, const NetworkNotes& notes = {});

/// Throws Error{input} if the file is not a trained network, is damaged, or has a newer format.
[[nodiscard]] SavedNetwork load_network(const std::filesystem::path& path, const ReadLimits& limits = {},
                                        const Engine& engine = all_processors());
/// As load_network, from the bytes of a whole file; `source` is its name in messages.
[[nodiscard]] SavedNetwork parse_network_file(Bytes bytes, const std::string& source,
                                              const Engine& engine = all_processors());

/// Returns whether the file claims to be a trained network, intact or damaged. Throws Error{input} if it cannot be
/// read.
[[nodiscard]] bool holds_network(const std::filesystem::path& path);

}  // namespace widelimit
