#include "widelimit/report/drawing/gnuplot.hpp"

#include "widelimit/report/drawing/process.hpp"
#include "widelimit/report/drawing/svg.hpp"
#include "widelimit/report/text.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <csignal>

namespace widelimit {
namespace {

/// Colour-blind-safe palette of Okabe and Ito, with blue and orange adjusted so that each has a contrast of about 3:1
/// on white and on black.
constexpr std::array<std::string_view, 6> colours = {"#1a7fc1", "#d55e00", "#009e73", "#cc79a7", "#c68a00", svg_ink};

/// Returns the error message: gnuplot first repeats the script line and ends with the error.
std::string last_line(std::string_view text) {
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return "it gave no reason";
  const std::size_t before = text.rfind('\n', end);
  const std::size_t begin = before == std::string_view::npos ? 0 : before + 1;
  return clean_text(text.substr(begin, end + 1 - begin));
}

constexpr int edge = 16;
constexpr int title_band = 46;
constexpr int legend_row = 20;

/// Legend entry: its sample starts at x, in the given row.
struct Entry {
  int x = 0;
  int row = 0;
};

constexpr int sample_width = 22;

/// Arranges entries from left to right, wrapping to the next row. gnuplot's legend is not used: its columns are as wide
/// as the longest name, and it does not report its number of rows.
std::vector<Entry> arrange(const std::vector<std::string>& names, int width) {
  constexpr int gaps = 8 + 24;
  std::vector<Entry> entries;
  Entry next{.x = edge, .row = 0};
  for (const std::string& name : names) {
    const int entry_width = sample_width + text_width(name) + gaps;
    if (next.x > edge && next.x + entry_width - gaps > width - edge) next = {.x = edge, .row = next.row + 1};
    entries.push_back(next);
    next.x += entry_width;
  }
  return entries;
}

void require_success(const ProgramEnd& ending, std::string_view title) {
  if (!ending.found)
    fail(Code::usage,
         "figures are drawn by gnuplot, which is not on PATH: install it (Debian: apt install gnuplot-nox), or "
         "request no report");
  if (ending.signal == SIGINT || ending.signal == SIGTERM || ending.signal == SIGHUP)
    fail(Code::interrupted, "stopped while gnuplot drew \"{}\"", title);
  if (!ending.succeeded())
    fail(Code::resource,
         "gnuplot could not draw \"{}\" ({} {}): {}; check that its version is 5.4 or newer and that the folder for "
         "temporary files has free space",
         title, ending.signal != 0 ? "signal" : "status", ending.signal != 0 ? ending.signal : ending.status,
         last_line(ending.output));
}

}  // namespace

/// All bytes except letters, spaces and multi-byte characters are octal-escaped, so that gnuplot never finds a
/// backquote, dollar or quotation mark. Digits too, since gnuplot extends an octal escape by the digits that follow.
std::string quote(std::string_view text) {
  std::string quoted = "\"";
  for (const char c : clean_text(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80 || byte == ' ' || (byte >= 'A' && byte <= 'Z') || (byte >= 'a' && byte <= 'z');
    quoted += plain ? std::string(1, c) : fmt::format("\\{:03o}", byte);
  }
  return quoted + '"';
}

std::string quote_tic(std::string_view text) {
  std::string doubled;
  for (const char c : text) doubled.append(c == '%' ? 2 : 1, c);
  return quote(doubled);
}

std::string_view series_colour(std::size_t k) { return colours[k % colours.size()]; }
int series_dash(std::size_t k) { return static_cast<int>(k / colours.size() % 5) + 1; }

/// Nine samples of viridis (van der Walt, Smith 2015), which is perceptually uniform and colour-blind-safe.
std::string_view map_palette() {
  return "0 '#440154', 1 '#472d7b', 2 '#3b528b', 3 '#2c728e', 4 '#21918c', 5 '#28ae80', 6 '#5ec962', 7 '#addc30', 8 "
         "'#fde725'";
}

std::string_view power_of_ten_format() { return "'⟦%T⟧'"; }

int text_width(std::string_view text) {
  constexpr double pixels_per_character = 8;
  const auto characters = std::count_if(text.begin(), text.end(),
                                        [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; });
  return static_cast<int>(pixels_per_character * static_cast<double>(characters));
}

Drawing::Drawing(std::string_view title, const Layout& layout) : title_(clean_text(title)) {
  const int width = layout.left + layout.plot_width + layout.right;
  const std::vector<Entry> legend = layout.legend.size() < 2 ? std::vector<Entry>{} : arrange(layout.legend, width);
  const int title_height = title_.empty() ? edge : title_band;
  const int top = title_height + (legend.empty() ? 0 : (legend.back().row + 1) * legend_row + 8);
  const int height = top + layout.plot_height + layout.bottom;
  const auto across = [width](int x) { return static_cast<double>(x) / width; };
  const auto up = [height](int y) { return 1.0 - static_cast<double>(y) / height; };

  line("set encoding utf8");
  line("set terminal svg size {},{} noenhanced font 'sans-serif,14' rounded", width, height);
  line("set output 'figure.svg'");
  line("ink = '{}'", svg_ink);
  line("faint = '#c8'.ink[2:*]");
  line("set lmargin at screen {}", across(layout.left));
  line("set rmargin at screen {}", across(width - layout.right));
  line("top = {}", up(top));
  line("bottom = {}", up(height - layout.bottom));
  line("set tmargin at screen top");
  line("set bmargin at screen bottom");
  line("set border 3 linecolor rgb ink");
  line("set tics nomirror out scale 0.6,0.3 textcolor rgb ink");
  if (!title_.empty())
    line("set label {} at screen {},{} left font ',{}' textcolor rgb ink", quote(title_), across(edge), up(edge + 6),
         svg_title_size);
  // Labels at screen positions: gnuplot silently drops axis labels if it finds no space for them.
  const auto label = [this](std::string_view text, double x, double y, std::string_view turn) {
    if (!text.empty())
      line("set label {} at screen {},{} center {} textcolor rgb ink", quote(shorten(clean_text(text), 60)), x, y,
           turn);
  };
  label(layout.x_label, across(layout.left + layout.plot_width / 2), up(height - edge), "");
  label(layout.y_label, across(edge), up(top + layout.plot_height / 2), "rotate");
  label(layout.right_label, across(width - edge), up(top + layout.plot_height / 2), "rotate");
  line("set key off");
  for (std::size_t k = 0; k < legend.size(); ++k) {
    const double y = up(title_height + legend[k].row * legend_row + 2);
    line("set arrow from screen {},{} to screen {},{} nohead linecolor rgb '{}' linewidth {} dashtype {}",
         across(legend[k].x), y, across(legend[k].x + sample_width), y, series_colour(k), layout.legend_weight,
         series_dash(k));
    line("set label {} at screen {},{} left textcolor rgb ink", quote(layout.legend[k]),
         across(legend[k].x + sample_width + 8), y);
  }
}

void Drawing::data(std::string_view name, std::string_view bytes) const {
  const std::filesystem::path path = folder_.path() / name;
  const Descriptor file(path, O_WRONLY | O_CREAT | O_TRUNC);
  if (!file.opened()) fail_writing(path, file.error());
  file.write(as_bytes(bytes));
}

Figure Drawing::render() const {
  data("script.gp", script_);
  // -d: ignore the user's start-up file.
  require_success(run_program({"gnuplot", "-d", "script.gp"}, folder_.path()), title_);
  const std::string svg = read_back(folder_.path() / "figure.svg");
  if (svg.find("</svg>") == std::string::npos)
    fail(Code::resource, "gnuplot did not complete \"{}\": the folder for temporary files may be full", title_);
  return {.svg = tidy_svg(svg, title_), .title = title_, .note = ""};
}

bool gnuplot_is_present() {
  const TemporaryFolder folder;
  return run_program({"gnuplot", "--version"}, folder.path()).succeeded();
}

}  // namespace widelimit
