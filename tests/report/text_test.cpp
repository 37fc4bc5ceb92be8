#include "widelimit/report/text.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

TEST(Text, KeepsGoodUtf8) {
  for (const std::string_view text : {"", "plain", "γ = ½", "Θ(x, x′) 𝒦 漢字"}) EXPECT_EQ(clean_text(text), text);
}

TEST(Text, ReplacesBrokenBytes) {
  const std::string r(replacement);
  EXPECT_EQ(clean_text("a\xE9z"), "a" + r + "z");
  EXPECT_EQ(clean_text("\xC3"), r);                          // truncated
  EXPECT_EQ(clean_text("\xC0\xAF"), r + r);                  // overlong
  EXPECT_EQ(clean_text("\xED\xA0\x80"), r + r + r);          // surrogate
  EXPECT_EQ(clean_text("\xF4\x90\x80\x80"), r + r + r + r);  // above U+10FFFF
}

TEST(Text, ControlCharactersBecomeBlanks) {
  EXPECT_EQ(clean_text(std::string_view("a\nb\tc\0d\x7F", 8)), "a b c d ");
  EXPECT_EQ(clean_text("\xC2\x85"), " ");
}

TEST(Text, EscapesMarkup) {
  EXPECT_EQ(escape_markup("<a href='x'>\"&amp;\"</a>"), "&lt;a href=&#39;x&#39;&gt;&quot;&amp;amp;&quot;&lt;/a&gt;");
}

TEST(Text, ShortensByCharacters) {
  EXPECT_EQ(shorten("γγγγ", 4), "γγγγ");
  EXPECT_EQ(shorten("γγγγγ", 4), "γγγ…");
  EXPECT_EQ(shorten("ab", 1), "…");
  EXPECT_EQ(shorten("ab", 0), "");
  EXPECT_EQ(shorten("", 3), "");
}

}  // namespace
}  // namespace widelimit
