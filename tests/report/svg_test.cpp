#include "widelimit/report/drawing/svg.hpp"

#include "widelimit/base/error.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

TEST(Svg, RenamesIdsAndReferencesInTagsOnly) {
  EXPECT_EQ(
      with_unique_ids("<g id=\"a\" filter='url(#b)'><use xlink:href='#c' href=\"#d\"/> id=\"a\" url(#b)</g>", "p-"),
      "<g id=\"p-a\" filter='url(#p-b)'><use xlink:href='#p-c' href=\"#p-d\"/> id=\"a\" url(#b)</g>");
}

TEST(Svg, TidiesWhatGnuplotWrites) {
  const std::string tidy = tidy_svg(
      "<?xml version=\"1.0\"?>\n<svg width=\"5\"><title>Gnuplot</title><g color=\"black\" stroke='rgb(107, 114, 129)'>"
      "<title>gnuplot_plot_1</title><text>⟦-12⟧</text><text>rgb(107,114,129) ⟦x⟧</text></g></svg>",
      "a < b");
  EXPECT_EQ(tidy,
            "<svg color=\"#6b7281\" width=\"5\"><title>a &lt; b</title><g stroke='currentColor'>"
            "<text>10⁻¹²</text><text>rgb(107,114,129) ⟦x⟧</text></g></svg>");
}

TEST(Svg, RefusesWhatIsNone) {
  EXPECT_THROW(static_cast<void>(tidy_svg("", "")), Error);
  EXPECT_THROW(static_cast<void>(with_root_attributes("<p>", "role=\"img\"")), Error);
}

TEST(Svg, SurvivesABrokenTag) { EXPECT_EQ(with_unique_ids("text <g id='a", "p-"), "text <g id='p-a"); }

}  // namespace
}  // namespace widelimit
