/* Finds and adds up the processes of a launch in an artificial /proc. */
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

#include "bench/resources/members.h"

#define NEAR(a, b) assert_true(fabs((a) - (b)) < 1e-9)

static char proc[] = "/tmp/test_members.XXXXXX";

static int make_folder(void **state)
{
    strcpy(proc + strlen(proc) - 6, "XXXXXX");
    return mkdtemp(proc) != NULL ? 0 : -1;
}

static int remove_folder(void **state)
{
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", proc);
    return system(command);
}

static void write_file(const char *name, const char *text)
{
    char path[400];
    snprintf(path, sizeof path, "%s/%s", proc, name);
    FILE *out = fopen(path, "w");
    assert_non_null(out);
    fputs(text, out);
    assert_int_equal(fclose(out), 0);
}

static void put_last(int pid)
{
    char text[64];
    snprintf(text, sizeof text, "0.1 0.1 0.1 1/9 %d\n", pid);
    write_file("loadavg", text);
}

/* Writes a process. Times are in ticks; of_children: user time of children that it waited for. */
static void put(int pid, int parent, int user, int sys, int of_children, int pages)
{
    char path[300], text[400];
    snprintf(path, sizeof path, "%s/%d", proc, pid);
    mkdir(path, 0777);
    snprintf(text, sizeof text, "%d (x) S %d 1 1 0 -1 0 0 0 0 0 %d %d %d 0 20 0 1 0 %d 0 %d 0 0\n",
             pid, parent, user, sys, of_children, 7 * pid, pages);
    snprintf(path, sizeof path, "%d/stat", pid);
    write_file(path, text);
}

static void end(int pid)
{
    char path[300];
    snprintf(path, sizeof path, "%s/%d/stat", proc, pid);
    assert_int_equal(unlink(path), 0);
    path[strlen(path) - 5] = '\0';
    assert_int_equal(rmdir(path), 0);
}

static struct members open_at(int launcher)
{
    struct members m;
    assert_int_equal(members_open(&m, proc, launcher, NULL), OK);
    m.ticks_per_s = 100;
    m.page_mib = 0.5;
    return m;
}

/* Scans for new processes and adds up all members. */
static void add_up(struct members *m, double values[SAMPLE_VALUES])
{
    assert_int_equal(members_look(m, NULL), OK);
    members_add_up(m, values);
}

/* Writes a launch: process 10 is the launcher, rank 30 has the child 20, process 50 is foreign. */
static void put_launch(void)
{
    put(1, 0, 9000, 0, 0, 9000);
    put(10, 1, 1, 2, 0, 2);
    put(30, 10, 100, 20, 0, 10);
    put(20, 30, 50, 5, 0, 4);
    put(50, 1, 7000, 0, 0, 7000);
    put_last(50);
}

static void what_the_launcher_started_is_added_up(void **state)
{
    double v[SAMPLE_VALUES];
    put_launch();
    struct members m = open_at(10);
    add_up(&m, v);
    NEAR(v[SAMPLE_processes], 3);
    NEAR(v[SAMPLE_user_s], 1.51);
    NEAR(v[SAMPLE_sys_s], 0.27);
    NEAR(v[SAMPLE_resident_mib], 8);
    members_close(&m);
}

static void new_ones_are_found_where_one_was_started(void **state)
{
    double v[SAMPLE_VALUES];
    put_launch();
    struct members m = open_at(10);
    add_up(&m, v);
    put(60, 20, 10, 0, 0, 0);
    add_up(&m, v);
    NEAR(v[SAMPLE_processes], 3); /* /proc/loadavg names no new process yet */
    put_last(60);
    add_up(&m, v);
    NEAR(v[SAMPLE_processes], 4);
    NEAR(v[SAMPLE_user_s], 1.61);
    members_close(&m);
}

/* If the parent waited for a child, the child's times are in the parent. If nobody waited, they
 * stay in the sum. */
static void times_of_those_that_ended_stay(void **state)
{
    double v[SAMPLE_VALUES];
    put_launch();
    struct members m = open_at(10);
    add_up(&m, v);
    end(20);
    put(30, 10, 100, 20, 50, 10);
    add_up(&m, v);
    NEAR(v[SAMPLE_processes], 2);
    NEAR(v[SAMPLE_user_s], 1.51);
    NEAR(v[SAMPLE_sys_s], 0.27);
    end(30);
    add_up(&m, v);
    NEAR(v[SAMPLE_user_s], 1.51);
    put(10, 1, 11, 2, 0, 2);
    add_up(&m, v);
    NEAR(v[SAMPLE_user_s], 1.61);
    members_close(&m);
}

static void a_number_that_is_used_again_is_somebody_else(void **state)
{
    double v[SAMPLE_VALUES];
    put_launch();
    struct members m = open_at(10);
    add_up(&m, v);
    write_file("20/stat", "20 (x) S 1 1 1 0 -1 0 0 0 0 0 900 900 0 0 20 0 1 0 999999 0 9 0 0\n");
    add_up(&m, v);
    NEAR(v[SAMPLE_processes], 2);
    NEAR(v[SAMPLE_user_s], 1.51);
    members_close(&m);
}

/* If the launcher's process is hidden, the ranks themselves can still be read. */
static void a_hidden_launcher_has_children(void **state)
{
    double v[SAMPLE_VALUES];
    put_launch();
    end(10);
    struct members m = open_at(10);
    add_up(&m, v);
    NEAR(v[SAMPLE_processes], 2);
    NEAR(v[SAMPLE_user_s], 1.5);
    members_close(&m);
}

static void nothing_to_read_is_unknown(void **state)
{
    double v[SAMPLE_VALUES];
    struct members m = open_at(10);
    add_up(&m, v);
    assert_true(isnan(v[SAMPLE_processes]) && isnan(v[SAMPLE_user_s]) && isnan(v[SAMPLE_sys_s]) &&
                isnan(v[SAMPLE_resident_mib]));
    members_close(&m);
    m = open_at(10);
    m.proc = "/nowhere";
    add_up(&m, v);
    assert_true(isnan(v[SAMPLE_processes]));
    members_close(&m);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_folder, remove_folder)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(what_the_launcher_started_is_added_up),
        TEST(new_ones_are_found_where_one_was_started),
        TEST(times_of_those_that_ended_stay),
        TEST(a_number_that_is_used_again_is_somebody_else),
        TEST(a_hidden_launcher_has_children),
        TEST(nothing_to_read_is_unknown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
