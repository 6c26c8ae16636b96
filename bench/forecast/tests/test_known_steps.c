/* Tests the relative speed of this machine, from tables of this machine and others. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "bench/forecast/forecast.h"
#include "bench/place/hardware.h"

static const struct place_machine machine = {.usable_cores = 4};

/* Begins a campaign's folder and table; rows follow. */
static FILE *begin_campaign(const char *name, const char *class)
{
    char path[64];
    snprintf(path, sizeof path, "%s", name);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/latest", name);
    assert_int_equal(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/latest/manifest.json", name);
    json_t *manifest = json_pack("{s:{s:s}}", "facts", "machine", class);
    assert_int_equal(json_dump_file(manifest, path, 0), 0);
    json_decref(manifest);
    snprintf(path, sizeof path, "%s/latest/summary.csv", name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs("site,link,model,workload,strategy,nodes,ranks,threads_per_rank,oversubscribed,compute,"
          "global_batch,flops_per_image,step_ms_median,comm_exposed_ms,inject_ms\n",
          out);
    return out;
}

/* Adds a step of 100 images on one core. */
static void add_row(FILE *out, const char *model, const char *workload, double step_s)
{
    fprintf(out, "local,,%s,%s,none,1,1,1,0,real,100,1000,%g,0,0\n", model, workload, 1e3 * step_s);
}

/* Adds a replayed step. */
static void add_replayed_row(FILE *out, const char *model)
{
    fprintf(out, "local,,%s,train_cnn,none,1,1,1,0,replayed,100,1000,1,0,0\n", model);
}

static void remove_campaign(const char *name)
{
    static const char *const files[] = {"latest/manifest.json", "latest/summary.csv"};
    char path[64];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(path, sizeof path, "%s/%s", name, files[i]);
        assert_int_equal(unlink(path), 0);
    }
    snprintf(path, sizeof path, "%s/latest", name);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(name), 0);
}

static void assert_speed(const struct known_steps *known, const char *class, double expected)
{
    size_t i = 0;
    while (i < known->n && strcmp(known->all[i].machine, class) != 0)
        i++;
    assert_true(i < known->n);
    assert_true(fabs(known_steps_speed(known, &known->all[i]) - expected) < 1e-12);
}

/* Four pairs of equal network and workload: 2 and 4 times as fast, half as fast, and 2 times
 * again. */
static void speed_is_the_mean_of_pairs(void **state)
{
    (void)state;
    char here[HARDWARE_CLASS_BYTES];
    struct known_steps known;
    struct error e;
    hardware_class(here, &machine);
    FILE *out = begin_campaign("here", here);
    add_row(out, "a", "train_cnn", 1);
    add_row(out, "b", "train_cnn", 2);
    add_row(out, "a", "peer_torch", 1);
    add_row(out, "a", "train_cnn", 0.5);
    fclose(out);
    out = begin_campaign("there", "another machine");
    add_row(out, "a", "train_cnn", 2);
    add_row(out, "c", "train_cnn", 100);
    add_replayed_row(out, "a");
    add_row(out, "b", "train_cnn", 1);
    add_row(out, "a", "peer_torch", 2);
    fclose(out);
    out = begin_campaign("elsewhere", "a third one");
    add_row(out, "c", "train_cnn", 1);
    fclose(out);
    assert_int_equal(known_steps_read(&known, ".", ".", &machine, &e), OK);
    assert_int_equal(known.n, 9);
    assert_speed(&known, here, 1);
    assert_speed(&known, "another machine", pow(2 * 4 * 0.5 * 2, 1 / 4.0));
    assert_speed(&known, "a third one", 1);
    known_steps_free(&known);
    remove_campaign("here");
    remove_campaign("there");
    remove_campaign("elsewhere");
}

static char folder[] = "/tmp/test_known_steps.XXXXXX";

static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) != NULL && chdir(folder) == 0 ? 0 : -1;
}

static int leave_folder(void **state)
{
    (void)state;
    return chdir("/") == 0 ? rmdir(folder) : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(speed_is_the_mean_of_pairs)};
    return cmocka_run_group_tests_name("known steps", tests, enter_folder, leave_folder);
}
