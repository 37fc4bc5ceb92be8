"""All attacks, in the order in which they run. One module each; its `ATTACK` is an entry here."""

import networks
import quadrature
from campaign import Attack

ALL: list[Attack] = [networks.ATTACK, quadrature.ATTACK]
