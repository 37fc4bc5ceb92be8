"""Finds sources that use a name of the standard library without its header. Prints each as file:line: message; exits
with status 1 if there is one.

Precompiled headers and other sources of a batch hide a missing include from the compiler. A source may obtain a header
through any header of the tree that it includes.
"""

import argparse
import re
import sys
from pathlib import Path

FOLDERS = ("widelimit", "experiments", "app")
# Checked headers and their names.
NAMES = {
    "algorithm": "sort stable_sort max_element min_element clamp fill_n copy_n transform any_of all_of none_of find_if "
    "count_if nth_element lower_bound upper_bound unique reverse rotate partial_sort is_sorted binary_search",
    "array": "array",
    "atomic": "atomic",
    "bit": "bit_cast popcount countr_zero bit_ceil bit_width bit_floor has_single_bit",
    "chrono": "chrono",
    "cmath": "sqrt isfinite isnan ldexp frexp hypot fma log log1p expm1 pow erf erfc floor ceil llround lround cbrt",
    "condition_variable": "condition_variable",
    "cstdint": "int8_t int16_t int32_t int64_t uint8_t uint16_t uint32_t uint64_t uintptr_t",
    "cstdlib": "getenv malloc abort strtod",
    "cstring": "memcpy memset memcmp memmove strlen strerror",
    "deque": "deque",
    "filesystem": "filesystem",
    "fstream": "ifstream ofstream",
    "functional": "function",
    "limits": "numeric_limits",
    "map": "map multimap",
    "memory": "unique_ptr shared_ptr make_unique make_shared weak_ptr",
    "mutex": "mutex lock_guard unique_lock scoped_lock recursive_mutex once_flag call_once",
    "numbers": "numbers",
    "numeric": "accumulate iota inner_product partial_sum gcd lcm",
    "optional": "optional nullopt",
    "set": "set multiset",
    "span": "span",
    "sstream": "ostringstream istringstream stringstream",
    "string": "string to_string",
    "string_view": "string_view",
    "thread": "thread this_thread",
    "tuple": "tuple tie",
    "unordered_map": "unordered_map",
    "unordered_set": "unordered_set",
    "variant": "variant visit get_if holds_alternative monostate",
    "vector": "vector",
}
HEADER_OF = {name: header for header, names in NAMES.items() for name in names.split()}
# Headers that another header provides.
PROVIDED_BY = {
    "string": {"sstream", "filesystem", "fstream"},
    "string_view": {"string", "sstream", "filesystem", "fstream"},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*["<]([^">]+)[">]', re.MULTILINE)
STANDARD_NAME = re.compile(r"\bstd::(\w+)")
NO_CODE = re.compile(r'//[^\n]*|"(?:[^"\\\n]|\\.)*"')


def reached(path, direct):
    """Returns every header that `path` includes, directly or through the files of `direct`."""
    visited, left, headers = set(), [path], set()
    while left:
        here = left.pop()
        if here in visited:
            continue
        visited.add(here)
        for name in direct[here]:
            place = next((p for p in (name, (Path(here).parent / name).as_posix()) if p in direct), None)
            if place is None:
                headers.add(name)
            else:
                left.append(place)
    return headers


def missing_headers(path, text, headers):
    """Returns (line, message) of the first use of each header that is not among `headers`."""
    missing = {}
    for number, line in enumerate(text.splitlines(), start=1):
        for name in STANDARD_NAME.findall(NO_CODE.sub("", line)):
            header = HEADER_OF.get(name)
            if header and not headers & {header, *PROVIDED_BY.get(header, ())}:
                missing.setdefault(header, (number, f"std::{name} without <{header}>"))
    return list(missing.values())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("root", nargs="?", type=Path, default=Path(__file__).parent.parent)
    root = parser.parse_args().root.resolve()
    paths = [p for folder in FOLDERS for p in sorted((root / folder).rglob("*.[ch]pp"))]
    texts = {p.relative_to(root).as_posix(): p.read_text(encoding="utf-8") for p in paths}
    direct = {path: INCLUDE.findall(text) for path, text in texts.items()}
    found = 0
    for path, text in texts.items():
        for number, what in missing_headers(path, text, reached(path, direct)):
            print(f"{path}:{number}: {what}")
            found += 1
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
