#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kernels/base/clock.h"
#include "kernels/base/error.h"
#include "kernels/base/isa.h"
#include "kernels/base/mem.h"
#include "kernels/base/pool.h"

/* ---- Errors ---- */

static void assert_prints(const struct error *e, const char *expected)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_non_null(out);
    error_print(out, e);
    fclose(out);
    assert_string_equal(text, expected);
    free(text);
}

static void errors_carry_status_place_and_text(void **state)
{
    struct error e;
    assert_int_equal(error_set(&e, ERR_SHAPE, "%d rows", 3), ERR_SHAPE);
    assert_int_equal(e.status, ERR_SHAPE);
    assert_prints(&e, "3 rows\n");
    assert_int_equal(error_at(&e, ERR_SPEC, "fig3.yaml", 14, 13, "'%s' is unknown", "rign"),
                     ERR_SPEC);
    assert_prints(&e, "fig3.yaml:14:13: 'rign' is unknown\n");
    error_at(&e, ERR_DATA, "labels.gz", 0, 0, "truncated");
    assert_prints(&e, "labels.gz: truncated\n");
    error_at(&e, ERR_SPEC, "net.yaml", 7, 0, "no layers");
    assert_prints(&e, "net.yaml:7: no layers\n");
    assert_int_equal(error_set(NULL, ERR_MPI, "nobody listens"), ERR_MPI);
}

static void errors_can_be_wrapped_and_are_cut_to_fit(void **state)
{
    struct error e;
    error_at(&e, ERR_SPEC, "a.yaml", 1, 2, "inner");
    error_at(&e, ERR_SPEC, e.file, e.line, e.column, "outer: %s", e.text);
    assert_prints(&e, "a.yaml:1:2: outer: inner\n");
    char text[3000];
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    error_set(&e, ERR_SPEC, "%s", text);
    assert_int_equal(strlen(e.text), sizeof e.text - 1);
}

static void exit_statuses_follow_the_manual(void **state)
{
    static const struct {
        enum status status;
        int code;
    } rows[] = {
        {ERR_ARGUMENT, 2},    {ERR_SPEC, 2},          {ERR_DATA, 2}, {ERR_SHAPE, 2},
        {ERR_MEMORY, 1},      {ERR_SYSTEM, 1},        {ERR_MPI, 1},  {ERR_TIMEOUT, 1},
        {ERR_UNAVAILABLE, 3}, {ERR_INTERRUPTED, 130},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct error e = {.status = rows[i].status};
        assert_int_equal(error_exit_status(&e), rows[i].code);
    }
}

/* ---- Memory and time ---- */

static void memory_is_aligned_and_zero(void **state)
{
    const size_t sizes[] = {0, 1, 63, 64, 1000, (size_t)2 << 20, ((size_t)5 << 20) + 3};
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        unsigned char *m = mem_alloc(sizes[i]);
        assert_non_null(m);
        assert_int_equal((uintptr_t)m % MEM_ALIGNMENT, 0);
        size_t other = 0;
        for (size_t b = 0; b < sizes[i]; b++)
            other += m[b] != 0;
        assert_int_equal(other, 0);
        memset(m, 0xff, sizes[i]); /* mem_alloc may return these bytes again */
        mem_free(m);
    }
    mem_free(NULL);
}

/* Sanitizers end a program that requests this much memory. */
#ifndef SCALEBENCH_SANITIZE
static void too_much_memory_is_null(void **state)
{
    assert_null(mem_alloc(SIZE_MAX / 2));
}
#endif

static void memory_is_present_before_it_is_used(void **state)
{
    size_t bytes = (size_t)8 << 20, page = (size_t)sysconf(_SC_PAGESIZE);
    unsigned char *m = mem_alloc(bytes), present[(8u << 20) / 4096];
    assert_non_null(m);
    assert_true(page >= 4096);
    assert_int_equal(mincore(m, bytes, present), 0);
    for (size_t i = 0; i < bytes / page; i++)
        assert_true(present[i] & 1);
    assert_true(mem_peak_mib() > 8);
    mem_free(m);
}

static void memory_of_this_process_is_counted(void **state)
{
    enum { PAGES = 600, TOUCHED = 37 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    double page_mib = (double)page / 0x1p20;
    unsigned char *m = mmap(NULL, PAGES * page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(m, MAP_FAILED);
    assert_int_equal(madvise(m, PAGES * page, MADV_NOHUGEPAGE), 0);
    for (size_t i = 0; i < TOUCHED; i++)
        m[(PAGES - 1 - 16 * i) * page] = 1;
    assert_true(mem_resident_mib(m, PAGES * page) == TOUCHED * page_mib);
    assert_true(mem_resident_mib(m + PAGES * page - 1, 1) == page_mib);
    assert_true(mem_resident_mib(m, 1) == 0);
    assert_true(mem_resident_mib(m, 0) == 0);
    double now = mem_now_mib();
    assert_true(now > TOUCHED * page_mib && now <= mem_peak_mib() + 1);
    munmap(m, PAGES * page);
}

/* Memory beside the block is unchanged. Partial pages are zeroed; whole pages are returned and
 * absent until touched. */
static void memory_is_returned_to_the_system(void **state)
{
    enum { PAGES = 600, FIRST = 100, REST = 7 };
    size_t page = (size_t)sysconf(_SC_PAGESIZE), bytes = PAGES * page;
    unsigned char *m =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(m, MAP_FAILED);
    assert_int_equal(madvise(m, bytes, MADV_NOHUGEPAGE), 0);
    memset(m, 1, bytes);
    mem_give_back(m + FIRST, bytes - FIRST - REST);
    assert_true(mem_resident_mib(m, bytes) == 2.0 * (double)page / 0x1p20);
    for (size_t i = 0; i < bytes; i++)
        assert_int_equal(m[i], i < FIRST || i >= bytes - REST);
    memset(m, 1, page);
    mem_give_back(m + 1, 2);
    mem_give_back(m + 5, 0);
    assert_true(m[0] == 1 && m[1] == 0 && m[2] == 0 && m[3] == 1 && m[5] == 1);
    munmap(m, bytes);
}

static void clock_moves_forward(void **state)
{
    int64_t before = clock_ns(), resolution = 0, overhead = -1;
    clock_calibrate(&resolution, &overhead);
    assert_true(clock_ns() > before);
    assert_true(resolution > 0 && resolution < 1000000000);
    assert_true(overhead >= 0 && overhead < 1000000000);
}

/* ---- Threads ---- */

enum { ITEMS = 1003, THREADS_MAX = 5 };

struct sums {
    int visits[ITEMS];
    double partial[THREADS_MAX];
};

static void sum_share(void *arg, int thread, int threads)
{
    struct sums *s = arg;
    size_t begin, end;
    pool_share(ITEMS, (size_t)thread, (size_t)threads, &begin, &end);
    double sum = 0;
    for (size_t i = begin; i < end; i++) {
        s->visits[i]++;
        sum += 1.0 / (double)(i + 1);
    }
    s->partial[thread] = sum;
}

static void pool_visits_every_item_once_a_call(void **state)
{
    for (int threads = 1; threads <= THREADS_MAX; threads++) {
        struct pool *pool = NULL;
        struct error e;
        assert_int_equal(pool_create(&pool, threads, NULL, NULL, &e), OK);
        assert_int_equal(pool_threads(pool), threads);
        struct sums s = {.visits = {0}};
        enum { CALLS = 500 };
        for (int call = 0; call < CALLS; call++) {
            pool_run(pool, sum_share, &s);
            if (call % 100 == 0)
                usleep(1000); /* long enough for the workers to sleep */
        }
        for (int i = 0; i < ITEMS; i++)
            assert_int_equal(s.visits[i], CALLS);
        pool_destroy(pool);
    }
}

/* Each thread's result depends on its number only, so two pools agree in every bit. */
static void pool_results_do_not_depend_on_timing(void **state)
{
    struct sums first = {.visits = {0}}, second = {.visits = {0}};
    struct sums *both[] = {&first, &second};
    for (int i = 0; i < 2; i++) {
        struct pool *pool = NULL;
        assert_int_equal(pool_create(&pool, 3, NULL, NULL, NULL), OK);
        pool_run(pool, sum_share, both[i]);
        pool_destroy(pool);
    }
    assert_true(first.partial[2] > 0);
    assert_memory_equal(&first, &second, sizeof first);
}

static void no_pool_is_one_thread(void **state)
{
    struct sums s = {.visits = {0}};
    pool_run(NULL, sum_share, &s);
    assert_int_equal(pool_threads(NULL), 1);
    assert_int_equal(s.visits[0] + s.visits[ITEMS - 1], 2);
    pool_destroy(NULL);
}

static atomic_int starts;

static void count_start(void)
{
    atomic_fetch_add(&starts, 1);
}

struct facts {
    int cpus[THREADS_MAX], cpu[THREADS_MAX];
    int masked[THREADS_MAX];
};

static void note_facts(void *arg, int thread, int threads)
{
    struct facts *f = arg;
    cpu_set_t set;
    sigset_t mask;
    sched_getaffinity(0, sizeof set, &set);
    pthread_sigmask(SIG_SETMASK, NULL, &mask);
    f->cpus[thread] = CPU_COUNT(&set);
    f->cpu[thread] = sched_getcpu();
    f->masked[thread] = sigismember(&mask, SIGINT);
}

static int last_allowed_cpu(void)
{
    cpu_set_t set;
    sched_getaffinity(0, sizeof set, &set);
    for (int cpu = CPU_SETSIZE - 1; cpu >= 0; cpu--)
        if (CPU_ISSET(cpu, &set))
            return cpu;
    return -1;
}

static void workers_are_bound_and_block_signals(void **state)
{
    int cpu = last_allowed_cpu();
    const int cpus[] = {cpu, cpu, cpu};
    struct facts f;
    struct pool *pool = NULL;
    cpu_set_t before, after;
    sched_getaffinity(0, sizeof before, &before);
    atomic_store(&starts, 0);
    assert_int_equal(pool_create(&pool, 3, cpus, count_start, NULL), OK);
    pool_run(pool, note_facts, &f);
    assert_int_equal(atomic_load(&starts), 2);
    for (int t = 1; t < 3; t++) {
        assert_int_equal(f.cpus[t], 1);
        assert_int_equal(f.cpu[t], cpu);
        assert_int_equal(f.masked[t], 1);
    }
    assert_int_equal(f.masked[0], 0);
    sched_getaffinity(0, sizeof after, &after);
    assert_true(CPU_EQUAL(&before, &after));
    pool_destroy(pool);
}

static void impossible_pools_are_refused(void **state)
{
    struct pool *pool = NULL;
    struct error e;
    const int negative[] = {0, -3}, absent[] = {0, 0, 100000};
    assert_int_equal(pool_create(&pool, 0, NULL, NULL, &e), ERR_ARGUMENT);
    assert_string_equal(e.text, "expected 1 or more threads, found 0");
    assert_int_equal(pool_create(&pool, 2, negative, NULL, &e), ERR_ARGUMENT);
    assert_string_equal(e.text, "expected a CPU number of 0 or more for thread 1, found -3");
    assert_int_equal(pool_create(&pool, 3, absent, NULL, &e), ERR_SYSTEM);
    assert_non_null(strstr(e.text, "CPU"));
    assert_null(pool);
}

static void shares_differ_by_one_larger_first(void **state)
{
    const size_t expected[][2] = {{0, 86}, {86, 171}, {171, 256}};
    for (size_t part = 0; part < 3; part++) {
        size_t begin, end;
        pool_share(256, part, 3, &begin, &end);
        assert_int_equal(begin, expected[part][0]);
        assert_int_equal(end, expected[part][1]);
    }
    size_t begin, end;
    pool_share(1, 1, 2, &begin, &end);
    assert_true(begin == 1 && end == 1);
}

static void instruction_set_can_be_lowered_by_name(void **state)
{
    struct error e = {0};
    enum isa isa = ISA_PORTABLE;
    for (int bf16 = 0; bf16 < 2; bf16++) {
        int most = (int)(bf16 ? isa_best_bf16() : isa_best());
        unsetenv("SCALEBENCH_ISA");
        assert_int_equal(isa_choose(&isa, bf16, &e), OK);
        assert_int_equal(isa, most);
        for (int named = 0; named < ISAS; named++) {
            setenv("SCALEBENCH_ISA", isa_names()[named], 1);
            bool here = named <= (int)isa_best_bf16();
            assert_int_equal(isa_choose(&isa, bf16, &e), here ? OK : ERR_ARGUMENT);
            if (here)
                assert_int_equal(isa, named < most ? named : most);
            else
                assert_non_null(strstr(e.text, isa_names()[named]));
        }
    }
    setenv("SCALEBENCH_ISA", "avx9", 1);
    assert_int_equal(isa_choose(&isa, false, &e), ERR_ARGUMENT);
    assert_non_null(strstr(e.text, "SCALEBENCH_ISA: 'avx9' is unknown"));
    unsetenv("SCALEBENCH_ISA");
}

/* The lower of both limits counts. A set of another architecture is not supported by this
 * processor. */
static void instruction_set_is_limited_by_name(void **state)
{
    struct error e = {0};
    enum isa isa = ISA_PORTABLE;
    unsetenv("SCALEBENCH_ISA");
    for (int named = 0; named < ISAS; named++) {
        bool here = named <= (int)isa_best_bf16();
        assert_int_equal(isa_limit(isa_names()[named], &e), here ? OK : ERR_UNAVAILABLE);
        assert_int_equal(isa_choose(&isa, true, &e), OK);
        assert_int_equal(isa, here ? named : (int)isa_best_bf16());
    }
    setenv("SCALEBENCH_ISA", isa_names()[ISA_PORTABLE], 1);
    assert_int_equal(isa_limit("auto", &e), OK);
    assert_int_equal(isa_choose(&isa, false, &e), OK);
    assert_int_equal(isa, ISA_PORTABLE);
    unsetenv("SCALEBENCH_ISA");
    assert_int_equal(isa_limit(isa_names()[ISA_PORTABLE], &e), OK);
    assert_int_equal(isa_choose(&isa, false, &e), OK);
    assert_int_equal(isa, ISA_PORTABLE);
    assert_int_equal(isa_limit("of_another_machine", &e), ERR_UNAVAILABLE);
    assert_non_null(strstr(
        e.text,
        "instruction set of_another_machine is not supported by this processor; use at most "));
    assert_int_equal(isa_limit("auto", &e), OK);
    assert_int_equal(isa_choose(&isa, false, &e), OK);
    assert_int_equal(isa, isa_best());
}

static void only_bf16_sets_round_operands(void **state)
{
    int exact = ISA_PORTABLE;
    for (int isa = 0; isa < ISAS; isa++) {
        if (strstr(isa_names()[isa], "bf16") == NULL)
            exact = isa;
        assert_int_equal(isa_exact((enum isa)isa), exact);
    }
    assert_int_equal(isa_exact(isa_best_bf16()), isa_best());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instruction_set_can_be_lowered_by_name),
        cmocka_unit_test(instruction_set_is_limited_by_name),
        cmocka_unit_test(only_bf16_sets_round_operands),
        cmocka_unit_test(errors_carry_status_place_and_text),
        cmocka_unit_test(errors_can_be_wrapped_and_are_cut_to_fit),
        cmocka_unit_test(exit_statuses_follow_the_manual),
        cmocka_unit_test(memory_is_aligned_and_zero),
#ifndef SCALEBENCH_SANITIZE
        cmocka_unit_test(too_much_memory_is_null),
#endif
        cmocka_unit_test(memory_is_present_before_it_is_used),
        cmocka_unit_test(memory_of_this_process_is_counted),
        cmocka_unit_test(memory_is_returned_to_the_system),
        cmocka_unit_test(clock_moves_forward),
        cmocka_unit_test(pool_visits_every_item_once_a_call),
        cmocka_unit_test(pool_results_do_not_depend_on_timing),
        cmocka_unit_test(no_pool_is_one_thread),
        cmocka_unit_test(workers_are_bound_and_block_signals),
        cmocka_unit_test(impossible_pools_are_refused),
        cmocka_unit_test(shares_differ_by_one_larger_first),
    };
    return cmocka_run_group_tests_name("base", tests, NULL, NULL);
}
