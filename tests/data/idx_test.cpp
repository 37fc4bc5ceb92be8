#include "widelimit/data/formats/images/idx.hpp"

#include "fixture.hpp"

namespace widelimit {
namespace {

using std::string_literals::operator""s;

Array idx_of(const std::string& text) { return parse_idx(as_bytes(text), "test"); }

TEST(Idx, BytesAndOtherTypes) {
  const Array images = idx_of("\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\x02\xFE\xFF"s);
  EXPECT_EQ(images.dims, (std::vector<Index>{2, 1, 2}));
  const auto& m = std::get<Matrix<float>>(images.values);
  EXPECT_EQ(m(1, 0), 254);
  EXPECT_EQ(m(1, 1), 255);
  EXPECT_EQ(std::get<Matrix<double>>(idx_of("\0\0\x0B\x01\0\0\0\x01\xFF\xFE"s).values)(0, 0), -2);
  EXPECT_EQ(std::get<Matrix<double>>(idx_of("\0\0\x0C\x01\0\0\0\x01\0\0\x01\0"s).values)(0, 0), 256);
  EXPECT_EQ(std::get<Matrix<float>>(idx_of("\0\0\x0D\x01\0\0\0\x01\x3F\x80\0\0"s).values)(0, 0), 1);
  EXPECT_EQ(std::get<Matrix<double>>(idx_of("\0\0\x0E\x01\0\0\0\x01\x3F\xF0\0\0\0\0\0\0"s).values)(0, 0), 1);
}

TEST(Idx, DamageIsAnError) {
  for (const std::string& text :
       {""s, "\0\0\x08"s, "\0\1\x08\x01\0\0\0\0"s, "\0\0\x08\0"s, "\0\0\x08\x02\0\0\0\x01"s, "\0\0\x07\x01\0\0\0\0"s,
        "\0\0\x08\x01\0\0\0\x03\x01\x02"s, "\0\0\x08\x01\0\0\0\x01\x01\x02"s,
        "\0\0\x0E\x03\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s,
        "\0\0\x08\x03\0\0\0\0\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"s}) {
    expect_error(Code::input, {"test"}, [&] { (void)idx_of(text); });
  }
}

class IdxFiles : public Folder {};

TEST_F(IdxFiles, ImagesArePairedWithLabels) {
  const auto images = put("i", "\0\0\x08\x03\0\0\0\x02\0\0\0\x01\0\0\0\x02\x01\x02\x03\x04"s);
  const Dataset data = read_idx(images, put("l", "\0\0\x08\x01\0\0\0\x02\x07\x03"s));
  EXPECT_EQ(data.shape, (Shape{1, 2, 1}));
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"3", "7"}));
  EXPECT_EQ(data.labels, (std::vector<Index>{1, 0}));
  const auto few = put("few", "\0\0\x08\x01\0\0\0\x01\x07"s);
  expect_error(Code::input, {"1 labels for 2 samples"}, [&] { (void)read_idx(images, few); });
}

}  // namespace
}  // namespace widelimit
