#pragma once

#include "widelimit/data/formats/bytes.hpp"
#include "widelimit/data/formats/read_limits.hpp"
#include "widelimit/data/labels/split.hpp"

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace widelimit {

/// Parses predefined folds: for each fold the training rows and the test rows, numbered from 0. Text: alternating lines
/// of training rows and test rows, separated by whitespace or commas; empty lines and comments (#) are skipped. The
/// partition files of the UCI benchmark of Fernández-Delgado et al. (conxuntos.dat, conxuntos_kfold.dat) have this
/// format. JSON: [{"train": [0, 1, …], "test": [5, …]}, …]. Throws Error{input} for anything else. check_folds
/// validates the rows against the data.
[[nodiscard]] std::vector<SplitRows> parse_folds(Bytes bytes, const std::string& source);
/// Reads folds from a file, which may be compressed.
[[nodiscard]] std::vector<SplitRows> read_folds(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Validates folds. Throws Error{input} if a part is empty, a row is out of range, repeated in one part, or in both
/// parts, or if the training rows of a fold are of one class only. Labels are 0 … classes − 1, or empty. Returns notes:
/// rows that are never tested, rows tested by several folds, and classes that a fold tests but does not train on.
[[nodiscard]] std::vector<std::string> check_folds(std::span<const SplitRows> folds, Index samples,
                                                   std::span<const Index> labels = {});

/// Draws stratified folds for cross-validation; each sample is tested once. Samples are permuted by the seed and
/// distributed class by class, so that folds differ by at most one sample per class. Labels are 0 … classes − 1; all 0
/// if there are no classes. Throws Error{input} unless 2 ≤ folds ≤ samples.
[[nodiscard]] std::vector<SplitRows> draw_folds(std::span<const Index> labels, Index folds, std::uint64_t seed);

}  // namespace widelimit
