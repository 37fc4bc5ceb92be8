#include "widelimit/report/gnuplot.hpp"

#include "widelimit/report/process.hpp"
#include "widelimit/report/svg.hpp"
#include "widelimit/report/text.hpp"

#include <array>
#include <csignal>

namespace widelimit {
namespace {

/// Okabe and Ito's colours for all kinds of colour vision, blue and orange moved towards the middle so that each
/// keeps a contrast near 3:1 on white and on black.
constexpr std::array<std::string_view, 6> colours = {"#1a7fc1", "#d55e00", "#009e73", "#cc79a7", "#c68a00", svg_ink};

std::string doubled(std::string_view text, char special) {
  std::string result;
  for (const char c : text) {
    result += c;
    if (c == special) result += c;
  }
  return result;
}

std::string first_line(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return "it gave no reason";
  return clean_text(text.substr(begin, text.find('\n', begin) - begin));
}

void require_success(const Ending& ending, std::string_view title) {
  if (!ending.found)
    fail(Code::usage,
         "figures are drawn by gnuplot, which is not on PATH: install it (Debian: apt install gnuplot-nox), or ask "
         "for no report");
  if (ending.signal == SIGINT) fail(Code::interrupted, "stopped while gnuplot drew \"{}\"", title);
  if (!ending.succeeded())
    fail(Code::resource,
         "gnuplot could not draw \"{}\" ({} {}): {}; check that its version is 5.4 or newer and that the folder for "
         "temporary files has room",
         title, ending.signal != 0 ? "signal" : "status", ending.signal != 0 ? ending.signal : ending.status,
         first_line(ending.output));
}

}  // namespace

std::string quote(std::string_view text) { return fmt::format("'{}'", doubled(clean_text(text), '\'')); }
std::string quote_tic(std::string_view text) { return quote(doubled(text, '%')); }

std::string_view series_colour(std::size_t k) { return colours[k % colours.size()]; }
int series_dash(std::size_t k) { return static_cast<int>(k / colours.size() % 5) + 1; }

std::string_view power_of_ten_format() { return "'⟦%T⟧'"; }

Drawing::Drawing(std::string title, int width, int height) : title_(clean_text(title)) {
  line("set encoding utf8");
  line("set terminal svg size {},{} noenhanced font 'sans-serif,14' rounded", width, height);
  line("set output 'figure.svg'");
  line("ink = '{}'", svg_ink);
  line("set border 3 linecolor rgb ink");
  line("set tics nomirror out scale 0.6,0.3 textcolor rgb ink");
  line("set key textcolor rgb ink");
  line("set xlabel textcolor rgb ink");
  line("set ylabel textcolor rgb ink");
  line("set cblabel textcolor rgb ink");
  if (!title_.empty()) line("set title {} font 'sans-serif:Bold,16' textcolor rgb ink", quote(title_));
}

void Drawing::data(std::string_view name, std::string_view bytes) const {
  write_atomically(folder_.path() / name, bytes);
}

Figure Drawing::render() const {
  data("script.gp", script_);
  // -d: the settings of this script alone, whatever stands in the user's start-up file.
  require_success(run_program({"gnuplot", "-d", "script.gp"}, folder_.path()), title_);
  const std::string svg = read_back(folder_.path() / "figure.svg");
  if (svg.find("</svg>") == std::string::npos)
    fail(Code::resource, "gnuplot left \"{}\" unfinished: the folder for temporary files may be full", title_);
  return {.svg = tidy_svg(svg, title_), .title = title_, .note = ""};
}

bool gnuplot_is_present() {
  const TemporaryFolder folder;
  return run_program({"gnuplot", "--version"}, folder.path()).succeeded();
}

}  // namespace widelimit
