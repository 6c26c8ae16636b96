"""Network interfaces: the one that connects the hosts of a launch, its address and counters."""
import fcntl
import os
import socket
import struct

from torch_peer.failure import FAILED, Failure

SIOCGIFADDR = 0x8915  # linux/sockios.h: IPv4 address of an interface
LOOPBACK = "lo"
# Record fields and their kernel counters.
COUNTERS = {"bytes_nic": "tx_bytes", "bytes_nic_received": "rx_bytes",
            "packets_nic_sent": "tx_packets", "packets_nic_received": "rx_packets"}


def names():
    return [name for _, name in socket.if_nameindex()]


def of_default_route():
    """Returns the interface of the default route, or None."""
    with open("/proc/net/route", encoding="ascii") as file:
        routes = [line.split() for line in file.readlines()[1:]]
    return next((route[0] for route in routes if route[1] == "00000000"), None)


def only_one():
    """Returns the only interface of this host, or None if it has several."""
    others = [name for name in names() if name != LOOPBACK]
    return others[0] if len(others) == 1 else None


def choose(hosts, given):
    """Chooses the interface that connects the ranks. hosts: host name of each rank. A user's
    GLOO_SOCKET_IFNAME wins; on one host it is the loopback. Otherwise it is `given` (or None) from
    --nic, that of the default route, or the only one."""
    users = os.environ.get("GLOO_SOCKET_IFNAME", "").split(",")[0]
    if users:
        return users
    if len(set(hosts)) == 1:
        return LOOPBACK
    interface = given or of_default_route() or only_one()
    if interface is None:
        raise Failure(FAILED, f"ranks are on several hosts ({' '.join(sorted(set(hosts)))}), but "
                              "--nic and a default route are missing. Set "
                              f"GLOO_SOCKET_IFNAME to one of {' '.join(names())}")
    return interface


def address_of(interface):
    """Returns the IPv4 address of an interface as text."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("256s", interface.encode()[:15])
        try:
            answer = fcntl.ioctl(any_socket.fileno(), SIOCGIFADDR, request)
        except OSError as error:
            raise Failure(FAILED, f"interface '{interface}' of {os.uname().nodename} has no IPv4 "
                                  f"address ({error.strerror}). Set GLOO_SOCKET_IFNAME to one of "
                                  f"{' '.join(names())}") from error
    return socket.inet_ntoa(answer[20:24])


def counts(interface):
    """Returns bytes (with headers) and packets of an interface since it came up."""
    totals = {}
    for field, counter in COUNTERS.items():
        path = f"/sys/class/net/{interface}/statistics/{counter}"
        try:
            with open(path, encoding="ascii") as file:
                totals[field] = int(file.read())
        except OSError as error:
            raise Failure(FAILED, f"--nic {interface}: {path}: {error.strerror}") from error
    return totals
