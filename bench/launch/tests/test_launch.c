/* Tests the guard of a launch: however a launch ends and whichever process is killed, none of
 * its processes remains. Shells and sleeps replace mpiexec and ranks. They end by themselves
 * after LIFE_S seconds, so that a guard that does nothing fails a test instead of hanging it. */
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/launch/launch.h"
#include "bench/launch/processes.h"
#include "bench/record/record.h"
#include "kernels/base/clock.h"

#define LIFE_S 300

/* A program with children in their own sessions that ignore SIGTERM. Each writes its number to
 * $PIDS: five in all. */
#define STUBBORN                                                                                   \
    "trap '' TERM; echo $$ >> $PIDS;"                                                              \
    "setsid sh -c 'trap \"\" TERM; echo $$ >> $PIDS; sleep 300 & echo $! >> $PIDS; wait' &"        \
    "(trap '' TERM; setsid sleep 300 & echo $! >> $PIDS) ;"                                        \
    "sleep 300 & echo $! >> $PIDS; wait"
#define STUBBORN_PROCESSES 5

struct fixture {
    char folder[64], log[96], pids[96], pids_variable[128];
};

static int set_up(void **state)
{
    struct fixture *f = calloc(1, sizeof *f);
    strcpy(f->folder, "/tmp/test_launch.XXXXXX");
    *state = f;
    if (!mkdtemp(f->folder))
        return -1;
    snprintf(f->log, sizeof f->log, "%s/log.txt", f->folder);
    snprintf(f->pids, sizeof f->pids, "%s/pids", f->folder);
    snprintf(f->pids_variable, sizeof f->pids_variable, "PIDS=%s", f->pids);
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *f = *state;
    unlink(f->log);
    unlink(f->pids);
    int failed = rmdir(f->folder);
    free(f);
    return failed;
}

static struct launch start_program(const struct fixture *f, const char *script, double limit_s,
                                   bool is_ours)
{
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    char *environment[] = {(char *)f->pids_variable, NULL};
    struct launch_command command = {.argv = argv,
                                     .environment = environment,
                                     .log = f->log,
                                     .limit_s = limit_s,
                                     .is_ours = is_ours};
    struct launch launch;
    struct error e = {0};
    if (launch_start(&launch, &command, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    return launch;
}

static struct launch start(const struct fixture *f, const char *script, double limit_s)
{
    return start_program(f, script, limit_s, true);
}

static struct launch_outcome run(struct fixture *f, const char *script, double limit_s)
{
    struct launch launch = start(f, script, limit_s);
    return launch_finish(&launch);
}

static void short_pause(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

/* Reads the process numbers in complete lines of the file. */
static int read_pids(const struct fixture *f, pid_t *pids, int max)
{
    char line[64];
    int n = 0;
    FILE *file = fopen(f->pids, "r");
    while (file && n < max && fgets(line, sizeof line, file))
        if (strchr(line, '\n'))
            pids[n++] = (pid_t)atol(line);
    if (file)
        fclose(file);
    return n;
}

static int wait_for_pids(const struct fixture *f, pid_t *pids, int n)
{
    int64_t begin = clock_ns();
    while (read_pids(f, pids, n) < n && clock_ns() - begin < LIFE_S * INT64_C(1000000000))
        short_pause();
    return read_pids(f, pids, n);
}

/* A zombie counts as ended: it only waits for a parent outside this test. */
static bool is_alive(pid_t pid)
{
    char path[64], state = 'Z';
    snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid);
    FILE *f = fopen(path, "r");
    if (!f)
        return false;
    int read = fscanf(f, "%*d (%*[^)]) %c", &state);
    fclose(f);
    return read == 1 && state != 'Z';
}

static void expect_all_dead(const pid_t *pids, int n)
{
    for (int i = 0; i < n; i++)
        if (is_alive(pids[i]))
            fail_msg("process %ld of the launch is still there", (long)pids[i]);
}

static void read_log(const struct fixture *f, char *text, size_t size)
{
    FILE *file = fopen(f->log, "r");
    assert_non_null(file);
    size_t n = fread(text, 1, size - 1, file);
    text[n] = '\0';
    fclose(file);
}

/* The input of a user's program is empty. */
static void test_an_ordinary_end(void **state)
{
    struct fixture *f = *state;
    char log[256];
    struct launch launch =
        start_program(f, "read x || echo nothing; echo $PIDS >&2; exit 7", LIFE_S, false);
    struct launch_outcome o = launch_finish(&launch);
    assert_int_equal(o.cause, CAUSE_ENDED);
    assert_true(WIFEXITED(o.wait_status));
    assert_int_equal(WEXITSTATUS(o.wait_status), 7);
    assert_int_equal(o.not_killed, 0);
    read_log(f, log, sizeof log);
    char expected[256];
    snprintf(expected, sizeof expected, "nothing\n%s\n", f->pids);
    assert_string_equal(log, expected);
}

static void test_the_input_of_our_programs_never_ends(void **state)
{
    struct launch_outcome o = run(*state, "timeout 0.2 cat", LIFE_S);
    assert_int_equal(o.cause, CAUSE_ENDED);
    assert_int_equal(WEXITSTATUS(o.wait_status), 124);
}

static void test_wall_time_is_the_programs(void **state)
{
    struct launch_outcome o = run(*state, "sleep 0.3", LIFE_S);
    assert_true(o.wall_s >= 0.3);
    assert_true(o.wall_s < LIFE_S);
}

/* The time limit of one second applies only to the innermost process, and by another clock.
 * Under a hypervisor, as little as 0.8 s have been observed. */
static void test_processor_time_is_of_all_processes(void **state)
{
    struct launch_outcome o =
        run(*state, "setsid sh -c \"sh -c 'ulimit -t 1; while :; do :; done'; true\"", LIFE_S);
    assert_int_equal(o.cause, CAUSE_ENDED);
    assert_true(o.cpu_s >= 0.5 && o.cpu_s < 3);
}

static void test_an_end_by_signal(void **state)
{
    struct launch_outcome o = run(*state, "kill -9 $$", LIFE_S);
    assert_int_equal(o.cause, CAUSE_ENDED);
    assert_true(WIFSIGNALED(o.wait_status));
    assert_int_equal(WTERMSIG(o.wait_status), SIGKILL);
}

/* Starts `script` with one of two ranks' records present. Both ranks must start within 1 s. */
static struct launch start_two_ranks(const struct fixture *f, const char *script)
{
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    char *environment[] = {(char *)f->pids_variable, NULL};
    struct launch_command command = {.argv = argv,
                                     .environment = environment,
                                     .log = f->log,
                                     .limit_s = LIFE_S,
                                     .start_limit_s = 1,
                                     .records = f->folder,
                                     .ranks = 2,
                                     .is_ours = true};
    struct launch launch;
    struct error e = {0};
    recorder_announce(f->folder, 0);
    if (launch_start(&launch, &command, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    return launch;
}

static void remove_records(const struct fixture *f)
{
    char path[128];
    for (int rank = 0; rank < 2; rank++) {
        snprintf(path, sizeof path, "%s/rank.%d.jsonl", f->folder, rank);
        unlink(path);
    }
}

static void test_ranks_that_do_not_start(void **state)
{
    struct fixture *f = *state;
    pid_t pids[STUBBORN_PROCESSES];
    struct launch launch = start_two_ranks(f, STUBBORN);
    struct launch_outcome o = launch_finish(&launch);
    remove_records(f);
    assert_int_equal(o.cause, CAUSE_NO_START);
    assert_int_equal(o.started, 1);
    assert_int_equal(o.ranks, 2);
    expect_all_dead(pids, read_pids(f, pids, STUBBORN_PROCESSES));
}

/* Once all ranks have started, the start limit has no effect. */
static void test_ranks_that_start_late(void **state)
{
    struct fixture *f = *state;
    struct launch launch = start_two_ranks(f, ">${PIDS%/*}/rank.1.jsonl; sleep 3; exit 7");
    struct launch_outcome o = launch_finish(&launch);
    remove_records(f);
    assert_int_equal(o.cause, CAUSE_ENDED);
    assert_int_equal(WEXITSTATUS(o.wait_status), 7);
}

static void test_a_program_that_is_not_there(void **state)
{
    struct fixture *f = *state;
    char *argv[] = {"/no/such/program", NULL}, log[256];
    struct launch_command command = {.argv = argv, .log = f->log, .limit_s = LIFE_S};
    struct launch launch;
    struct error e = {0};
    assert_int_equal(launch_start(&launch, &command, &e), OK);
    struct launch_outcome o = launch_finish(&launch);
    assert_int_equal(WEXITSTATUS(o.wait_status), 127);
    read_log(f, log, sizeof log);
    assert_string_equal(log, "cannot run /no/such/program: No such file or directory\n");
}

static void test_a_log_that_cannot_be_written(void **state)
{
    char *argv[] = {"true", NULL};
    struct launch_command command = {.argv = argv, .log = "/no/such/folder/log", .limit_s = 1};
    struct launch launch;
    struct error e = {0};
    assert_int_equal(launch_start(&launch, &command, &e), ERR_SYSTEM);
    assert_string_equal(e.file, "/no/such/folder/log");
}

static void test_what_a_program_leaves_behind_is_killed(void **state)
{
    struct fixture *f = *state;
    pid_t pids[2];
    struct launch_outcome o =
        run(f, "setsid sleep 300 & echo $! >> $PIDS; (sleep 300 & echo $! >> $PIDS)", LIFE_S);
    assert_int_equal(o.cause, CAUSE_ENDED);
    assert_int_equal(WEXITSTATUS(o.wait_status), 0);
    assert_int_equal(read_pids(f, pids, 2), 2);
    expect_all_dead(pids, 2);
}

static void test_the_time_limit(void **state)
{
    struct fixture *f = *state;
    pid_t pids[STUBBORN_PROCESSES];
    struct launch_outcome o = run(f, STUBBORN, 2);
    assert_int_equal(o.cause, CAUSE_LIMIT);
    assert_true(o.wall_s >= 2 && o.wall_s < LIFE_S);
    int n = read_pids(f, pids, STUBBORN_PROCESSES);
    assert_true(n > 0);
    expect_all_dead(pids, n);
}

static void test_a_stop_lets_programs_end_well(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    char log[256];
    struct launch launch =
        start(f, "trap 'echo bye; exit 0' TERM; echo $$ >> $PIDS; sleep 300 & wait", LIFE_S);
    assert_int_equal(wait_for_pids(f, &pid, 1), 1);
    launch_stop(&launch);
    struct launch_outcome o = launch_finish(&launch);
    assert_int_equal(o.cause, CAUSE_STOPPED);
    assert_true(WIFEXITED(o.wait_status));
    read_log(f, log, sizeof log);
    assert_string_equal(log, "bye\n");
}

static void test_a_stop_does_not_wait_for_the_deaf(void **state)
{
    struct fixture *f = *state;
    pid_t pids[STUBBORN_PROCESSES];
    struct launch launch = start(f, STUBBORN, LIFE_S);
    assert_int_equal(wait_for_pids(f, pids, STUBBORN_PROCESSES), STUBBORN_PROCESSES);
    launch_stop(&launch);
    launch_stop(&launch);
    struct launch_outcome o = launch_finish(&launch);
    assert_int_equal(o.cause, CAUSE_STOPPED);
    assert_true(o.wall_s < LIFE_S);
    expect_all_dead(pids, STUBBORN_PROCESSES);
}

/* mpiexec is killed. */
static void test_the_program_is_killed(void **state)
{
    struct fixture *f = *state;
    pid_t pids[STUBBORN_PROCESSES];
    struct launch launch = start(f, STUBBORN, LIFE_S);
    assert_int_equal(wait_for_pids(f, pids, STUBBORN_PROCESSES), STUBBORN_PROCESSES);
    pid_t program = pids[0]; /* the script writes its own number first */
    kill(program, SIGKILL);
    struct launch_outcome o = launch_finish(&launch);
    assert_int_equal(o.cause, CAUSE_ENDED);
    assert_int_equal(WTERMSIG(o.wait_status), SIGKILL);
    assert_true(o.wall_s < LIFE_S);
    expect_all_dead(pids, STUBBORN_PROCESSES);
}

/* The guard is killed: the program dies with it, and the runner is informed. */
static void test_the_guard_is_killed(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    struct launch launch = start(f, "echo $$ >> $PIDS; exec sleep 300", LIFE_S);
    assert_int_equal(wait_for_pids(f, &pid, 1), 1);
    int64_t begin = clock_ns();
    kill(launch.guard, SIGKILL);
    assert_int_equal(launch_finish(&launch).cause, CAUSE_GUARD_LOST);
    while (is_alive(pid))
        short_pause();
    assert_true(clock_ns() - begin < LIFE_S * INT64_C(1000000000));
}

/* The runner, here a child of this test, is killed. */
static void test_the_runner_is_killed(void **state)
{
    struct fixture *f = *state;
    pid_t pids[STUBBORN_PROCESSES + 1];
    int tell[2];
    assert_int_equal(pipe(tell), 0);
    pid_t runner = fork();
    if (runner == 0) {
        struct launch launch = start(f, STUBBORN, LIFE_S);
        if (write(tell[1], &launch.guard, sizeof launch.guard) != sizeof launch.guard)
            _exit(1);
        pause();
        _exit(0);
    }
    assert_int_equal(read(tell[0], &pids[STUBBORN_PROCESSES], sizeof(pid_t)), sizeof(pid_t));
    assert_int_equal(wait_for_pids(f, pids, STUBBORN_PROCESSES), STUBBORN_PROCESSES);
    int64_t begin = clock_ns();
    kill(runner, SIGKILL);
    assert_int_equal(waitpid(runner, NULL, 0), runner);
    for (int i = 0; i <= STUBBORN_PROCESSES; i++)
        while (is_alive(pids[i]))
            short_pause();
    double seconds = (double)(clock_ns() - begin) * 1e-9;
    print_message("# all gone after %.2f s\n", seconds);
    assert_true(seconds < LIFE_S);
    close(tell[0]);
    close(tell[1]);
}

/* Starts a launch with a cleanup command that writes to its log. */
static struct launch start_with_cleanup(struct fixture *f, const char *script, char *cleanup[5])
{
    char *argv[] = {"sh", "-c", (char *)script, NULL};
    char *environment[] = {f->pids_variable, NULL};
    char *const clean[] = {"sh", "-c", "echo cleaned >> \"$0\"", f->log, NULL};
    memcpy(cleanup, clean, sizeof clean);
    struct launch_command command = {.argv = argv,
                                     .environment = environment,
                                     .log = f->log,
                                     .limit_s = LIFE_S,
                                     .cleanup = cleanup};
    struct launch launch;
    struct error e = {0};
    assert_int_equal(launch_start(&launch, &command, &e), OK);
    return launch;
}

static void expect_log(const struct fixture *f, const char *expected)
{
    char log[256];
    read_log(f, log, sizeof log);
    assert_string_equal(log, expected);
}

static void test_cleaning_follows_what_does_not_end_in_order(void **state)
{
    struct fixture *f = *state;
    char *cleanup[5];
    pid_t pid;
    struct launch launch = start_with_cleanup(f, "echo well", cleanup);
    launch_finish(&launch);
    expect_log(f, "well\n");
    launch = start_with_cleanup(f, "echo ill; exit 3", cleanup);
    launch_finish(&launch);
    expect_log(f, "ill\ncleaned\n");
    launch = start_with_cleanup(f, "echo $$ >> $PIDS; exec sleep 300", cleanup);
    assert_int_equal(wait_for_pids(f, &pid, 1), 1);
    kill(launch.guard, SIGKILL);
    assert_int_equal(launch_finish(&launch).cause, CAUSE_GUARD_LOST);
    expect_log(f, "cleaned\n");
}

/* Runner and guard both report the exit status of a cleanup that finds no nodes left. Slow
 * cleaning prints a line. */
static void test_nodes_that_are_gone_are_told(void **state)
{
    struct fixture *f = *state;
    char *argv[] = {"sh", "-c", "exit 3", NULL};
    char *cleanup[] = {"sh", "-c", "exit $0", "4", NULL};
    struct launch_command command = {
        .argv = argv, .log = f->log, .limit_s = LIFE_S, .cleanup = cleanup};
    struct launch launch;
    struct error e = {0};
    for (int i = 0; i < 2; i++) {
        cleanup[3] = i ? "4" : "3";
        assert_int_equal(launch_start(&launch, &command, &e), OK);
        assert_false(launch_has_outcome(&launch)); /* cleaning comes first */
        assert_true(launch.cleaning_ns > 0);
        launch.cleaning_ns = clock_ns();
        launch_report_cleaning(&launch);
        assert_false(launch.cleaning_reported);
        launch.cleaning_ns -= INT64_C(60000000000);
        launch_report_cleaning(&launch);
        assert_true(launch.cleaning_reported);
        assert_int_equal(launch_finish(&launch).gone, i);
    }
}

static void test_cleaning_follows_a_runner_that_is_killed(void **state)
{
    struct fixture *f = *state;
    char *cleanup[5], log[64] = "";
    pid_t pid, runner = fork();
    if (runner == 0) {
        start_with_cleanup(f, "echo $$ >> $PIDS; exec sleep 300", cleanup);
        pause();
        _exit(0);
    }
    assert_int_equal(wait_for_pids(f, &pid, 1), 1);
    kill(runner, SIGKILL);
    assert_int_equal(waitpid(runner, NULL, 0), runner);
    int64_t begin = clock_ns();
    while (log[0] == '\0' && clock_ns() - begin < LIFE_S * INT64_C(1000000000)) {
        short_pause();
        read_log(f, log, sizeof log);
    }
    assert_string_equal(log, "cleaned\n");
    assert_false(is_alive(pid));
}

static void test_processes_below(void **state)
{
    struct fixture *f = *state;
    pid_t pid;
    assert_int_equal(processes_signal_below(getpid(), 0), 0);
    struct launch launch = start(f, "sleep 300 & echo $! >> $PIDS; wait", LIFE_S);
    assert_int_equal(wait_for_pids(f, &pid, 1), 1);
    assert_int_equal(processes_signal_below(getpid(), 0), 3); /* guard, shell, sleep */
    assert_int_equal(processes_signal_below(launch.guard, 0), 2);
    assert_int_equal(processes_signal_below(pid, 0), 0);
    launch_stop(&launch);
    launch_finish(&launch);
    assert_int_equal(processes_signal_below(getpid(), 0), 0);
}

/* hydra stays if a rank or a proxy fails before all have called back. */
static void test_a_program_that_stays(void **state)
{
    const struct fixture *f = *state;
    struct fixture other = *f;
    snprintf(other.log, sizeof other.log, "%s/other.txt", f->folder);
    struct launch with_message =
        start(f, "echo 'train_cnn: no room' >&2; sleep 300 & wait", LIFE_S);
    struct launch failed = start(&other, "(exit 7) & exec sleep 300", LIFE_S);
    struct launch_outcome a = launch_finish(&with_message), b = launch_finish(&failed);
    assert_int_equal(unlink(other.log), 0);
    assert_int_equal(a.cause, CAUSE_STAYED);
    assert_int_equal(a.child_status, 0);
    assert_true(a.wall_s >= LAUNCH_STAY_S && a.wall_s < LIFE_S);
    assert_int_equal(b.cause, CAUSE_STAYED);
    assert_int_equal(WEXITSTATUS(b.child_status), 7);
    assert_true(b.wall_s >= LAUNCH_STAY_S && b.wall_s < LIFE_S);
    assert_int_equal(processes_signal_below(getpid(), 0), 0);
}

static void test_failed_children(void **state)
{
    (void)state;
    static const int ends[] = {0, 5};
    for (size_t i = 0; i < sizeof ends / sizeof *ends; i++) {
        siginfo_t info;
        pid_t pid = fork();
        if (pid == 0)
            _exit(ends[i]);
        assert_int_equal(waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(processes_failed_child(getpid()), ends[i] << 8);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(processes_failed_child(getpid()), 0);
    }
}

/* Shared memory of a launch is removed if no process holds it. Memory that is held, older, or
 * named differently stays. */
static void expect_removed(const struct fixture *f, bool with_guard)
{
    static const char *const names[] = {"mpich_shar_tmp", "ucx_shm_posix_", "mpich_shar_tmp",
                                        "mpich_shar_tmp", "else"};
    enum { FILES = sizeof names / sizeof *names, HELD = 2, OLD = 3 };
    char paths[FILES][64], script[512] = "";
    for (int i = 0; i < FILES; i++) {
        snprintf(paths[i], sizeof paths[i], "/dev/shm/%s%d.%ld", names[i], i, (long)getpid());
        if (i == OLD)
            fclose(fopen(paths[i], "w"));
        else
            sprintf(script + strlen(script), "echo > %s;", paths[i]);
    }
    short_pause(); /* lets the file system's clock advance, which may lag */
    strcat(script, "echo $$ >> $PIDS; exec sleep 300");
    struct launch launch = start(f, script, LIFE_S);
    pid_t pid;
    assert_int_equal(wait_for_pids(f, &pid, 1), 1);
    FILE *held = fopen(paths[HELD], "r");
    assert_non_null(held);
    kill(with_guard ? launch.guard : pid, SIGKILL);
    launch_finish(&launch);
    for (int i = 0; i < FILES; i++) {
        assert_int_equal(access(paths[i], F_OK), i < HELD ? -1 : 0);
        unlink(paths[i]);
    }
    fclose(held);
    unlink(f->pids);
}

static void test_shared_memory_that_is_left(void **state)
{
    expect_removed(*state, false);
    expect_removed(*state, true);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(test_an_ordinary_end),
        TEST(test_the_input_of_our_programs_never_ends),
        TEST(test_wall_time_is_the_programs),
        TEST(test_processor_time_is_of_all_processes),
        TEST(test_an_end_by_signal),
        TEST(test_ranks_that_do_not_start),
        TEST(test_ranks_that_start_late),
        TEST(test_a_program_that_is_not_there),
        TEST(test_a_log_that_cannot_be_written),
        TEST(test_what_a_program_leaves_behind_is_killed),
        TEST(test_the_time_limit),
        TEST(test_a_stop_lets_programs_end_well),
        TEST(test_a_stop_does_not_wait_for_the_deaf),
        TEST(test_the_program_is_killed),
        TEST(test_the_guard_is_killed),
        TEST(test_the_runner_is_killed),
        TEST(test_cleaning_follows_what_does_not_end_in_order),
        TEST(test_nodes_that_are_gone_are_told),
        TEST(test_cleaning_follows_a_runner_that_is_killed),
        TEST(test_processes_below),
        TEST(test_shared_memory_that_is_left),
        TEST(test_failed_children),
        TEST(test_a_program_that_stays),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
