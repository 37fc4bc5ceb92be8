#include "widelimit/report/drawing/style.hpp"

namespace widelimit {

std::string_view page_style() {
  return R"css(
:root {
  color-scheme: light dark;
  --ground: #fbfbfa; --card: #ffffff; --ink: #1c2128; --soft: #59626e; --drawn: #39424d; --rule: #e2e4e8;
  --accent: #1a6fa8;
}
@media (prefers-color-scheme: dark) {
  :root {
    --ground: #14171b; --card: #1a1e23; --ink: #e6e8eb; --soft: #9ba4b0; --drawn: #c5cbd3; --rule: #2d333b;
    --accent: #6cb6e8;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; background: var(--ground); color: var(--ink);
  font: 1rem/1.6 system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif;
  overflow-wrap: break-word;
}
header, main, footer { max-width: 66rem; margin: 0 auto; padding: 0 clamp(1rem, 4vw, 2.5rem); }
header { padding-top: clamp(2rem, 6vw, 4rem); }
.mark { margin: 0; color: var(--accent); font-size: .8rem; font-weight: 600; letter-spacing: .09em; }
h1 { margin: .2rem 0 .6rem; font-size: clamp(1.6rem, 1.2rem + 2vw, 2.4rem); line-height: 1.2; letter-spacing: -.015em; }
.summary { margin: 0; max-width: 46rem; color: var(--soft); font-size: 1.1rem; }
h2 { margin: 0 0 .8rem; font-size: 1.25rem; line-height: 1.3; }
section { margin-top: 2.5rem; padding-top: 1.5rem; border-top: 1px solid var(--rule); }
section p { max-width: 46rem; margin: 0 0 1rem; }
.highlights { display: flex; flex-wrap: wrap; gap: 1rem 2.75rem; margin: 1.75rem 0 0; }
.highlights div { display: flex; flex-direction: column-reverse; }
.highlights dt { color: var(--soft); font-size: .85rem; }
.highlights dd { margin: 0; font-size: 1.6rem; font-weight: 600; line-height: 1.3; font-variant-numeric: tabular-nums; }
.figures { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(100%, 25rem), 1fr)); gap: 1.25rem; margin: 1.25rem 0; }
figure {
  margin: 0; padding: clamp(.5rem, 2vw, 1.25rem); background: var(--card); border: 1px solid var(--rule);
  border-radius: .6rem; min-width: 0;
}
figure svg { display: block; width: 100%; max-width: 42rem; height: auto; margin: 0 auto; color: var(--drawn); }
figure svg text { font-family: system-ui, -apple-system, "Segoe UI", "Noto Sans", "DejaVu Sans", sans-serif; }
figcaption { max-width: 42rem; margin: .75rem auto 0; color: var(--soft); font-size: .9rem; line-height: 1.5; }
.scroll { overflow-x: auto; margin: 1.25rem 0; }
table { border-collapse: collapse; font-size: .95rem; font-variant-numeric: tabular-nums; }
caption { padding-bottom: .5rem; color: var(--soft); font-size: .9rem; text-align: left; }
th, td { padding: .4rem 1.25rem .4rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: baseline; }
thead th { border-bottom: 2px solid var(--rule); color: var(--soft); font-size: .85rem; font-weight: 600; }
tbody tr:last-child td { border-bottom: 0; }
td:first-child { min-width: 8rem; }
th.number, td.number { text-align: right; white-space: nowrap; }
.settings { display: grid; grid-template-columns: minmax(6rem, max-content) minmax(0, 1fr); gap: .3rem 1.5rem; margin: 0; font-size: .95rem; }
.settings dt { color: var(--soft); }
.settings dd { margin: 0; font-family: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", monospace; font-size: .88rem; line-height: 1.75; }
footer { margin-top: 3rem; padding-top: 1rem; padding-bottom: 3rem; color: var(--soft); font-size: .85rem; }
@media print { body { background: none; } figure { break-inside: avoid; } }
)css";
}

}  // namespace widelimit
