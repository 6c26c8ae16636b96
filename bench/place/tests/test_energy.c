/* Measures energy in artificial trees of powercap. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/place/energy.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static char folder[] = "/tmp/test_energy.XXXXXX";

static int make_folder(void **state)
{
    strcpy(folder + strlen(folder) - 6, "XXXXXX");
    return mkdtemp(folder) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void put(const char *zone, const char *file, const char *text)
{
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, zone);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/%s/%s", folder, zone, file);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void put_zone(const char *zone, const char *name, const char *energy_uj)
{
    put(zone, "name", name);
    put(zone, "energy_uj", energy_uj);
    put(zone, "max_energy_range_uj", "262143328850\n");
}

/* Two packages, with a gap in their numbers. The kernel lists parts of a package beside it. psys
 * contains all packages, and intel-rapl-mmio:0 is package 0 again. */
static void put_tree(void)
{
    put_zone("intel-rapl:0", "package-0\n", "5000000\n");
    put_zone("intel-rapl:0:0", "core\n", "1000000\n");
    put_zone("intel-rapl:0:1", "dram\n", "1000000\n");
    put_zone("intel-rapl:1", "psys\n", "1000000\n");
    put_zone("intel-rapl:3", "package-1\n", "262143000000\n");
    put_zone("intel-rapl-mmio:0", "package-0\n", "1000000\n");
    put("intel-rapl", "enabled", "1\n");
}

static void move_all(const char *first_uj, const char *second_uj)
{
    put("intel-rapl:0", "energy_uj", first_uj);
    put("intel-rapl:3", "energy_uj", second_uj);
    put("intel-rapl:0:0", "energy_uj", "900000000\n");
    put("intel-rapl:0:1", "energy_uj", "900000000\n");
    put("intel-rapl:1", "energy_uj", "900000000\n");
    put("intel-rapl-mmio:0", "energy_uj", "900000000\n");
}

static void only_packages_add_up(void **state)
{
    struct energy energy;
    put_tree();
    assert_true(energy_open(&energy, folder));
    assert_int_equal(energy.n, 2);
    move_all("7500000\n", "262143100000\n");
    NEAR(energy_since_j(&energy), 2.5 + 0.1);
    energy_begin(&energy);
    move_all("8500000\n", "262143300000\n");
    NEAR(energy_since_j(&energy), 1 + 0.2);
}

/* Package 1 used 0.32885 J up to the end of its range, and 0.2 J after it. */
static void a_counter_may_wrap(void **state)
{
    struct energy energy;
    put_tree();
    assert_true(energy_open(&energy, folder));
    move_all("6000000\n", "200000\n");
    NEAR(energy_since_j(&energy), 1 + 0.52885);
    put("intel-rapl:3", "max_energy_range_uj", "");
    assert_true(isnan(energy_since_j(&energy)));
}

/* At 500 W, a counter of 1 J may wrap every 2 ms. */
static void a_counter_that_may_wrap_twice_is_unknown(void **state)
{
    struct energy energy;
    put_tree();
    assert_true(energy_open(&energy, folder));
    move_all("6000000\n", "262143100000\n");
    NEAR(energy_since_j(&energy), 1 + 0.1);
    put("intel-rapl:0", "max_energy_range_uj", "1000000\n");
    usleep(3000);
    assert_true(isnan(energy_since_j(&energy)));
}

/* An empty file stands for one that only root may read, since tests may run as root. */
static void one_unreadable_counter_makes_the_sum_unknown(void **state)
{
    struct energy energy;
    put_tree();
    put("intel-rapl:3", "energy_uj", "");
    assert_false(energy_open(&energy, folder));
    assert_true(isnan(energy_since_j(&energy)));
    put_tree();
    assert_true(energy_open(&energy, folder));
    move_all("7500000\n", "");
    assert_true(isnan(energy_since_j(&energy)));
}

static void a_counter_that_never_moves_is_unknown(void **state)
{
    struct energy energy;
    put_zone("intel-rapl:0", "package-0\n", "0\n");
    assert_true(energy_open(&energy, folder));
    assert_true(isnan(energy_since_j(&energy)));
    put("intel-rapl:0", "energy_uj", "1000000\n");
    NEAR(energy_since_j(&energy), 1);
}

static void machines_without_packages_are_unknown(void **state)
{
    struct energy energy;
    assert_false(energy_open(&energy, "/nowhere"));
    assert_true(isnan(energy_since_j(&energy)));
    put_zone("intel-rapl:0", "psys\n", "1000000\n");
    assert_false(energy_open(&energy, folder));
    energy_begin(&energy);
    assert_true(isnan(energy_since_j(&energy)));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(only_packages_add_up),
        TEST(a_counter_may_wrap),
        TEST(a_counter_that_may_wrap_twice_is_unknown),
        TEST(one_unreadable_counter_makes_the_sum_unknown),
        TEST(a_counter_that_never_moves_is_unknown),
        TEST(machines_without_packages_are_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
