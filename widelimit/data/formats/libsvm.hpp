#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string_view>

namespace widelimit {

/// LIBSVM's text: `label index:value index:value …` a line, indices from 1 and ascending, what is not written is
/// zero, `#` starts a comment. Small sets and those with many numbers are held dense, large ones with few sparse:
/// held_sparse says which. Error{input} with line for anything malformed.
[[nodiscard]] Dataset parse_libsvm(std::string_view text, const ReadOptions& options = {});
/// Whether so many numbers, of rows × columns, are held sparse: where dense they would take more than 64 MiB, and more
/// than ten times as much as sparse. Products of denser rows are faster dense, and everything takes dense samples.
[[nodiscard]] bool held_sparse(Index stored, Index rows, Index columns);
/// Plain or gz.
[[nodiscard]] Dataset read_libsvm(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace widelimit
