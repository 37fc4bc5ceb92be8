#include "widelimit/report/html.hpp"

#include "widelimit/base/error.hpp"
#include "widelimit/base/version.hpp"
#include "widelimit/report/file.hpp"

#include <gtest/gtest.h>

namespace widelimit {
namespace {

const std::chrono::system_clock::time_point epoch{};

std::size_t count(std::string_view text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string_view::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

Figure small_figure() { return {"<svg width=\"9\"><g id=\"a\"/><use href='#a'/></svg>", "small", ""}; }

// Title and heading, summary, two highlights, section, paragraph, three from the table, caption and text of the figure,
// three settings.
TEST(Html, EscapesEveryText) {
  const std::string bad = "<script>\"&'";
  Page page(bad, bad);
  page.highlights({{bad, bad}}).section(bad).paragraph(bad);
  page.table({.columns = {bad}, .rows = {{bad}}, .caption = bad});
  page.figure({small_figure(), bad, bad});
  page.settings({{bad, bad}, {"list", {bad}}});
  const std::string html = page.html(epoch);
  EXPECT_EQ(count(html, "<script"), 0U);
  EXPECT_EQ(count(html, "&lt;script&gt;"), 15U);
}

TEST(Html, BlocksOpenAndClose) {
  for (const int sections : {0, 1, 3}) {
    Page page("t", "s");
    for (int k = 0; k < sections; ++k) page.section("h").paragraph("p");
    const std::string html = page.html(epoch);
    EXPECT_EQ(count(html, "<section>"), static_cast<std::size_t>(sections));
    EXPECT_EQ(count(html, "</section>"), static_cast<std::size_t>(sections));
    for (const std::string_view element : {"header", "main", "footer", "body", "html"})
      EXPECT_EQ(count(html, fmt::format("<{}>", element)) + count(html, fmt::format("<{} ", element)),
                count(html, fmt::format("</{}>", element)))
          << element;
    EXPECT_EQ(count(html, "</header>"), 1U);
  }
}

TEST(Html, SlidesAreChosenByStyleAlone) {
  Page page("t", "s");
  page.section("h").slides("<at>", {{"<one>", {small_figure(), "", ""}}, {"two", {small_figure(), "", ""}}});
  page.slides("at", {{"three", {small_figure(), "", ""}}});
  const std::string html = page.html(epoch);
  EXPECT_EQ(count(html, "<figure>"), 3U);
  EXPECT_EQ(count(html, "name=\"slides1\""), 2U);
  EXPECT_EQ(count(html, "id=\"slides2-0\" checked"), 1U);
  EXPECT_EQ(count(html, "&lt;one&gt;"), 1U);
  EXPECT_EQ(count(html, "&lt;at&gt;"), 1U);
  EXPECT_EQ(count(html, ".slides > .at1:checked ~ .stack > :nth-child(2)"), 1U);
  EXPECT_EQ(count(html, ".slides > .at2:checked"), 0U);
  EXPECT_EQ(count(html, "<script"), 0U);
}

TEST(Html, FiguresDoNotShareIds) {
  Page page("t", "s");
  page.section("h").figures({{small_figure(), "c", "one"}, {small_figure(), "", ""}});
  const std::string html = page.html(epoch);
  EXPECT_EQ(count(html, "id=\"figure1-a\""), 1U);
  EXPECT_EQ(count(html, "href='#figure2-a'"), 1U);
  EXPECT_EQ(count(html, "aria-label=\"one\""), 1U);
  EXPECT_EQ(count(html, "aria-label=\"small\""), 1U);
  EXPECT_EQ(count(html, "<figcaption>"), 1U);
}

TEST(Html, AFigureNeedsWords) {
  Page page("t", "s");
  page.section("h");
  EXPECT_THROW(page.figure({{"<svg></svg>", "", ""}, "", ""}), Error);
}

TEST(Html, NotesFollowTheCaption) {
  Page page("t", "s");
  Figure figure = small_figure();
  figure.note = "2 left out.";
  page.section("h").figure({figure, "Caption.", ""});
  EXPECT_EQ(count(page.html(epoch), "<figcaption>Caption. 2 left out.</figcaption>"), 1U);
}

TEST(Html, TablesAlignNumbers) {
  Page page("t", "s");
  page.section("h").table({.columns = {"name", "value"}, .rows = {{"a", 1.5}, {"b", {}}}, .caption = ""});
  const std::string html = page.html(epoch);
  EXPECT_EQ(count(html, "<th scope=\"col\" class=\"number\">value</th>"), 1U);
  EXPECT_EQ(count(html, "<td>a</td><td class=\"number\">1.500</td>"), 1U);
  EXPECT_EQ(count(html, "<td class=\"number\">–</td>"), 1U);
}

TEST(Html, RowsKnowTheirPlaceInEveryOrder) {
  Page page("t", "s");
  page.section("h").sortable_table(
      {.columns = {"name", "value"}, .rows = {{"b", 1.5}, {"a", 2.5}, {"c", {}}}, .caption = "words"});
  const std::string html = page.html(epoch);
  EXPECT_EQ(count(html, "<tr style=\"--O0:1;--O1:1;\"><td>b</td>"), 1U);
  EXPECT_EQ(count(html, "<tr style=\"--O0:0;--O1:0;\"><td>a</td>"), 1U);
  EXPECT_EQ(count(html, "<tr style=\"--O0:2;--O1:2;\"><td>c</td>"), 1U);
  EXPECT_EQ(count(html, "type=\"radio\""), 2U);
  EXPECT_EQ(count(html, "checked>"), 1U);
  EXPECT_EQ(count(html, ".by1:checked ~ table td { order: var(--O1); }"), 1U);
  EXPECT_EQ(count(Page("t", "s").html(epoch), ".by0:checked"), 0U);
}

TEST(Html, SaysWhoWroteItAndWhen) {
  const std::string html = Page("t", "s").html(epoch);
  EXPECT_EQ(count(html, "1970-01-01 00:00 UTC"), 1U);
  EXPECT_GE(count(html, std::string(version())), 1U);
  EXPECT_EQ(count(html, "http"), count(html, "http-equiv"));
}

TEST(Html, SettingsMustBeNamed) { EXPECT_THROW(Page("t", "s").settings(nlohmann::ordered_json::array({1})), Error); }

TEST(Html, UnwritableIsAResourceError) {
  const TemporaryFolder folder;
  const Page page("t", "s");
  page.write(folder.path() / "page.html");
  EXPECT_TRUE(read_back(folder.path() / "page.html").ends_with("</html>\n"));
  try {
    page.write(folder.path() / "absent" / "page.html");
    FAIL() << "wrote into a folder that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Code::resource);
  }
}

}  // namespace
}  // namespace widelimit
