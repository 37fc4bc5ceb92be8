#include "widelimit/data/hdf5/hdf5.hpp"

#include "widelimit/data/file/file.hpp"

#include "fixture.hpp"

#include <hdf5.h>

namespace widelimit {
namespace {

/// Storage options of a dataset of 12 × 5 numbers.
struct Storage {
  bool deflated = false;
  bool summed = false;  ///< with Fletcher checksums
  hsize_t chunk_rows = 4;
};

double number_at(Index k) { return 0.25 * static_cast<double>(k); }

/// Writes a file in the latest format, whose metadata has checksums, without the code under test.
void make_hdf5(const std::filesystem::path& path, const Storage& storage) {
  const hid_t access = H5Pcreate(H5P_FILE_ACCESS);
  H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST);
  const hid_t file = H5Fcreate(path.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access);
  const hsize_t sizes[]{12, 5};
  const hsize_t most[]{H5S_UNLIMITED, 5};
  const hsize_t chunk[]{storage.chunk_rows, 5};
  const hid_t space = H5Screate_simple(2, sizes, most);
  const hid_t creation = H5Pcreate(H5P_DATASET_CREATE);
  H5Pset_chunk(creation, 2, chunk);
  if (storage.deflated) H5Pset_deflate(creation, 6);
  if (storage.summed) H5Pset_fletcher32(creation);
  const hid_t dataset = H5Dcreate2(file, "x", H5T_IEEE_F64LE, space, H5P_DEFAULT, creation, H5P_DEFAULT);
  std::vector<double> numbers;
  for (Index k = 0; k < 60; ++k) numbers.push_back(number_at(k));
  H5Dwrite(dataset, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, numbers.data());
  H5Dclose(dataset);
  H5Pclose(creation);
  H5Sclose(space);
  H5Fclose(file);
  H5Pclose(access);
}

class Hdf5Damage : public Folder {};

TEST_F(Hdf5Damage, AFlippedByteUnderAChecksumIsAnErrorOrChangesNothing) {
  for (const bool deflated : {false, true}) {
    make_hdf5(path("a.h5"), {.deflated = deflated, .summed = true});
    const Blob whole = read_file(path("a.h5"));
    int errors = 0;
    // A sample of the bytes, since each read forks a process.
    constexpr std::size_t step = WIDELIMIT_SANITIZED != 0 ? 13 : 3;
    for (std::size_t k = deflated ? 1 : 0; k < whole.size(); k += step) {
      Blob flipped = whole;
      flipped[k] ^= static_cast<std::byte>(1U << (k % 8));
      try {
        const Dataset data = parse_hdf5(flipped);
        ASSERT_EQ(data.shape.size(), 5) << "byte " << k;
        ASSERT_EQ(data.count(), 12) << "byte " << k;
        for (Index i = 0; i < 60; ++i) EXPECT_EQ(value(data, i / 5, i % 5), number_at(i)) << "byte " << k;
      } catch (const Error& error) {
        EXPECT_TRUE(error.code() == Code::input || error.code() == Code::resource) << error.what();
        ++errors;
      }
    }
    EXPECT_GT(errors, WIDELIMIT_SANITIZED != 0 ? 7 : 30);
  }
}

TEST_F(Hdf5Damage, NumbersAndChunksAreWithinTheMemoryThatReadingMayTake) {
  ReadOptions options;
  options.source = "a.h5";
  make_hdf5(path("a.h5"), {});
  options.limits.memory = 300;
  expect_error(Code::resource, {"a.h5/x needs about", "the limit is 300 bytes"},
               [&] { (void)read_hdf5(path("a.h5"), options); });
  // 12 rows in a chunk of eight million, whose zeros compress to few bytes.
  make_hdf5(path("b.h5"), {.deflated = true, .chunk_rows = 8'000'000});
  options.limits.memory = std::size_t{100} << 20;
  expect_error(Code::resource, {"needs about", "the limit is 100 MiB"},
               [&] { (void)read_hdf5(path("b.h5"), options); });
}

}  // namespace
}  // namespace widelimit
