"""All attacks, in the order in which they run. One module each; its `ATTACK` is an entry here."""

import machines
from campaign import Attack

ALL: list[Attack] = [machines.ATTACK]
