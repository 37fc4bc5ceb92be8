#include "widelimit/data/formats/array_file.hpp"

#include "fixture.hpp"
#include "widelimit/data/formats/npz.hpp"
#include "widelimit/data/hdf5/hdf5.hpp"

#include <signal.h>
#include <sys/resource.h>

#include <cstdint>
#include <cstdlib>
#include <memory>

namespace widelimit {
namespace {

/// NPZ and HDF5 must behave identically; each test runs for both.
struct Kind {
  const char* ending;
  void (*write)(const std::filesystem::path&, const std::vector<NamedArray>&, std::string_view);
  ArrayFile (*read_arrays)(const std::filesystem::path&, const ReadLimits&);
  Dataset (*read)(const std::filesystem::path&, const ReadOptions&);
  Dataset (*parse)(Bytes, const ReadOptions&);
};

class ArrayFiles : public Folder, public ::testing::WithParamInterface<Kind> {
 protected:
  [[nodiscard]] std::filesystem::path file(const std::string& stem = "a") const {
    return path(stem + GetParam().ending);
  }
};

Matrix<double> counting(Index rows, Index cols) {
  Matrix<double> m(rows, cols);
  for (Index i = 0; i < rows * cols; ++i) m.data()[i] = static_cast<double>(i) + 0.25;
  return m;
}

std::vector<double> flat(const Array& array) {
  return std::visit([](const auto& m) { return std::vector<double>(m.data(), m.data() + m.rows() * m.cols()); },
                    array.values);
}

TEST_P(ArrayFiles, WhatIsWrittenIsReadBack) {
  const Matrix<double> wide = counting(37, 5);
  Matrix<float> narrow(2, 6);
  for (Index i = 0; i < 12; ++i) narrow.data()[i] = static_cast<float>(i);
  const std::vector<std::int64_t> labels{3, -4};
  const std::string settings = R"({"network":"fc:3","note":"ü"})" + std::string(100000, ' ');
  GetParam().write(file(),
                   {{"k", wide.view(), {}},
                    {"window", wide.view().block(1, 2, 3, 2), {}},
                    {"images", narrow.view(), {2, 3, 2, 1}},
                    {"labels", MatrixView<const std::int64_t>{labels.data(), 2, 1, 1}, {2}},
                    {"none", MatrixView<const double>{nullptr, 0, 3, 3}, {}}},
                   settings);
  EXPECT_EQ(files(), 1U);
  const ArrayFile back = GetParam().read_arrays(file(), {});
  EXPECT_EQ(back.arrays.size(), 5U);
  const auto& k = std::get<Matrix<double>>(back.arrays.at("k").values);
  EXPECT_TRUE(std::equal(k.data(), k.data() + 185, wide.data()));
  EXPECT_EQ(flat(back.arrays.at("window")), (std::vector<double>{7.25, 8.25, 12.25, 13.25, 17.25, 18.25}));
  EXPECT_EQ(back.arrays.at("images").dims, (std::vector<Index>{2, 3, 2, 1}));
  EXPECT_TRUE(std::holds_alternative<Matrix<float>>(back.arrays.at("images").values));
  EXPECT_EQ(flat(back.arrays.at("labels")), (std::vector<double>{3, -4}));
  EXPECT_EQ(back.arrays.at("labels").dims, (std::vector<Index>{2}));
  EXPECT_EQ(back.arrays.at("none").dims, (std::vector<Index>{0, 3}));
  EXPECT_EQ(std::string_view(back.settings).substr(0, 29), std::string_view(settings).substr(0, 29));
}

TEST_P(ArrayFiles, SamplesAndLabelsByTheirNames) {
  const Matrix<double> x = counting(2, 4);
  const Matrix<double> y = counting(2, 1);
  const MatrixView<const double> images = x.view();
  GetParam().write(file(), {{"X", images, {2, 2, 2}}, {"other", x.view(), {}}, {"Y", y.view(), {}}}, "{}");
  const Dataset data = GetParam().read(file(), {});
  EXPECT_EQ(data.shape, (Shape{2, 2, 1}));
  EXPECT_EQ(data.targets, (std::vector<double>{0.25, 1.25}));

  const Blob bytes = read_file(file());
  ReadOptions options;
  options.features = "other";
  options.label = "none";
  const Dataset chosen = GetParam().parse(bytes, options);
  EXPECT_EQ(chosen.shape.size(), 4);
  EXPECT_TRUE(chosen.targets.empty());
  options.features = "absent";
  expect_error(Code::input, {"absent", "other"}, [&] { (void)GetParam().parse(bytes, options); });
}

TEST_P(ArrayFiles, OverwritesAndKeepsTheOldOnFailure) {
  const Matrix<double> x = counting(2, 2);
  GetParam().write(file(), {{"x", x.view(), {}}}, "first");
  GetParam().write(file(), {{"x", x.view(), {}}}, "second");
  EXPECT_EQ(GetParam().read_arrays(file(), {}).settings, "second");
  expect_error(Code::usage, {"product"}, [&] { GetParam().write(file(), {{"x", x.view(), {3}}}, "third"); });
  EXPECT_EQ(GetParam().read_arrays(file(), {}).settings, "second");
  EXPECT_EQ(files(), 1U);
}

TEST_P(ArrayFiles, UnwritablePlaceIsAResourceError) {
  const Matrix<double> x = counting(2, 2);
  expect_error(Code::resource, {"absent"}, [&] { GetParam().write(path("absent") / "a", {{"x", x.view(), {}}}, ""); });
  expect_error(Code::resource, {"regular"}, [&] { GetParam().write("/dev/null", {{"x", x.view(), {}}}, ""); });
}

TEST_P(ArrayFiles, FullDiskLeavesNothingBehind) {
  // A file size limit makes write() fail as a full disk does; set in a child process, so that it does not persist.
  const Matrix<double> x = counting(300, 300);
  const auto write_on_full_disk = [&] {
    signal(SIGXFSZ, SIG_IGN);
    const rlimit small{100000, 100000};
    setrlimit(RLIMIT_FSIZE, &small);
    int status = 1;
    try {
      GetParam().write(file(), {{"x", x.view(), {}}}, "{}");
    } catch (const Error& error) {
      status = error.code() == Code::resource ? 0 : 2;
    }
    std::exit(status);  // runs the exit handlers: HDF5's own must survive a failed file
  };
  EXPECT_EXIT(write_on_full_disk(), ::testing::ExitedWithCode(0), "");
  EXPECT_EQ(files(), 0U);
}

TEST_P(ArrayFiles, CutAndFlippedFilesAreErrorsOrGood) {
  const Matrix<double> x = counting(3, 2);
  GetParam().write(file(), {{"x", x.view(), {}}}, "{}");
  const Blob bytes = read_file(file());
  for (std::size_t length = 0; length < bytes.size(); length += 211) {
    const Blob cut(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(length));
    expect_error(Code::input, {}, [&] { (void)GetParam().parse(cut, {}); });
  }
  for (std::size_t place = 0; place < bytes.size(); place += 89) {
    Blob flipped = bytes;
    flipped[place] ^= std::byte{0xFF};
    try {
      EXPECT_EQ(GetParam().parse(flipped, {}).shape.size(), 2);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Code::input) << error.what();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Formats, ArrayFiles,
                         ::testing::Values(Kind{".npz", write_npz, read_npz_arrays, read_npz, parse_npz},
                                           Kind{".h5", write_hdf5, read_hdf5_arrays, read_hdf5, parse_hdf5}),
                         [](const auto& kind) { return std::string(kind.param.ending + 1); });

TEST(ChooseArrays, PrefersTheUsualNames) {
  const ArrayChoice usual = choose_arrays({"labels", "images", "settings"}, {});
  EXPECT_EQ(usual.features, "images");
  EXPECT_EQ(usual.label, "labels");
  const ArrayChoice single = choose_arrays({"arr_0"}, {});
  EXPECT_EQ(single.features, "arr_0");
  EXPECT_FALSE(single.label);
  expect_error(Code::input, {"arr_0, arr_1"}, [] { (void)choose_arrays({"arr_0", "arr_1"}, {}); });
  expect_error(Code::input, {"no array"}, [] { (void)choose_arrays({}, {}); });
}

ReadOptions part(Part requested) {
  ReadOptions options;
  options.source = "both.npz";
  options.part = requested;
  return options;
}

TEST(ChooseArrays, TestMeansTheTestArrays) {
  for (const std::vector<std::string>& names :
       {std::vector<std::string>{"x_train", "y_train", "x_test", "y_test"},
        std::vector<std::string>{"y_test", "X_test", "Y_train", "X_train", "settings"},
        std::vector<std::string>{"train_images", "train_labels", "test_images", "test_labels"}}) {
    for (const Part requested : {Part::train, Part::test}) {
      const ArrayChoice choice = choose_arrays(names, part(requested));
      EXPECT_NE(choice.features.find(to_string(requested)), std::string::npos) << choice.features;
      ASSERT_TRUE(choice.label);
      EXPECT_NE(choice.label->find(to_string(requested)), std::string::npos) << *choice.label;
    }
  }
  EXPECT_EQ(choose_arrays({"x", "y"}, part(Part::test)).features, "x") << "a file of its own";
  ReadOptions named = part(Part::train);
  named.features = "x_test";
  EXPECT_EQ(choose_arrays({"x_train", "y_train", "x_test", "y_test"}, named).label, "y_test");
  EXPECT_FALSE(choose_arrays({"x_train", "x_test"}, part(Part::test)).label);
}

TEST(ChooseArrays, UnclearChoicesAreRefused) {
  const auto refused = [](const std::vector<std::string>& names, Part requested,
                          std::initializer_list<std::string_view> parts) {
    expect_error(Code::input, parts, [&] { (void)choose_arrays(names, part(requested)); });
  };
  refused({"x", "x_train", "y"}, Part::train, {"x, x_train, y", "both.npz(x=NAME,label=NAME)"});
  refused({"x_test", "y_test"}, Part::train, {"no training samples", "x_test, y_test", "x=NAME"});
  refused({"x_train", "y_train"}, Part::test, {"no test samples"});
  refused({"x_train", "y_train", "x_test"}, Part::test, {"labels of 'x_test'", "y_train"});
  refused({"x", "y_train", "y_test"}, Part::train, {"labels of 'x'"});
}

}  // namespace
}  // namespace widelimit
