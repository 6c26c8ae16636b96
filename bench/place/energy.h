/* Measures the energy of a node's processor packages with the RAPL counters of Linux powercap. The
 * counters include all programs and idle power, but not memory, disks or network cards. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Folder of the kernel's counters. Since Linux 5.10, only root may read them by default. */
#define ENERGY_FOLDER "/sys/class/powercap"

/* Number of powercap zones searched for packages, and so the maximum number of packages. */
enum { ENERGY_ZONES = 64 };

/* Packages of a node, and their counters at energy_begin. */
struct energy {
    const char *folder; /* ENERGY_FOLDER, or the folder of a test; borrowed */
    int n;              /* number of processor packages; 0: none is found, or a counter cannot be
                           read */
    int zones[ENERGY_ZONES];
    double begin_uj[ENERGY_ZONES];
    int64_t begin_ns; /* time at which energy_begin read the counters */
};

/* Finds the packages in `folder`: zones intel-rapl:N that are named package-... Other zones are
 * parts of a package or contain it (psys). Returns false if no package is found or a counter cannot
 * be read. */
bool energy_open(struct energy *energy, const char *folder);

/* Reads the counters. energy_since_j returns the energy used since this call. */
void energy_begin(struct energy *energy);

/* Returns the energy of all packages since energy_begin (J). NAN if a counter cannot be read, has
 * not moved, or may have wrapped more than once. At the assumed maximum of 500 W per package, a
 * counter may have wrapped more than once after 2 to 9 minutes, depending on its range. */
double energy_since_j(const struct energy *energy);
