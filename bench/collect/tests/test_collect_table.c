/* Tests of the table, on a terminal and in documents. */
#include "bench/base/votes.h"
#include "bench/collect/losses.h"
#include "bench/collect/tests/collected.h"

/* ---- Table ---- */

/* Work and memory appear in the table on a terminal and in documents. */
static void work_done_and_memory_are_told(void **state)
{
    struct fake_run run;
    fake_open(&run, peer_spec);
    for (int block = 0; block < 6; block++) {
        add_peer_launch(&run, "train_cnn", block, base_ms[block]);
        add_peer_launch(&run, "peer_torch", block, base_ms[block] * ratios[block]);
    }
    struct summary s = collect(&run);
    static const char done[] = " ms per step, 3.75 GFLOP/s effective, 1.12 done "
                               "(saved: winograd dead_outputs).\n";
    static const char memory[] =
        "Memory without libraries: 30.0 MiB, the peer 60.0 (ratio 0.50); of "
        "whole processes without the data: 50.0 MiB, the peer 80.0 (ratio "
        "0.62).\n";
    char *text = print(&s);
    assert_line(text, done);
    assert_line(text, memory);
    assert_line(text, " ms per step; median of 6 pairs.\n");
    assert_line(text, "  1.74 = 3.33 (less arithmetic) x 0.522 (faster arithmetic).\n");
    free(text);
    write_both(&s, &run);
    text = read_of(&run, "summary.md");
    assert_line(text, "effective, 1.12 done (saved: winograd dead\\_outputs).\n");
    assert_line(text, memory);
    free(text);
    text = read_of(&run, "summary.tex");
    assert_line(text, "\\end{tabular}\n\n\\noindent Base: ");
    assert_line(text, memory);
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* 16 of 64 images at a time are not 16 in four micro-batches. */
static void the_batch_is_what_is_computed_at_a_time(void **state)
{
    static const char *const said[][2] = {
        {"batch_per_rank: 16", ", batch per rank 16 | "},
        {"batch_per_rank: 16, accumulate: 4", ", 4 micro-batches of 16 images per rank | "},
        {"global_batch: 64", ", global batch 64 | "},
        {"global_batch: 64, accumulate: 4", ", global batch 64 in 4 micro-batches | "}};
    for (size_t i = 0; i < sizeof said / sizeof *said; i++) {
        struct fake_run run;
        char spec[256];
        snprintf(spec, sizeof spec, "name: a\nmodel: lenet_21k\ntrain: {%s}\nranks: 2\n",
                 said[i][0]);
        fake_open(&run, spec);
        struct summary s = collect(&run);
        char *text = print(&s);
        assert_line(text, said[i][1]);
        free(text);
        summary_free(&s);
        fake_close(&run);
    }
}

static void the_table_says_it_all(void **state)
{
    struct fake_run run;
    fill_troubled_run(&run);
    add_accuracy(&run, 2, "allreduce", 1, 97.42);
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_line(text, "synthetic  strong scaling | lenet_21k 21,840 params | mnist real | adam, "
                      "global batch 256 | none, allreduce | measured, local\n"
                      "node23 | MPICH 4.0.2 | BLIS 0.9.0 skx | 1a2b3c4 clean\n");
    assert_line(text, "102.5 [100.0, 105.0]      2498                base  100 %     96 %   0 %"
                      "   0 %         -  (2 of 2 seeds missing)\n");
    assert_line(text, "1.74 [1.50, 2.00]   87 %     75 %  18 %   2 %    97.4 %"
                      "  (precision not met)  (1 of 2 seeds missing)\n");
    assert_line(text, "8  allreduce         -         -  skipped: 8 ranks, 4 cores\n");
    assert_line(text, "4  allreduce         -         -  failed: said 'no, never', then left\n");
    assert_line(text, "Base: 1 rank, no communication: 102.5 [100.0, 105.0] ms per step, 7.49 "
                      "GFLOP/s effective.\n");
    assert_line(text, "Speed-ups are medians of 6 ratios, one per block; ratios of the medians "
                      "differ by up to 0.94 %.\n");
    assert_line(text, "Weights are equal on all ranks after every step.\n");
    assert_line(text, "Efficiency lost at 2 ranks (allreduce): 13.0 % = 18.0 communication + 2.0 "
                      "waiting (rank 1 arrived last in 100 % of steps) - 7.7 faster compute - 0.9 "
                      "faster optimizer + 1.5 other. Karp-Flatt serial fraction: 14.9 [0.0, 33.3] "
                      "%.\n");
    assert_line(text, "13 launches and 1 accuracy run took 28 s, 0.013 core-hours.\n");
    assert_null(strstr(text, "  figures ")); /* none was drawn */
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Files that could not be written, for example on a full disk, are not listed. */
static void files_that_are_there_are_named(void **state)
{
    struct fake_run run;
    char path[128], line[256];
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    char *text = print_of(&s, run.dir, 0);
    assert_null(strstr(text, "  tables "));
    assert_line(
        text,
        "  next     the same command resumes this run; --fresh (make: FRESH=1) begins a new one\n");
    free(text);
    write_both(&s, &run);
    snprintf(line, sizeof line,
             "  tables   %s/{summary,raw,epochs,classes,losses,rules,layers,columns}.csv, "
             "summary.{md,tex}\n",
             run.dir);
    text = print_of(&s, run.dir, 0);
    assert_line(text, line);
    free(text);
    static const char *const lost[] = {"layers.csv", "columns.csv", "summary.tex"};
    for (size_t i = 0; i < sizeof lost / sizeof *lost; i++) {
        snprintf(path, sizeof path, "%s/%s", run.dir, lost[i]);
        assert_int_equal(remove(path), 0);
    }
    snprintf(line, sizeof line, "  tables   %s/{summary,raw,epochs,classes,losses,rules}.csv\n",
             run.dir);
    text = print_of(&s, run.dir, 0);
    assert_line(text, line);
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Times are relative to published values, percentages differ in points. An epoch is measured by its
 * steps. */
static void what_was_published_stands_beside_ours(void **state)
{
    static const char table_name[] = "published_beside_ours.csv";
    struct fake_run run;
    char spec[2048];
    fake_write(table_name, "ranks,epoch_s,share\n1,20,98\n2,2000,97.5\n");
    snprintf(spec, sizeof spec,
             "%spublished: {file: %s, values: [epoch_timed_s = epoch_s, compute_pct = share]}\n",
             strong_spec, table_name);
    fake_open(&run, spec);
    for (int block = 0; block < 6; block++)
        fake_add(&run, &(struct fake_launch){.ranks = 1,
                                             .strategy = "none",
                                             .block = block,
                                             .seed = 1,
                                             .step_ms = base_ms[block],
                                             .work = "\"train_images\":60000,"});
    struct summary s = collect(&run);
    const struct point_summary *p = find(&s, &run, 1, "none");
    assert_float_equal(atof(cell(p, COLUMN_epoch_timed_s)), 60000 / 256.0 * 0.1025, 1e-9);
    char *text = print(&s);
    assert_line(text, "98 (-2.00)");
    assert_line(text, "20 (+20.1 %)");
    assert_line(
        text, "In brackets: measured minus published, in % of the published value or in percentage "
              "points.\n");
    free(text);
    summary_free(&s);
    fake_close(&run);
    remove(table_name);
}

/* If skipped work depends on the data, FLOPs done are a bound, and so are the factors. */
static void zeros_in_the_data_make_bounds(void **state)
{
    static const char *const works[] = {"\"flops_done_forward\":400000,\"flops_done_backward\":"
                                        "500000,\"savings\":\"winograd data_zeros\",",
                                        NULL};
    struct fake_run run;
    fake_open(&run, peer_spec);
    for (int block = 0; block < 2; block++)
        for (int peer = 0; peer < 2; peer++)
            fake_add(&run, &(struct fake_launch){.ranks = 1,
                                                 .strategy = "allreduce",
                                                 .workload = peer ? "peer_torch" : "train_cnn",
                                                 .work = works[peer],
                                                 .block = block,
                                                 .seed = 1,
                                                 .step_ms = peer ? 200 : 100});
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_line(text, "effective, at most 1.15 done (saved: winograd data_zeros).\n");
    assert_line(
        text, "  2.00 = 3.33 (less arithmetic) x 0.600 (faster arithmetic); the first factor is a "
              "lower bound: skipped zeros");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Returns the length of a table before the lines with file names. */
static size_t length_without_paths(const char *text)
{
    size_t n = 0;
    while (text[n] != '\0' && strncmp(text + n, "  tables   ", 11) != 0)
        n++;
    return n;
}

/* A run with points of every kind prints the same after it is read back. */
static void a_run_that_is_read_back_says_the_same(void **state)
{
    struct fake_run run;
    struct error e = {.status = OK};
    fill_troubled_run(&run);
    add_accuracy(&run, 2, "allreduce", 1, 97.42);
    struct summary s = collect(&run), back;
    write_both(&s, &run);
    char *ran = print_of(&s, run.dir, 0), *losses = read_of(&run, "losses.csv");
    if (summary_read(&back, &run.spec, run.dir, &e) != OK)
        fail_msg("%s:%d: %s", e.file, e.line, e.text);
    char *read = print_of(&back, run.dir, 0);
    assert_int_equal(length_without_paths(ran), length_without_paths(read));
    assert_memory_equal(ran, read, length_without_paths(ran));
    assert_line(read, "Efficiency lost at 2 ranks (allreduce): 13.0 %");
    assert_line(losses, "2,1,13,18,2,-7.667999911,1.52000005,12.5,,0.1494252874,,-0.8520001392");
    free(ran);
    free(read);
    free(losses);
    summary_free(&back);
    summary_free(&s);
    fake_close(&run);
}

/* With two of six launches disturbed, the median excludes them. */
static void noise_is_not_explained(void **state)
{
    for (int disturbed = 0; disturbed <= 4; disturbed += 2) {
        struct fake_run run;
        fill_troubled_run(&run);
        for (int i = 0; i < disturbed; i++)
            run.launches[2 * i].foreign_pct = 43; /* launches of the base are disturbed */
        struct summary s = collect(&run);
        char *text = print(&s);
        bool busy = disturbed > 3;
        assert_int_equal(strstr(find(&s, &run, 1, "none")->flags, "busy") != NULL, busy);
        assert_null(strstr(find(&s, &run, 2, "allreduce")->flags, "busy"));
        assert_line(text,
                    busy ? "  (busy: other programs used 43 % of its cores)"
                         : "Efficiency lost at 2 ranks (allreduce): 13.0 % = 18.0 communication");
        if (busy)
            assert_line(text, "Efficiency lost at 2 ranks (allreduce): 13.0 %, not explained: "
                              "other programs used the cores.\n");
        free(text);
        summary_free(&s);
        fake_close(&run);
    }
}

/* 100 ms, of which the optimizer has 10; 60 ms at two ranks, of which it still has 10. In five
 * launches, one of two equal ranks may be last each time. */
static void what_ranks_repeat_is_told_apart(void **state)
{
    for (int blocks = 5; blocks <= 6; blocks++) {
        struct fake_run run;
        fake_open(&run, strong_spec);
        for (int block = 0; block < blocks; block++)
            for (long ranks = 1; ranks <= 2; ranks++)
                fake_add(&run, &(struct fake_launch){.ranks = ranks,
                                                     .strategy = ranks == 1 ? "none" : "allreduce",
                                                     .block = block,
                                                     .seed = 1,
                                                     .step_ms = ranks == 1 ? 100 : 60,
                                                     .optimizer_ms = 10});
        struct summary s = collect(&run);
        char *text = print(&s);
        assert_line(text, " - 4.5 faster compute + 8.3 replicated optimizer - 7.2 other.");
        assert_line(text, blocks == 6 ? " + 2.0 waiting (rank 1 arrived last in 100 % of steps) -"
                                      : " + 2.0 waiting - 4.5");
        assert_string_equal(cell(find(&s, &run, 2, "allreduce"), COLUMN_last_rank_p),
                            blocks == 6 ? "0.03125" : "0.0625");
        free(text);
        summary_free(&s);
        fake_close(&run);
    }
}

/* A loss of 15 % exceeds a scatter of 0.3 %; a loss of 5 % is below a scatter of 15 %. */
static void scatter_is_not_explained(void **state)
{
    for (int wide = 0; wide < 2; wide++) {
        struct fake_run run;
        fake_open(&run, strong_spec);
        for (int block = 0; block < 2; block++) {
            double speedup = wide ? (block ? 2.2 : 1.6) : block ? 1.71 : 1.7;
            fake_add(
                &run,
                &(struct fake_launch){
                    .ranks = 1, .strategy = "none", .block = block, .seed = 1, .step_ms = 100});
            fake_add(&run, &(struct fake_launch){.ranks = 2,
                                                 .strategy = "allreduce",
                                                 .block = block,
                                                 .seed = 1,
                                                 .step_ms = 100 / speedup});
        }
        struct summary s = collect(&run);
        char *text = print(&s);
        assert_line(text, wide ? "Efficiency lost at 2 ranks (allreduce): 5.0 %, not explained: "
                                 "launches differ as much from each other.\n"
                               : "Efficiency lost at 2 ranks (allreduce): 14.8 % = ");
        free(text);
        summary_free(&s);
        fake_close(&run);
    }
}

static void documents_hold_the_table(void **state)
{
    struct fake_run run;
    fill_troubled_run(&run);
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *markdown = read_of(&run, "summary.md"), *latex = read_of(&run, "summary.tex");
    assert_line(markdown,
                "| ranks | strategy | img/rank | launches | step ms [95 % CI] | images/s | "
                "speed-up [95 % CI] | eff. | compute | comm | wait | test acc | remarks |\n"
                "|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---|\n"
                "| 1 | none | 256 | 6 | 102.5 [100.0, 105.0] | 2498 | base | 100 % | 96 % | "
                "0 % | 0 % | - | (2 of 2 seeds missing) |\n");
    assert_line(markdown,
                "| 8 | allreduce | - | - | - | - | - | - | - | - | - | - | skipped: 8 ranks, "
                "4 cores |\n");
    assert_line(latex, "\\begin{tabular}{rrrrrrrrrrrrl}\n\\hline\nranks & strategy & img/rank & ");
    assert_line(latex, "\n2 & allreduce & 128 & 6 & ");
    assert_line(latex, " & 1.74 [1.50, 2.00] & 87 \\% & 75 \\% & 18 \\% & 2 \\% & - & ");
    assert_line(latex, "\\hline\n\\end{tabular}\n");
    free(markdown);
    free(latex);
    summary_free(&s);
    fake_close(&run);
}

/* Reasons may contain characters with a meaning in Markdown or LaTeX. */
static void documents_escape_what_is_theirs(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    fake_fail(&run, 4, "none", LAUNCH_FAILED, "50% of a|b_c & {d} \\ <e> #1 ~^$");
    struct summary s = collect(&run);
    write_both(&s, &run);
    char *markdown = read_of(&run, "summary.md"), *latex = read_of(&run, "summary.tex");
    assert_line(markdown, "failed: 50% of a\\|b\\_c & {d} \\\\ \\<e> #1 ~^$ |\n");
    assert_line(latex, "failed: 50\\% of a|b\\_c \\& \\{d\\} \\textbackslash{} \\textless{}e"
                       "\\textgreater{} \\#1 \\textasciitilde{}\\textasciicircum{}\\$ \\\\\n");
    free(markdown);
    free(latex);
    summary_free(&s);
    fake_close(&run);
}

/* Weights are only reported equal if they were found equal. */
static void unequal_weights_are_not_praised(void **state)
{
    struct fake_run run;
    fill_troubled_run(&run);
    fake_add(
        &run,
        &(struct fake_launch){
            .ranks = 4, .strategy = "allreduce", .step_ms = 30, .seed = 1, .weights_differ = true});
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_null(strstr(text, "Weights are equal"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void an_empty_campaign_prints(void **state)
{
    struct fake_run run;
    fake_open(&run, strong_spec);
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_line(text, "skipped: no launch finished\n");
    assert_line(text, "0 launches and 0 accuracy runs took 0.0 s");
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "Base:"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void a_single_point_prints(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: one\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 2\n");
    fake_add(&run,
             &(struct fake_launch){.ranks = 2, .strategy = "allreduce", .seed = 1, .step_ms = 20});
    struct summary s = collect(&run);
    char *text = print(&s);
    assert_line(text, "20.00      3200");
    assert_line(text, "(too few launches for a 95 % interval)\n");
    assert_null(strstr(text, "nan"));
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Three series of equal ranks; the last rank of each launch is random. */
static void ranks_that_are_alike_are_rarely_blamed(void **state)
{
    enum { TRIALS = 4000, POINTS = 3, LAUNCHES = 12 };
    uint64_t random = 1;
    for (int ranks = 2; ranks <= 8; ranks *= 2) {
        int corrected = 0, alone = 0;
        for (int trial = 0; trial < TRIALS; trial++) {
            bool blamed = false, blamed_alone = false;
            for (int point = 0; point < POINTS; point++) {
                int votes[LAUNCHES];
                for (int i = 0; i < LAUNCHES; i++) {
                    random = random * 6364136223846793005u + 1442695040888963407u;
                    votes[i] = (int)((random >> 33) % (uint64_t)ranks);
                }
                struct votes last = votes_count(votes, LAUNCHES, ranks);
                struct point_last p = {.rank = last.choice, .p = last.p};
                blamed |= losses_name_last_rank(&p, POINTS);
                blamed_alone |= losses_name_last_rank(&p, 1);
            }
            corrected += blamed;
            alone += blamed_alone;
        }
        assert_true(corrected <= 0.05 * TRIALS + 3 * sqrt(0.05 * 0.95 * TRIALS));
        if (ranks == 2) /* the correction matters here; votes of more ranks have coarser steps */
            assert_true(alone > 0.08 * TRIALS);
    }
}

/* Prints speed-ups at 2 and 4 ranks, with relative noise per block. */
static char *print_scaling(double at_2, double at_4, double noise)
{
    const double speedups[] = {1, at_2, at_4};
    struct fake_run run;
    fake_open(&run, "name: law\nmodel: lenet_21k\nscaling: strong\ntrain: {global_batch: 64}\n"
                    "sync: {strategy: allreduce}\nmatrix: {ranks: [1, 2, 4]}\n");
    for (int k = 0; k < 3; k++)
        for (int block = 0; block < 6; block++)
            fake_add(&run, &(struct fake_launch){.ranks = 1 << k,
                                                 .strategy = "allreduce",
                                                 .block = block,
                                                 .seed = 1,
                                                 .step_ms = 100 / speedups[k] *
                                                            (k > 0 ? 1 + noise * (block - 2) : 1)});
    struct summary s = collect(&run);
    char *text = print(&s);
    summary_free(&s);
    fake_close(&run);
    return text;
}

/* Serial fractions of 11.1 and 22.2 %, with noise above or below their difference. */
static void a_trend_is_said_where_intervals_support_it(void **state)
{
    char *quiet = print_scaling(1.8, 2.4, 0.002), *noisy = print_scaling(1.8, 2.4, 0.05),
         *falling = print_scaling(1.6, 3.2, 0.002);
    assert_line(quiet, " %, rising.\n");
    assert_line(falling, " %, falling.\n");
    assert_null(strstr(noisy, "rising"));
    assert_line(noisy, "Karp-Flatt ");
    free(quiet);
    free(noisy);
    free(falling);
}

/* Prints a table with this number of launches of the base and at 2 and 4 ranks; 0: no such
 * point. */
static char *print_few(int base, int two, int four)
{
    const int launches[] = {base, two, four};
    struct fake_run run;
    fake_open(&run, "name: few\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "sync: {strategy: allreduce}\nmatrix: {ranks: [1, 2, 4]}\n");
    for (int k = 0; k < 3; k++)
        for (int block = 0; block < launches[k]; block++)
            fake_add(&run, &(struct fake_launch){.ranks = 1 << k,
                                                 .strategy = "allreduce",
                                                 .block = block,
                                                 .seed = 1,
                                                 .step_ms = (100 + block) / (k + 1.0)});
    struct summary s = collect(&run);
    char *text = print(&s);
    write_both(&s, &run);
    free(text);
    text = read_of(&run, "summary.md");
    summary_free(&s);
    fake_close(&run);
    return text;
}

/* The interval of n values has level 1 - 2^(1-n): at least 95 % from 6 values on. */
static void headings_say_the_level_that_was_reached(void **state)
{
    static const struct {
        int launches[3];
        const char *says[4];
    } cases[] = {
        {{6, 7, 6}, {"| step ms [95 % CI] | images/s | speed-up [95 % CI] |", "] | ", "| base |"}},
        {{4, 4, 4}, {"| step ms [87.5 % CI] |", "| speed-up [87.5 % CI] |", "51.50] |"}},
        {{6, 4, 3},
         {"| step ms [>= 75 % CI] |", "| speed-up [>= 75 % CI] |", "105.0] | ",
          "51.50] (87.5 %) | "}},
        /* the interval of a ratio depends on its pairs */
        {{2, 6, 6}, {"| step ms [>= 50 % CI] |", "| speed-up [50 % CI] |", "2.00 [2.00, 2.00] |"}},
        {{1, 1, 1}, {"| step ms | images/s | speed-up |", "| 100.0 |", "| 2.00 |"}},
        {{5, 5, 0}, {"| step ms [93.75 % CI] |", "| speed-up [93.75 % CI] |", "104.0] |"}},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const int *n = cases[i].launches;
        char *text = print_few(n[0], n[1], n[2]);
        for (size_t k = 0; k < 4 && cases[i].says[k] != NULL; k++)
            assert_line(text, cases[i].says[k]);
        free(text);
    }
}

static void every_column_is_listed(void **state)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    columns_print(out);
    assert_int_equal(fclose(out), 0);
    for (int i = 0; i < COLUMNS; i++)
        assert_line(text, column_get(i)->name);
    assert_line(text, "\nraw.csv: One row per launch, failed ones included\n");
    assert_line(text, "  step_ms_median     REAL  ms         Time per step of the slowest rank");
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(work_done_and_memory_are_told),
        cmocka_unit_test(zeros_in_the_data_make_bounds),
        cmocka_unit_test(the_batch_is_what_is_computed_at_a_time),
        cmocka_unit_test(the_table_says_it_all),
        cmocka_unit_test(files_that_are_there_are_named),
        cmocka_unit_test(what_was_published_stands_beside_ours),
        cmocka_unit_test(a_run_that_is_read_back_says_the_same),
        cmocka_unit_test(noise_is_not_explained),
        cmocka_unit_test(what_ranks_repeat_is_told_apart),
        cmocka_unit_test(scatter_is_not_explained),
        cmocka_unit_test(documents_hold_the_table),
        cmocka_unit_test(documents_escape_what_is_theirs),
        cmocka_unit_test(unequal_weights_are_not_praised),
        cmocka_unit_test(an_empty_campaign_prints),
        cmocka_unit_test(a_single_point_prints),
        cmocka_unit_test(ranks_that_are_alike_are_rarely_blamed),
        cmocka_unit_test(a_trend_is_said_where_intervals_support_it),
        cmocka_unit_test(headings_say_the_level_that_was_reached),
        cmocka_unit_test(every_column_is_listed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
