/* Tests of the crash reporter: one report per launcher for a killed process, none after
 * crash_reporter_stop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/base/crash_reporter.h"

enum end { KILLED, STOPPED, CRASHED };

/* Body of a child process with a crash reporter; `log` becomes its standard error. */
static _Noreturn void live(int log, const char *message, enum end end, int ready)
{
    struct error e;
    int reporter;
    dup2(log, STDERR_FILENO);
    if (crash_reporter_start(&reporter, message, &e) != OK)
        _exit(1);
    if (write(ready, "r", 1) != 1)
        _exit(1);
    if (end == STOPPED) {
        crash_reporter_stop(reporter);
        _exit(0);
    }
    if (end == CRASHED)
        abort();
    pause();
    _exit(1);
}

/* Forks a child that runs live(), and returns its pid once its reporter runs. */
static pid_t start(int log, const char *message, enum end end)
{
    int ready[2];
    char letter;
    assert_int_equal(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0)
        live(log, message, end, ready[1]);
    assert_int_equal(read(ready[0], &letter, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

/* Reads until all writers have closed the pipe, reporters included. */
static void read_all(int end, char *text, size_t size)
{
    size_t n = 0;
    for (ssize_t more = 1; more > 0 && n + 1 < size; n += (size_t)(more > 0 ? more : 0))
        more = read(end, text + n, size - 1 - n);
    text[n] = '\0';
}

/* Removes the message that qemu prints about a process that crashes. */
static const char *without_emulator(const char *text)
{
    const char *line_end = strchr(text, '\n');
    return strstr(text, "qemu: ") == text && line_end != NULL ? line_end + 1 : text;
}

static void check_report(enum end end, const char *expected)
{
    int log[2];
    char text[256];
    assert_int_equal(pipe(log), 0);
    pid_t pid = start(log[1], "rank 3 is gone", end);
    if (end == KILLED)
        kill(pid, SIGKILL);
    close(log[1]);
    waitpid(pid, NULL, 0);
    read_all(log[0], text, sizeof text);
    close(log[0]);
    assert_string_equal(without_emulator(text), expected);
}

static void a_process_that_is_killed_is_reported(void **state)
{
    check_report(KILLED, "rank 3 is gone\n");
}

static void a_process_that_crashes_is_reported(void **state)
{
    check_report(CRASHED, "rank 3 is gone\n");
}

static void a_process_that_stops_its_reporter_is_not(void **state)
{
    check_report(STOPPED, "");
}

/* The second child dies while the first one's reporter holds the name, for a fifth of a second. On
 * a slow machine the second report may still appear, but only after the first. */
static void the_first_of_several_is_reported_first(void **state)
{
    int log[2];
    char text[256], letter[1];
    assert_int_equal(pipe(log), 0);
    pid_t first = start(log[1], "rank 0 is gone", KILLED);
    pid_t second = start(log[1], "rank 1 is gone", KILLED);
    close(log[1]);
    kill(first, SIGKILL);
    assert_int_equal(read(log[0], letter, 1), 1);
    kill(second, SIGKILL);
    waitpid(first, NULL, 0);
    waitpid(second, NULL, 0);
    read_all(log[0], text, sizeof text);
    close(log[0]);
    assert_true(letter[0] == 'r' && strncmp(text, "ank 0 is gone\n", 14) == 0);
}

/* The second child aborts, as a library does that finds a peer dead, before the first is killed. */
static void a_killed_process_is_reported_before_one_that_aborts(void **state)
{
    int log[2];
    char text[256];
    assert_int_equal(pipe(log), 0);
    pid_t dead = start(log[1], "rank 0 is gone", KILLED);
    pid_t aborted = start(log[1], "rank 1 is gone", CRASHED);
    kill(dead, SIGKILL);
    close(log[1]);
    waitpid(dead, NULL, 0);
    waitpid(aborted, NULL, 0);
    read_all(log[0], text, sizeof text);
    close(log[0]);
    assert_int_equal(strncmp(without_emulator(text), "rank 0 is gone\n", 15), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_that_is_killed_is_reported),
        cmocka_unit_test(a_process_that_crashes_is_reported),
        cmocka_unit_test(a_process_that_stops_its_reporter_is_not),
        cmocka_unit_test(the_first_of_several_is_reported_first),
        cmocka_unit_test(a_killed_process_is_reported_before_one_that_aborts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
