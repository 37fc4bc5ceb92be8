#include "widelimit/data/formats/format.hpp"

#include "widelimit/data/formats/csv.hpp"
#include "widelimit/data/formats/libsvm.hpp"
#include "widelimit/data/formats/npy.hpp"
#include "widelimit/data/formats/npz.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"

#include <algorithm>
#include <array>

namespace widelimit {

namespace {

constexpr std::array<Format, 13> format_table{{
    {".csv", read_csv},
    {".csv.gz", read_csv},
    {".tsv", read_csv},
    {".tsv.gz", read_csv},
    {".libsvm", read_libsvm},
    {".libsvm.gz", read_libsvm},
    {".svm", read_libsvm},
    {".svm.gz", read_libsvm},
    {".npy", read_npy},
    {".npy.gz", read_npy},
    {".npz", read_npz},
    {".h5", read_hdf5},
    {".hdf5", read_hdf5},
}};

}  // namespace

std::span<const Format> formats() { return format_table; }

const Format* find_format(const std::filesystem::path& path) {
  const std::string name = path.filename().string();
  const auto found =
      std::find_if(format_table.begin(), format_table.end(), [&](const Format& f) { return name.ends_with(f.ending); });
  return found == format_table.end() ? nullptr : &*found;
}

}  // namespace widelimit
