#include "widelimit/base/memory.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

Code code_of_bytes(const char* text) {
  try {
    (void)parse_bytes(text);
  } catch (const Error& error) {
    return error.code();
  }
  return Code{};
}

TEST(Memory, SizesAreRead) {
  EXPECT_EQ(parse_bytes("4GiB"), std::size_t{4} << 30);
  EXPECT_EQ(parse_bytes("4G"), std::size_t{4} << 30);
  EXPECT_EQ(parse_bytes("1.5 kib"), 1536U);
  EXPECT_EQ(parse_bytes("500MB"), 500'000'000U);
  EXPECT_EQ(parse_bytes("65536"), 65536U);
  EXPECT_EQ(parse_bytes("7B"), 7U);
}

TEST(Memory, OtherTextIsUsage) {
  for (const char* text : {"", "GiB", "-1G", "0", "1e9", "4X", "4GiBs", "inf", "nan", "1.2.3G", ".", "99999999TiB"}) {
    EXPECT_EQ(code_of_bytes(text), Code::usage) << text;
  }
}

TEST(Memory, SizesAreWritten) {
  EXPECT_EQ(bytes_text(17), "17 bytes");
  EXPECT_EQ(bytes_text(1536), "1.5 KiB");
  EXPECT_EQ(bytes_text(static_cast<double>(std::size_t{3} << 40)), "3 TiB");
}

TEST(Memory, LimitsAreKept) {
  EXPECT_NO_THROW(require_memory(100, 100, "this", "take less"));
  try {
    require_memory(2048, 1024, "this", "take less");
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::resource);
    EXPECT_STREQ(error.what(), "this needs about 2 KiB, but the limit is 1 KiB; take less");
  }
  EXPECT_THROW(require_memory(1e30, std::nullopt, "this", "take less"), Error);
}

}  // namespace
}  // namespace widelimit
