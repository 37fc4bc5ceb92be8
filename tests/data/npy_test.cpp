#include "widelimit/data/formats/npy.hpp"

#include "fixture.hpp"

namespace widelimit {
namespace {

using std::string_literals::operator""s;

std::string npy(const std::string& literal, const std::string& body, char version = 1) {
  std::string text = "\x93NUMPY"s + version + '\0' + static_cast<char>(literal.size()) + '\0';
  if (version > 1) text += "\0\0"s;
  return text + literal + body;
}

std::string header(const std::string& descr, const std::string& shape, bool fortran = false) {
  return "{'descr': '" + descr + "', 'fortran_order': " + (fortran ? "True" : "False") + ", 'shape': (" + shape +
         "), }";
}

Array npy_of(const std::string& text) { return parse_npy(as_bytes(text), "test"); }

double only(const std::string& descr, const std::string& body) {
  const Array array = npy_of(npy(header(descr, "1,"), body));
  return std::visit([](const auto& m) { return static_cast<double>(m(0, 0)); }, array.values);
}

TEST(Npy, EveryTypeInBothByteOrders) {
  EXPECT_EQ(only("<f4", "\0\0\xC0\x3F"s), 1.5);
  EXPECT_EQ(only(">f4", "\x3F\xC0\0\0"s), 1.5);
  EXPECT_EQ(only("<f8", "\0\0\0\0\0\0\xF8\xBF"s), -1.5);
  EXPECT_EQ(only(">f8", "\xBF\xF8\0\0\0\0\0\0"s), -1.5);
  EXPECT_EQ(only("|u1", "\xFF"), 255);
  EXPECT_EQ(only("|i1", "\xFF"), -1);
  EXPECT_EQ(only("|b1", "\x01"), 1);
  EXPECT_EQ(only("<i2", "\xFE\xFF"), -2);
  EXPECT_EQ(only(">u2", "\x01\x02"), 258);
  EXPECT_EQ(only(">i4", "\xFF\xFF\xFF\xFD"), -3);
  EXPECT_EQ(only("<u4", "\xFF\xFF\xFF\xFF"), 4294967295.0);
  EXPECT_EQ(only("<i8", "\x05\0\0\0\0\0\0\0"s), 5);
  EXPECT_EQ(only(">u8", "\0\0\0\0\0\0\0\x05"s), 5);
}

TEST(Npy, PrecisionFollowsTheFile) {
  EXPECT_TRUE(std::holds_alternative<Matrix<float>>(npy_of(npy(header("<f4", "0,"), "")).values));
  EXPECT_TRUE(std::holds_alternative<Matrix<float>>(npy_of(npy(header("|u1", "0,"), "")).values));
  EXPECT_TRUE(std::holds_alternative<Matrix<double>>(npy_of(npy(header("<i4", "0,"), "")).values));
}

TEST(Npy, FortranOrderIsTurnedRound) {
  // a[i][j][k] = 6i + 2j + k for a 2 × 3 × 2 array
  std::string body;
  for (char k = 0; k < 2; ++k) {
    for (char j = 0; j < 3; ++j) {
      for (char i = 0; i < 2; ++i) body.push_back(static_cast<char>(6 * i + 2 * j + k));
    }
  }
  const Array array = npy_of(npy(header("|u1", "2, 3, 2", true), body));
  const auto& m = std::get<Matrix<float>>(array.values);
  ASSERT_EQ(m.rows(), 2);
  ASSERT_EQ(m.cols(), 6);
  for (Index i = 0; i < 12; ++i) EXPECT_EQ(m.data()[i], static_cast<float>(i));
}

TEST(Npy, VersionsAndKeyOrders) {
  const std::string literal = "{\"shape\": (2L,), 'fortran_order':False,'descr':'|u1'}  \n";
  for (const char version : {'\1', '\2', '\3'}) EXPECT_EQ(npy_of(npy(literal, "ab", version)).rows(), 2);
  expect_error(Code::input, {"version 4"}, [&] { (void)npy_of(npy(literal, "ab", 4)); });
  expect_error(Code::input, {"version 0"}, [&] { (void)npy_of(npy(literal, "ab", 0)); });
}

TEST(Npy, TextArrays) {
  EXPECT_EQ(npy_of(npy(header("|S3", "2,"), "ab\0xyz"s)).texts, (std::vector<std::string>{"ab", "xyz"}));
  EXPECT_EQ(npy_of(npy(header("<U2", "1,"), "\xE9\0\0\0\x9E\xF4\x01\0"s)).texts,
            (std::vector<std::string>{"\xC3\xA9\xF0\x9F\x92\x9E"}))
      << "UTF-8 of U+00E9 and U+1F49E";
  EXPECT_EQ(npy_of(npy(header(">U1", ""), "\0\0\0x"s)).texts, std::vector<std::string>{"x"});
}

TEST(Npy, DamageIsAnError) {
  const auto fails = [](const std::string& text) { expect_error(Code::input, {"test"}, [&] { (void)npy_of(text); }); };
  const std::string good = npy(header("<f8", "2,"), std::string(16, '\0'));
  for (std::size_t length = 0; length < good.size(); ++length) fails(good.substr(0, length));
  fails(good + "x");
  fails(npy(header("<f8", "9223372036854775807, 9223372036854775807"), ""));
  fails(npy(header("<f8", "0, 9223372036854775807, 9223372036854775807"), ""));
  fails(npy(header("<f8", "-1,"), ""));
  fails(npy(header("<f2", "1,"), "ab"));
  fails(npy(header("<c8", "1,"), std::string(8, 'a')));
  fails(npy(header("|O8", "1,"), std::string(8, 'a')));
  fails(npy(header("<U0", "1,"), ""));
  fails(npy(header("<i8", "1,"), "\xFF\xFF\xFF\xFF\xFF\xFF\xFF\x7F"));
  fails(npy("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}", std::string(8, 'a')));
  fails(npy("{'descr': '<f8', 'shape': (1,)}", std::string(8, 'a')));
  fails(npy("{'descr': '<f8', 'fortran_order': 0, 'shape': (1,)}", std::string(8, 'a')));
  fails(npy(header("<U1", "1,"), "\xFF\xFF\xFF\xFF"));
}

TEST(Npy, HeaderIsReadBack) {
  for (const auto& dims : std::vector<std::vector<Index>>{{}, {0}, {3}, {2, 1}, {1, 2, 3, 4}}) {
    const std::string text = npy_header("|u1", dims);
    EXPECT_EQ(text.size() % 64, 0U);
    Index count = 1;
    for (const Index size : dims) count *= size;
    EXPECT_EQ(npy_of(text + std::string(static_cast<std::size_t>(count), 'a')).dims, dims);
  }
}

class NpyFile : public Folder {};

TEST_F(NpyFile, SamplesWithAndWithoutLabelColumn) {
  const auto file = put("x.npy", npy(header("|u1", "2, 3"), "\x01\x02\x03\x04\x05\x06"));
  EXPECT_EQ(read_npy(file).shape.size(), 3);
  EXPECT_TRUE(read_npy(file).labels.empty());
  ReadOptions options;
  options.label = "-2";
  const Dataset data = read_npy(file, options);
  EXPECT_EQ(data.class_names, (std::vector<std::string>{"2", "5"}));
  EXPECT_EQ(value(data, 1, 0), 4);
  EXPECT_EQ(value(data, 1, 1), 6);
  options.label = "3";
  expect_error(Code::input, {"label column '3'"}, [&] { (void)read_npy(file, options); });
}

TEST_F(NpyFile, ImagesKeepTheirShape) {
  EXPECT_EQ(read_npy(put("a.npy", npy(header("|u1", "1, 2, 2"), "abcd"))).shape, (Shape{2, 2, 1}));
  EXPECT_EQ(read_npy(put("b.npy", npy(header("|u1", "1, 2, 1, 2"), "abcd"))).shape, (Shape{2, 1, 2}));
  EXPECT_EQ(read_npy(put("c.npy", npy(header("|u1", "4,"), "abcd"))).shape, (Shape{1, 1, 1}));
  const auto deep = put("d.npy", npy(header("|u1", "1, 1, 1, 1, 4"), "abcd"));
  expect_error(Code::input, {"5 dimensions"}, [&] { (void)read_npy(deep); });
  const auto nan = put("e.npy", npy(header("<f4", "1, 1"), "\0\0\xC0\x7F"s));
  expect_error(Code::input, {"sample 0, feature 0"}, [&] { (void)read_npy(nan); });
}

}  // namespace
}  // namespace widelimit
