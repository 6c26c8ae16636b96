/* Tests which line of a log explains a failure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "bench/launch/log_tail.h"
#include "bench/runner/attempt.h"

static int make_log(void **state)
{
    static char path[64];
    strcpy(path, "/tmp/test_log_tail.XXXXXX");
    int fd = mkstemp(path);
    *state = path;
    return fd < 0 ? -1 : close(fd);
}

static int remove_log(void **state)
{
    return unlink(*state);
}

static void write_log(const char *path, const char *mode, const char *text)
{
    FILE *file = fopen(path, mode);
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void test_last_words_of_a_log_that_grows(void **state)
{
    const char *log = *state;
    struct log_reader r = {.path = log};
    assert_false(log_has_last_word(&r));
    write_log(log, "a",
              "epoch 1\ntrain_cnn: warning: x is old\ncommand: not found\nRuntimeError: caught\n");
    assert_false(log_has_last_word(&r));
    write_log(log, "a", "rank 1: start of MPI lasted longer ");
    assert_false(log_has_last_word(&r));
    write_log(log, "a", "than 5 s\n");
    assert_true(log_has_last_word(&r));
    assert_false(log_has_last_word(&r));
    for (int i = 0; i < 20000; i++)
        write_log(log, "a", i == 0 ? "peer_torch: no gloo\n" : "epoch\n");
    assert_false(log_has_last_word(&r)); /* further back than one look reads */
    write_log(log, "a", "pin: no rank\n");
    assert_true(log_has_last_word(&r));
}

static void expect_tail(const char *path, const char *log, const char *expected)
{
    char text[256];
    write_log(path, "w", log);
    log_tail(path, text, sizeof text);
    assert_string_equal(text, expected);
}

#define BANNER(said)                                                                               \
    "\n=====================================\n"                                                    \
    "=   BAD TERMINATION OF ONE OF YOUR APPLICATION PROCESSES\n=   EXIT CODE: 9\n"                 \
    "=   CLEANING UP REMAINING PROCESSES\n=====================================\n"                 \
    "YOUR APPLICATION TERMINATED WITH THE EXIT STRING: " said "\n"                                 \
    "This typically refers to a problem with your application.\n"                                  \
    "Please see the FAQ page for debugging suggestions\n"
#define DEAD "train_cnn: rank 1 (process 5 on vm) was killed or has crashed\n"
#define ABORT(rank)                                                                                \
    "Abort(1) on node " rank " (rank " rank                                                        \
    " in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) - process " rank "\n"
#define NO_START                                                                                   \
    "Abort(339332879) on node 1 (rank 1 in comm 0): Fatal error in internal_Init_thread: Other "   \
    "MPI error, error stack:\ninternal_Init_thread(60)......: MPI_Init_thread(argc=0x7) failed\n"  \
    "MPII_Init_thread(232).........: \n"                                                           \
    "init_worker(71)...............:  ucx function returned with failed status(Out of memory)\n"
#define FRAME    "--------------------------------------------------------------------------\n"
#define UCX_FIFO "[17.25] [vm:5:0]  mm_iface.c:758  UCX  ERROR mm_iface failed to allocate FIFO\n"
#define UCX_ROOM                                                                                   \
    "[17.25] [vm:5:0]  mm_posix.c:187  UCX  ERROR   Not enough memory to write total of 4292720 "  \
    "bytes. Please check that /dev/shm or the directory you specified has more available memory."

/* Logs, each with the line that explains it. */
static const char *const LOGS[][2] = {
    {"train_cnn: net 'vgg': no memory for 3444 MiB\n" ABORT("0") ABORT("1"),
     "train_cnn: net 'vgg': no memory for 3444 MiB"},
    {"train_cnn: warning: x is old\ntrain_cnn: detail: rank 0\nepoch 1\nrank 0: wait 7 (barrier) "
     "lasted "
     "longer than 5 s; not arrived yet: rank 1\n" ABORT("1"),
     "rank 0: wait 7 (barrier) lasted longer than 5 s; not arrived yet: rank 1"},
    {"epoch 1\n" DEAD "train_cnn: allreduce: connection reset\n" ABORT("0"),
     "train_cnn: rank 1 (process 5 on vm) was killed or has crashed"},
    {"epoch 1\n" DEAD
     "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some are gone.\n",
     "slurmstepd: error: Detected 1 oom_kill event in StepId=7.0. Some are gone."},
    {"train_cnn: warning: starting MPI wants 8 MiB, /dev/shm has 1\n" UCX_FIFO NO_START,
     "train_cnn: warning: starting MPI wants 8 MiB, /dev/shm has 1"},
    {UCX_FIFO UCX_ROOM "\n" NO_START, UCX_ROOM},
    {UCX_FIFO NO_START,
     "[17.25] [vm:5:0]  mm_iface.c:758  UCX  ERROR mm_iface failed to allocate FIFO"},
    {NO_START,
     "init_worker(71)...............:  ucx function returned with failed status(Out of memory)"},
    {ABORT("0"),
     "Abort(1) on node 0 (rank 0 in comm 0): application called MPI_Abort(MPI_COMM_WORLD, 1) "
     "- process 0"},
    {"=====\n==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6\n    #0 0x5 in "
     "main\n"
     "=====\nSUMMARY: AddressSanitizer: heap-buffer-overflow x.c:5\n==7==ABORTING\n" DEAD,
     "==7==ERROR: AddressSanitizer: heap-buffer-overflow on address 0x6"},
    {"x.c:5:3: runtime error: signed integer overflow\nepoch 1\n",
     "x.c:5:3: runtime error: signed integer overflow"},
    {"epoch 1\nfree(): invalid pointer\n" DEAD, "free(): invalid pointer"},
    {"train_cnn: x.c:5: f: Assertion `n > 0' failed.\n" DEAD,
     "train_cnn: x.c:5: f: Assertion `n > 0' failed."},
    {"Traceback (most recent call last):\n  File \"x.py\", line 5, in f\n    f(1)\n"
     "RuntimeError: can't allocate memory: you tried to allocate 5 bytes.\n" ABORT("1") "more\n",
     "RuntimeError: can't allocate memory: you tried to allocate 5 bytes."},
    {"Traceback (most recent call last):\n    f(1)\nMemoryError\nmore\n", "MemoryError"},
    {"peer_torch: this PyTorch has no gloo\nmore\n", "peer_torch: this PyTorch has no gloo"},
    {"ssh: connect to host n1 port 22: No route to host\n[mpiexec@vm] main (mpiexec.c:325): "
     "error\n",
     "ssh: connect to host n1 port 22: No route to host"},
    {"[proxy:0:0@vm] create_process (launch.c:73): execvp error on file x (No such file)\nmore\n",
     "[proxy:0:0@vm] create_process (launch.c:73): execvp error on file x (No such file)"},
    {"[mpiexec@vm] HYDU_create_process (launch.c:21): pipe error (Too many open files)\n"
     "[mpiexec@vm] main (mpiexec.c:325): process manager error waiting for completion\n",
     "[mpiexec@vm] HYDU_create_process (launch.c:21): pipe error (Too many open files)"},
    {"./pi: out.dat: No space left on device\nrank 0 leaves\n",
     "./pi: out.dat: No space left on device"},
    {FRAME "mpirun has detected an attempt to run as root.\n\nRunning as root is *strongly* "
           "discouraged.\n" FRAME,
     "mpirun has detected an attempt to run as root."},
};

static void test_the_line_that_explains(void **state)
{
    for (size_t i = 0; i < sizeof LOGS / sizeof *LOGS; i++)
        expect_tail(*state, LOGS[i][0], LOGS[i][1]);
}

static void test_last_words(void **state)
{
    const char *path = *state;
    expect_tail(path, "", "");
    expect_tail(path, "one line", "one line");
    expect_tail(path, "first\nlast one\n\n", "last one");
    expect_tail(path, "rank 1 speaks\n" BANNER("Killed (signal 9)"),
                "Killed (signal 9); rank 1 speaks");
    expect_tail(path, BANNER("Hangup (signal 1)"), "Hangup (signal 1)");
    expect_tail(path, "epoch 1\n" DEAD "==== backtrace of rank 0\n" BANNER("Killed (signal 9)"),
                "Killed (signal 9); train_cnn: rank 1 (process 5 on vm) was killed or has crashed");
    char text[256];
    log_tail("/no/such/log", text, sizeof text);
    assert_string_equal(text, "");
}

static void test_the_out_of_memory_killer(void **state)
{
    const char *path = *state;
    char text[512];
    struct launch_outcome o = {.wait_status = 9 << 8};
    write_log(path, "w", DEAD);
    attempt_reason(text, sizeof text, NULL, &o, path);
    assert_string_equal(
        text, "exit status 9: train_cnn: rank 1 (process 5 on vm) was killed or has crashed");
    o.oom_kills = 1;
    attempt_reason(text, sizeof text, NULL, &o, path);
    assert_string_equal(
        text,
        "killed by the out-of-memory killer; use fewer ranks, or allow more memory: exit status 9: "
        "train_cnn: rank 1 (process 5 on vm) was killed or has crashed");
    o = (struct launch_outcome){.cause = CAUSE_STAYED, .oom_kills = 1};
    attempt_reason(text, sizeof text, NULL, &o, path);
    assert_string_equal(
        text, "killed by the out-of-memory killer; use fewer ranks, or allow more memory: "
              "train_cnn: rank 1 "
              "(process 5 on vm) was killed or has crashed; the launcher did not end within 10 s");
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_log, remove_log)
    const struct CMUnitTest tests[] = {
        TEST(test_last_words),
        TEST(test_last_words_of_a_log_that_grows),
        TEST(test_the_line_that_explains),
        TEST(test_the_out_of_memory_killer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
