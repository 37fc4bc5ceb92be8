#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/formats/format.hpp"

namespace widelimit {

/// NumPy's NPY, versions 1 to 3: booleans, integers, float32, float64 and text (`S`, `U`), either byte order, C or
/// Fortran order. Error{input} for other types and for anything malformed.
[[nodiscard]] Array parse_npy(Bytes bytes, const std::string& source, const ReadLimits& limits = {});

/// Samples of a .npy file, or of its contents. Unlabelled, unless `options.label` names a column of an n × d array by
/// its number.
[[nodiscard]] Dataset parse_npy_samples(Bytes bytes, const ReadOptions& options = {});
[[nodiscard]] Dataset read_npy(const std::filesystem::path& path, const ReadOptions& options = {});

/// The NPY header, version 1, of a C-ordered array of `descr` ("<f8"): what comes before the numbers themselves.
[[nodiscard]] std::string npy_header(std::string_view descr, const std::vector<Index>& dims);

}  // namespace widelimit
