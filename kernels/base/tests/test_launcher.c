/* Data from the launcher's environment: the rank, and whether MPI has as many ranks as the launcher
 * started. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kernels/base/launcher.h"

/* Environment of a launcher, and the expected result for MPI with `ranks` ranks. */
struct launch_case {
    const char *variables[8]; /* "NAME=value" */
    int ranks, rank;
    const char *text; /* NULL: accepted; else part of the error, "" for an error without text */
};

#define SIDE_BY_SIDE "2, but MPI has 1 rank: the processes would run as separate jobs; "

static const struct launch_case CASES[] = {
    {{NULL}, 1, -1, NULL},
    /* srun without an MPI plugin: only rank 0 has a text */
    {{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2"},
     1,
     0,
     "SLURM_STEP_NUM_TASKS=" SIDE_BY_SIDE
     "type: srun --mpi=pmi2 -n 2 build/x ..., or: mpiexec -n 2 build/x ..."},
    {{"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2"}, 1, 1, ""},
    /* srun with an MPI plugin, with or without PMI variables */
    {{"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2", "PMI_RANK=1", "PMI_SIZE=2"}, 2, 1, NULL},
    {{"SLURM_PROCID=1", "SLURM_STEP_NUM_TASKS=2"}, 2, 1, NULL},
    /* a script of sbatch -n8, alone or with mpiexec on its node */
    {{"SLURM_PROCID=0", "SLURM_NTASKS=8", "SLURM_TASKS_PER_NODE=8"}, 1, 0, NULL},
    {{"SLURM_PROCID=0", "SLURM_NTASKS=8", "PMI_RANK=3", "PMI_SIZE=4"}, 4, 3, NULL},
    /* Hydra's proxies on two nodes, started by srun, with one rank each */
    {{"SLURM_PROCID=0", "SLURM_STEP_NUM_TASKS=2", "PMI_RANK=0", "PMI_SIZE=1"}, 1, 0, NULL},
    /* mpiexec of another MPI library */
    {{"PMI_RANK=0", "PMI_SIZE=2"},
     1,
     0,
     "PMI_SIZE=" SIDE_BY_SIDE "use the mpiexec of the program's MPI "
     "(MPIEXEC=mpiexec.mpich, mpiexec.openmpi, ...): mpiexec -n 2 build/x ..."},
    {{"PMI_RANK=1", "PMI_SIZE=2"}, 1, 1, ""},
    {{"OMPI_COMM_WORLD_RANK=0", "OMPI_COMM_WORLD_SIZE=2", "SLURM_PROCID=0"},
     1,
     0,
     "OMPI_COMM_WORLD_SIZE=" SIDE_BY_SIDE},
    {{"OMPI_COMM_WORLD_RANK=1", "OMPI_COMM_WORLD_SIZE=2", "SLURM_PROCID=0"}, 1, 1, ""},
};

/* Keeps the variables of cmocka. */
static void clear_environment(void)
{
    const char *output = getenv("CMOCKA_MESSAGE_OUTPUT");
    char *kept = output != NULL ? strdup(output) : NULL;
    clearenv();
    if (kept != NULL)
        setenv("CMOCKA_MESSAGE_OUTPUT", kept, 1);
    free(kept);
}

static void launchers_are_recognised(void **state)
{
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        const struct launch_case *c = &CASES[i];
        struct error e = {0};
        clear_environment();
        for (int v = 0; c->variables[v] != NULL; v++)
            putenv((char *)c->variables[v]);
        assert_int_equal(launcher_rank(), c->rank);
        enum status status = launcher_check(c->ranks, "build/x", &e);
        assert_int_equal(status, c->text == NULL ? OK : ERR_ARGUMENT);
        if (c->text != NULL && *c->text != '\0')
            assert_ptr_equal(strstr(e.text, c->text), e.text);
        else
            assert_string_equal(e.text, "");
    }
}

/* Without a launcher, a process may always leave. */
static void leaving_needs_pmi_1_or_no_launcher(void **state)
{
    clear_environment();
    assert_true(launcher_hears_leaving());
    setenv("SLURM_PROCID", "0", 1); /* srun --mpi=pmix */
    assert_false(launcher_hears_leaving());
    setenv("PMI_FD", "7", 1); /* srun --mpi=pmi2, or hydra */
    assert_true(launcher_hears_leaving());
    clear_environment();
    setenv("OMPI_COMM_WORLD_RANK", "0", 1);
    assert_false(launcher_hears_leaving());
    clear_environment();
}

/* A rank that fails together with all others also announces its end. */
static void leaving_is_announced(void **state)
{
    int ends[2], status;
    char text[64] = "";
    assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        snprintf(text, sizeof text, "%d", ends[1]);
        setenv("PMI_FD", text, 1);
        launcher_leave(2);
    }
    close(ends[1]);
    assert_int_equal(read(ends[0], text, sizeof text - 1), strlen("cmd=finalize\n"));
    assert_string_equal(text, "cmd=finalize\n");
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0); /* still waiting for an answer */
    assert_int_equal(write(ends[0], "cmd=finalize_ack\n", 17), 17);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 2);
    close(ends[0]);
}

/* Output is still available to a slow reader. */
static void an_end_waits_for_readers_of_output(void **state)
{
    const struct timespec moment = {.tv_nsec = 100000000};
    static const char reason[] = "why\n";
    int ends[2], status;
    char text[64] = "";
    assert_int_equal(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) {
        dup2(ends[1], STDOUT_FILENO);
        dup2(ends[1], STDERR_FILENO);
        fputs(reason, stderr);
        launcher_await_reading();
        _exit(0);
    }
    close(ends[1]);
    nanosleep(&moment, NULL);
    assert_int_equal(waitpid(pid, &status, WNOHANG), 0);
    assert_int_equal(read(ends[0], text, sizeof text - 1), strlen(reason));
    assert_string_equal(text, reason);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    close(ends[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(launchers_are_recognised),
                                       cmocka_unit_test(leaving_needs_pmi_1_or_no_launcher),
                                       cmocka_unit_test(leaving_is_announced),
                                       cmocka_unit_test(an_end_waits_for_readers_of_output)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
