#include "widelimit/base/utf8.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

TEST(Utf8, PrintableTextStaysAsItIs) {
  for (const char* text : {"", "plain", "κ₁(ρ) = √½", "😀", "two\nlines\tand a tab"}) EXPECT_EQ(printable(text), text);
}

TEST(Utf8, OtherBytesAreWrittenInHexadecimal) {
  EXPECT_EQ(printable("Gr\xFC\xDF"), "Gr\\xfc\\xdf");                  // Latin-1
  EXPECT_EQ(printable("\x1b[31mred\x7f"), "\\x1b[31mred\\x7f");        // terminal escape sequence
  EXPECT_EQ(printable("\xC0\xAF|\xE2\x82"), "\\xc0\\xaf|\\xe2\\x82");  // overlong; cut short
  EXPECT_EQ(printable("\xC2\x9B"), "\\xc2\\x9b");                      // two-byte control character
  EXPECT_EQ(printable(std::string_view("a\0b", 3)), "a\\x00b");
}

TEST(Utf8, CharactersAreCountedNotBytes) {
  EXPECT_EQ(count_characters(""), 0U);
  EXPECT_EQ(count_characters("A,B,…"), 5U);
  EXPECT_EQ(count_characters("κ₁😀"), 3U);
}

}  // namespace
}  // namespace widelimit
