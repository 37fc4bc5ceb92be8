#!/usr/bin/env python3
"""Opens a report page in headless Chromium and checks how it is displayed.

Fails (status 1) on any message in the console, on a page that is not self-contained, and on figures that are
missing or have no size. Status 77: there is no Chromium here.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

# Runs inside a copy of the page: the dumped document has no sizes, so they are measured and stored in it.
PROBE = """
<script>
addEventListener('load', () => {
  const size = (box) => [box.width, box.height];
  const figures = [...document.querySelectorAll('figure svg')].map((svg) => ({
    label: svg.getAttribute('aria-label'),
    shown: size(svg.getBoundingClientRect()),
    drawn: size(svg.getBBox()),
    marks: svg.querySelectorAll('path, polygon, image, text, use').length,
  }));
  const ids = [...document.querySelectorAll('[id]')].map((element) => element.id);
  const result = document.createElement('pre');
  result.id = 'open-page-result';
  result.textContent = JSON.stringify({
    figures,
    repeated: ids.filter((id, i) => ids.indexOf(id) !== i),
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
    title: document.title,
  });
  document.body.append(result);
});
</script>
"""


def find_chromium():
    for name in ("chromium", "chromium-browser", "google-chrome"):
        if path := shutil.which(name):
            return path
    print("skipped: no Chromium on PATH (Debian: apt install chromium)")
    sys.exit(77)


def chromium_command(program, profile, width, dark):
    command = [program, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
               "--enable-logging=stderr", "--v=0", "--hide-scrollbars", f"--user-data-dir={profile}",
               f"--window-size={width},1000", "--virtual-time-budget=2000"]
    return command + (["--blink-settings=preferredColorScheme=0"] if dark else [])


def run(command):
    return subprocess.run(command, capture_output=True, text=True, encoding="utf-8", errors="replace", timeout=120)


def console_messages(log):
    return [line.strip() for line in log.splitlines() if "CONSOLE" in line]


def outside_references(text):
    """Returns external addresses: all except data: URLs and references within the page."""
    found = re.findall(r"""<[^>]*?\s(?:src|href|xlink:href)\s*=\s*["']([^"']*)["']""", text)
    found += re.findall(r"""url\(\s*["']?([^"')]*)""", text) if "<style" in text else []
    return [address for address in found if not address.startswith(("#", "data:"))]


def measured(dom):
    match = re.search(r'<pre id="open-page-result">(.*?)</pre>', dom, re.S)
    if not match:
        return None
    text = match.group(1)
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u00a0"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return json.loads(text)


def problems_of(page, text, program, folder, arguments):
    copy = folder / "page.html"
    copy.write_text(text.replace("</body>", PROBE + "</body>"), encoding="utf-8")
    command = chromium_command(program, folder / "profile", arguments.width, arguments.dark)
    ended = run([*command, "--dump-dom", copy.as_uri()])
    problems = [f"console: {message}" for message in console_messages(ended.stderr)]
    problems += [f"fetches from outside: {address}" for address in outside_references(text)]
    seen = measured(ended.stdout)
    if seen is None:
        return [*problems, f"{page} did not load (status {ended.returncode}): {ended.stderr[-500:]}"], None
    figures = seen["figures"]
    if len(figures) < arguments.figures:
        problems.append(f"{len(figures)} figures, expected {arguments.figures}")
    for number, figure in enumerate(figures, 1):
        if min(figure["shown"] + figure["drawn"]) < 20 or figure["marks"] < 5:
            problems.append(f"figure {number} is empty: {figure}")
        if not figure["label"]:
            problems.append(f"figure {number} has no text alternative")
    problems += [f"id used twice: {name}" for name in seen["repeated"]]
    if seen["overflow"] > 0:
        problems.append(f"wider than its window of {arguments.width} by {seen['overflow']} pixels")
    if not seen["title"]:
        problems.append("no title")
    return problems, seen


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("page", type=pathlib.Path)
    parser.add_argument("--figures", type=int, default=1, help="minimum number of figures")
    parser.add_argument("--width", type=int, default=1200, help="window width in pixels (500 or more)")
    parser.add_argument("--height", type=int, default=1600, help="screenshot height in pixels")
    parser.add_argument("--dark", action="store_true", help="use the dark colour scheme")
    parser.add_argument("--screenshot", type=pathlib.Path, help="PNG to write")
    arguments = parser.parse_args()
    program = find_chromium()
    try:
        text = arguments.page.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"{arguments.page}: {error}")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        problems, seen = problems_of(arguments.page, text, program, folder, arguments)
        if arguments.screenshot:
            command = chromium_command(program, folder / "profile", arguments.width, arguments.dark)
            size = f"--window-size={arguments.width},{arguments.height}"
            image = f"--screenshot={arguments.screenshot.resolve()}"
            run([*command, size, image, arguments.page.resolve().as_uri()])
    for problem in problems:
        print(f"{arguments.page}: {problem}")
    if problems:
        sys.exit(1)
    print(f"{arguments.page}: opens without a message, {len(seen['figures'])} figures drawn")


if __name__ == "__main__":
    main()
