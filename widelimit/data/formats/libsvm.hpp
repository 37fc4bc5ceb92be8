#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string_view>

namespace widelimit {

/// Parses LIBSVM text: `label index:value index:value …` per line, with ascending indices from 1; omitted values are
/// zero, `#` starts a comment. held_sparse decides whether the samples are dense or sparse. Throws Error{input} with
/// the line for malformed text.
[[nodiscard]] Dataset parse_libsvm(std::string_view text, const ReadOptions& options = {});
/// Returns whether `stored` entries of a rows × columns matrix are held sparse: if the dense matrix takes more than 64
/// MiB, and more than ten times the memory of the sparse one. Products of denser samples are faster in dense form, and
/// every function accepts dense samples.
[[nodiscard]] bool held_sparse(Index stored, Index rows, Index columns);
/// Reads a plain or gz file.
[[nodiscard]] Dataset read_libsvm(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace widelimit
