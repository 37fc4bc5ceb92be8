"""Writes widelimit/data/fetch/uci_tables.cpp: size and SHA-256 of every UCI table that can be fetched.

    python tools/uci_sums.py ARCHIVE > widelimit/data/fetch/uci_tables.cpp

ARCHIVE is a tar file of the tables, one NAME.csv each, from data/ of github.com/gditzler/UA-ECE-523-Sp2018.
"""

import hashlib
import sys
import tarfile
from pathlib import Path

HEAD = """#include "widelimit/data/fetch/sources.hpp"

#include <array>

namespace widelimit {{

namespace {{

/// Written by tools/uci_sums.py. Sorted by name.
constexpr std::array<UciTable, {count}> tables_of_uci{{{{
"""

FOOT = """}};

}  // namespace

std::span<const UciTable> uci_tables() { return tables_of_uci; }

}  // namespace widelimit
"""


def main():
    tables = {}
    with tarfile.open(sys.argv[1]) as archive:
        for member in archive:
            if member.isfile() and member.name.endswith(".csv") and Path(member.name).stem != "index":
                tables[Path(member.name).stem] = archive.extractfile(member).read()
    print(HEAD.format(count=len(tables)), end="")
    for name, table in sorted(tables.items()):
        print(f'    {{"{name}", {len(table)}, "{hashlib.sha256(table).hexdigest()}"}},')
    print(FOOT, end="")


if __name__ == "__main__":
    main()
