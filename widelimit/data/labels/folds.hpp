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

/// Partitions of a published protocol: for each fold the rows to train on and the rows to test on, counted from 0.
/// Text: a line of training rows, then one of test rows, and so on, numbers apart by blanks or commas; empty lines and
/// those that begin with # are passed over. The partition files of the UCI benchmark of Fernández-Delgado et al.
/// (conxuntos.dat, conxuntos_kfold.dat) are such texts. JSON: [{"train": [0, 1, …], "test": [5, …]}, …].
/// Error{input} for anything else. The rows are not compared with any data: check_folds does.
[[nodiscard]] std::vector<SplitRows> parse_folds(Bytes bytes, const std::string& source);
/// The same of a file, which may be packed.
[[nodiscard]] std::vector<SplitRows> read_folds(const std::filesystem::path& path, const ReadLimits& limits = {});

/// Error{input} where a part is empty, a row is none of `samples`, stands twice in one part, or is both trained on and
/// tested, or where the training rows of a fold have one class only. Labels are 0 … classes − 1, or none. Returns what
/// a reader of results should know: rows that are never tested, rows that several folds test, classes that a fold tests
/// but does not train on.
[[nodiscard]] std::vector<std::string> check_folds(std::span<const SplitRows> folds, Index samples,
                                                   std::span<const Index> labels = {});

/// Folds of a cross-validation, each sample tested once: samples in an order drawn by the seed, then dealt out class by
/// class, so that folds differ by at most one sample of a class. Labels are 0 … classes − 1; all 0 where there are no
/// classes. Error{input} unless 2 ≤ folds ≤ samples.
[[nodiscard]] std::vector<SplitRows> draw_folds(std::span<const Index> labels, Index folds, std::uint64_t seed);

}  // namespace widelimit
