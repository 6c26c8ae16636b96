"""Interfaces of the network: which one joins the hosts of a launch, its address, what it carries."""
import fcntl
import os
import socket
import struct

from torch_peer.failure import FAILED, Failure

SIOCGIFADDR = 0x8915  # of linux/sockios.h: the IPv4 address of an interface
LOOPBACK = "lo"
# Fields of a record, and counters of the kernel's.
COUNTERS = {"bytes_nic": "tx_bytes", "bytes_nic_received": "rx_bytes",
            "packets_nic_sent": "tx_packets", "packets_nic_received": "rx_packets"}


def names():
    return [name for _, name in socket.if_nameindex()]


def of_default_route():
    """The interface that what is not on a network of this host leaves by; None: there is none."""
    with open("/proc/net/route", encoding="ascii") as file:
        routes = [line.split() for line in file.readlines()[1:]]
    return next((route[0] for route in routes if route[1] == "00000000"), None)


def only_one():
    """The interface of a host that has one; None: it has several."""
    others = [name for name in names() if name != LOOPBACK]
    return others[0] if len(others) == 1 else None


def choose(hosts, told):
    """Where ranks on these hosts, a name a rank, meet: as the user has told gloo; on one host in the
    machine; else on the interface that the launch was told of (`told`, or None), that of the default
    route, or the only one."""
    users = os.environ.get("GLOO_SOCKET_IFNAME", "").split(",")[0]
    if users:
        return users
    if len(set(hosts)) == 1:
        return LOOPBACK
    interface = told or of_default_route() or only_one()
    if interface is None:
        raise Failure(FAILED, f"ranks are on several hosts ({' '.join(sorted(set(hosts)))}), and no "
                              "--nic and no default route says by which interface they meet; set "
                              f"GLOO_SOCKET_IFNAME to one of {' '.join(names())}")
    return interface


def address_of(interface):
    """Its IPv4 address as text."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as any_socket:
        request = struct.pack("256s", interface.encode()[:15])
        try:
            answer = fcntl.ioctl(any_socket.fileno(), SIOCGIFADDR, request)
        except OSError as error:
            raise Failure(FAILED, f"interface '{interface}' of {os.uname().nodename} has no IPv4 "
                                  f"address to meet at ({error.strerror}); there are: "
                                  f"{' '.join(names())}; GLOO_SOCKET_IFNAME names another") from error
    return socket.inet_ntoa(answer[20:24])


def counts(interface):
    """What it has carried since it came up, headers included."""
    told = {}
    for field, counter in COUNTERS.items():
        path = f"/sys/class/net/{interface}/statistics/{counter}"
        try:
            with open(path, encoding="ascii") as file:
                told[field] = int(file.read())
        except OSError as error:
            raise Failure(FAILED, f"--nic {interface}: {path}: {error.strerror}") from error
    return told
