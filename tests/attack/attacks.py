"""All attacks, in the order in which they run. One module each; its `ATTACK` is an entry here."""

import certificates
import files
import machines
import networks
import processes
import quadrature
import trained_networks
from campaign import Attack

ALL: list[Attack] = [
    certificates.ATTACK,
    trained_networks.ATTACK,
    networks.ATTACK,
    quadrature.ATTACK,
    machines.ATTACK,
    files.ATTACK,
    processes.ATTACK,
]
