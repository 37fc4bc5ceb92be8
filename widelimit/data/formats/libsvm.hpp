#pragma once

#include "widelimit/data/formats/format.hpp"

#include <string_view>

namespace widelimit {

/// LIBSVM's text: `label index:value index:value …` a line, indices from 1 and ascending, what is not written is
/// zero, `#` starts a comment. The samples are held dense; Error{resource} where that would be far larger than the
/// file. Error{input} with line for anything malformed.
[[nodiscard]] Dataset parse_libsvm(std::string_view text, const ReadOptions& options = {});
/// Plain or gz.
[[nodiscard]] Dataset read_libsvm(const std::filesystem::path& path, const ReadOptions& options = {});

}  // namespace widelimit
