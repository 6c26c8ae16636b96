"""Processors of this process: their machine, and their use since the process began."""
import os
import time


def machine():
    """Returns the kernel's boot id, which hosts of one machine share."""
    with open("/proc/sys/kernel/random/boot_id", encoding="ascii") as file:
        return file.read().strip()


def read_times():
    """Returns seconds of these processors by record field; {} if the kernel does not report them."""
    own, tick_s = os.sched_getaffinity(0), 1 / os.sysconf("SC_CLK_TCK")
    total = busy = steal = found = 0
    with open("/proc/stat", encoding="ascii") as file:
        for name, *ticks in map(str.split, file):
            if name[:3] != "cpu" or not name[3:].isdigit() or int(name[3:]) not in own:
                continue
            user, nice, system, idle, iowait, irq, softirq, stolen = map(int, ticks[:8])
            found += 1
            busy += user + nice + system + irq + softirq
            steal += stolen
            total += user + nice + system + irq + softirq + stolen + idle + iowait
    if found == 0:
        return {}
    return {"cores_s": total * tick_s, "cores_busy_s": busy * tick_s, "cores_steal_s": steal * tick_s,
            "cores_own_s": time.process_time()}


BEGIN = read_times()  # this module is the first to be imported


def since_begin():
    """Returns seconds of these processors since this program began."""
    return {name: now - BEGIN[name] for name, now in read_times().items() if name in BEGIN}
