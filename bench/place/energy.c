#include "bench/place/energy.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/base/file.h"
#include "kernels/base/clock.h"

enum { PATH = 512 };

/* Upper bound of the power of a package (W). */
#define PACKAGE_MOST_W 500.0

static const char *zone_path(char path[PATH], const struct energy *energy, int zone,
                             const char *file)
{
    snprintf(path, PATH, "%s/intel-rapl:%d/%s", energy->folder, zone, file);
    return path;
}

static double read_uj(const struct energy *energy, int zone, const char *file)
{
    char path[PATH];
    return file_number(zone_path(path, energy, zone, file));
}

static bool is_package(const struct energy *energy, int zone)
{
    static const char package[] = "package-";
    char path[PATH], name[64];
    file_first_line(zone_path(path, energy, zone, "name"), name, sizeof name);
    return strncmp(name, package, strlen(package)) == 0;
}

/* Tries every number below ENERGY_ZONES, since an offline package leaves a gap in the zone
 * numbers. */
bool energy_open(struct energy *energy, const char *folder)
{
    *energy = (struct energy){.folder = folder};
    for (int zone = 0; zone < ENERGY_ZONES; zone++)
        if (is_package(energy, zone))
            energy->zones[energy->n++] = zone;
    energy_begin(energy);
    for (int i = 0; i < energy->n; i++)
        if (isnan(energy->begin_uj[i]))
            energy->n = 0;
    return energy->n > 0;
}

void energy_begin(struct energy *energy)
{
    for (int i = 0; i < energy->n; i++)
        energy->begin_uj[i] = read_uj(energy, energy->zones[i], "energy_uj");
    energy->begin_ns = clock_ns();
}

/* Returns the energy of package i since energy_begin (uJ). NAN if a counter cannot be read, has not
 * moved, or may have wrapped more than once. most_uj: upper bound of the energy. */
static double package_since_uj(const struct energy *energy, int i, double most_uj)
{
    double since_uj = read_uj(energy, energy->zones[i], "energy_uj") - energy->begin_uj[i];
    double range_uj = read_uj(energy, energy->zones[i], "max_energy_range_uj");
    if (since_uj < 0)
        since_uj += range_uj;
    return since_uj > 0 && most_uj < range_uj ? since_uj : NAN;
}

double energy_since_j(const struct energy *energy)
{
    double sum_uj = energy->n > 0 ? 0 : NAN;
    double most_uj = 1e-3 * PACKAGE_MOST_W * (double)(clock_ns() - energy->begin_ns);
    for (int i = 0; i < energy->n; i++)
        sum_uj += package_since_uj(energy, i, most_uj);
    return 1e-6 * sum_uj;
}
