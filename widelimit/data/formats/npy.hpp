#pragma once

#include "widelimit/data/array.hpp"
#include "widelimit/data/formats/format.hpp"

namespace widelimit {

/// Parses NumPy's NPY, versions 1 to 3: booleans, integers, float32, float64 and text (`S`, `U`), either byte order, C
/// or Fortran order. Throws Error{input} for other types and malformed files.
[[nodiscard]] Array parse_npy(Bytes bytes, const std::string& source, const ReadLimits& limits = {});

/// Parse or read samples in NPY format. They are unlabelled unless `options.label` is the number of a column of an n ×
/// d array.
[[nodiscard]] Dataset parse_npy_samples(Bytes bytes, const ReadOptions& options = {});
[[nodiscard]] Dataset read_npy(const std::filesystem::path& path, const ReadOptions& options = {});

/// Returns the NPY header, version 1, of a C-ordered array of type `descr` ("<f8").
[[nodiscard]] std::string npy_header(std::string_view descr, const std::vector<Index>& dims);

}  // namespace widelimit
