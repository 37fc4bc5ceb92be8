"""All attacks, in order of execution. Each module has one `ATTACK`, which is listed here."""

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
