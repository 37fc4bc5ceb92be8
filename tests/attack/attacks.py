"""All attacks, in the order in which they run. One module each; its `ATTACK` is an entry here."""

import files
import processes
from campaign import Attack

ALL: list[Attack] = [files.ATTACK, processes.ATTACK]
