/* Figures of synthetic runs: what they say, that they repeat byte by byte, how they fail. What they
 * look like is for eyes. */
#include "bench/collect/tests/fake_run.h"

#include "bench/collect/columns.h"
#include "bench/figures/figures.h"
#include "bench/figures/gnuplot.h"

static const char spec_text[] = "name: synthetic\n"
                                "scaling: strong\n"
                                "model: lenet_21k\n"
                                "train: {global_batch: 256}\n"
                                "matrix:\n"
                                "  ranks: [1, 2, 4, 8]\n"
                                "  sync.strategy: [none, allreduce]\n"
                                "exclude:\n"
                                "  - {ranks: 1, sync.strategy: allreduce}\n"
                                "baseline: {ranks: 1, sync.strategy: none}\n";

static struct summary summarise(const struct fake_run *run)
{
    struct summary s;
    struct error e = {.status = OK};
    if (summary_collect(&s, &run->spec, run->dir, &run->journal, &e) != OK ||
        summary_write(&s, run->dir, &run->journal, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    return s;
}

static void draw(const struct summary *s, const char *dir)
{
    struct error e = {.status = OK};
    if (figures_draw(s, dir, "plots", &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
}

/* Freed by the caller; *size in bytes. */
static char *picture(const char *dir, const char *name, size_t *size)
{
    char path[256];
    struct stat info;
    snprintf(path, sizeof path, "%s/%s", dir, name);
    assert_int_equal(stat(path, &info), 0);
    *size = (size_t)info.st_size;
    return fake_read(path);
}

static void assert_says(const char *dir, const char *name, const char *const *texts)
{
    size_t size;
    char *svg = picture(dir, name, &size);
    for (; *texts; texts++)
        if (!strstr(svg, *texts))
            fail_msg("%s does not say '%s'", name, *texts);
    free(svg);
}

static void add(struct fake_run *run, long ranks, const char *strategy, double step_ms)
{
    for (int block = 0; block < 6; block++)
        fake_add(run, &(struct fake_launch){.ranks = ranks,
                                            .strategy = strategy,
                                            .block = block,
                                            .seed = 1,
                                            .step_ms = step_ms + 0.1 * block});
}

/* Ranks 1, 2 and 4 measured, 4 failed for one strategy, 8 skipped. */
static void fill(struct fake_run *run)
{
    fake_open(run, spec_text);
    add(run, 1, "none", 100);
    add(run, 2, "none", 51);
    add(run, 2, "allreduce", 55);
    add(run, 4, "none", 27);
    fake_fail(run, 4, "allreduce", LAUNCH_FAILED, "signal 9");
    fake_skip(run, 8, "none", "8 ranks, 4 cores");
    fake_skip(run, 8, "allreduce", "8 ranks, 4 cores");
}

static void figures_say_what_was_measured(void **state)
{
    (void)state;
    static const char *const common[] = {"compute only (none)",   ">allreduce<",
                                         ">allreduce: failed<",   ">skipped<",
                                         "ranks (MPI processes)", "lenet_21k on mnist (real data)",
                                         "95 % intervals",        NULL};
    static const char *const text[] = {"lenet_21k (21,840 parameters) on mnist (real data)",
                                       "exact 95 %", "100.2 [100.0, 100.5] ms", NULL};
    static const char *const time[] = {"time per step (ms)", NULL};
    static const char *const speedup[] = {"speed-up over the base", "ideal, from the base", NULL};
    static const char *const efficiency[] = {"parallel efficiency (%)", NULL};
    struct fake_run run;
    fill(&run);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg", common);
    assert_says(run.dir, "speedup.svg", common);
    assert_says(run.dir, "efficiency.svg", common);
    assert_says(run.dir, "time.txt", text);
    assert_says(run.dir, "time.svg", time);
    assert_says(run.dir, "speedup.svg", speedup);
    assert_says(run.dir, "efficiency.svg", efficiency);
    summary_free(&s);
    fake_close(&run);
}

static void variants_have_lines_of_their_own(void **state)
{
    (void)state;
    static const char *const lines[] = {">gather_scatter<", ">gather_scatter (mpich)<", NULL};
    static const char *const names[] = {"usual", "mpich"};
    struct fake_run run;
    fake_open(&run, "name: forms\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "sync.strategy: gather_scatter\n"
                    "matrix: {ranks: [1, 2], sync.variant: [usual, mpich]}\n");
    for (int i = 0; i < 8; i++)
        fake_add(&run, &(struct fake_launch){.ranks = 1 + i / 2 % 2,
                                             .strategy = "gather_scatter",
                                             .variant = names[i % 2],
                                             .block = i / 4,
                                             .seed = 1,
                                             .step_ms = 20 + i});
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg", lines);
    summary_free(&s);
    fake_close(&run);
}

static void compressors_have_lines_of_their_own(void **state)
{
    (void)state;
    static const char *const lines[] = {">allreduce<", ">allreduce + fp16<", ">allreduce + bf16<",
                                        NULL};
    struct fake_run run;
    fake_open(&run, "name: forms\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "matrix: {ranks: [1, 2], sync.compress: [none, fp16, bf16]}\n");
    static const char *const names[] = {"none", "fp16", "bf16"};
    for (int i = 0; i < 6; i++)
        fake_add(&run, &(struct fake_launch){.ranks = 1 + i / 3,
                                             .strategy = "allreduce",
                                             .compress = names[i % 3],
                                             .seed = 1,
                                             .step_ms = 20 + i});
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg", lines);
    summary_free(&s);
    fake_close(&run);
}

static void pictures_repeat_byte_by_byte(void **state)
{
    (void)state;
    static const char *const names[] = {"time.svg",    "time.png",       "speedup.svg",
                                        "speedup.png", "efficiency.svg", "efficiency.png"};
    enum { PICTURES = sizeof names / sizeof names[0] };
    char *first[PICTURES];
    size_t sizes[PICTURES];
    struct fake_run run;
    fill(&run);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    for (int i = 0; i < PICTURES; i++)
        first[i] = picture(run.dir, names[i], &sizes[i]);
    draw(&s, run.dir);
    for (int i = 0; i < PICTURES; i++) {
        size_t size;
        char *again = picture(run.dir, names[i], &size);
        assert_int_equal(size, sizes[i]);
        assert_memory_equal(again, first[i], size);
        if (strstr(names[i], ".png"))
            assert_memory_equal(again, "\x89PNG\r\n\x1a\n", 8);
        free(again);
        free(first[i]);
    }
    summary_free(&s);
    fake_close(&run);
}

/* Names reach gnuplot as they are: no shell, no command substitution, no way out of the quotes. */
static void names_are_not_interpreted(void **state)
{
    (void)state;
    char dir[128], trap[128];
    struct fake_run run;
    struct error e = {.status = OK};
    fill(&run);
    struct summary s = summarise(&run);
    snprintf(trap, sizeof trap, "%s/trap", run.dir);
    snprintf(dir, sizeof dir, "%s/it's `touch trap` @x \"$(touch trap)\"", run.dir);
    assert_int_equal(mkdir(dir, 0777), 0);
    assert_int_equal(summary_write(&s, dir, &run.journal, &e), OK);
    draw(&s, dir);
    assert_says(dir, "time.svg", (const char *const[]){"time per step (ms)", NULL});
    assert_int_not_equal(access(trap, F_OK), 0);
    assert_int_not_equal(access("trap", F_OK), 0);
    summary_free(&s);
    fake_close(&run);
}

/* The legend: of each curve the colour and dash of its line and its mark, which are the first of
 * the picture. Lines of the legend are level and 36 pixels long. Returns how many there are. */
static size_t read_legend(const char *svg, char styles[][160], size_t most)
{
    size_t n = 0;
    const char *mark = strstr(svg, "</defs>");
    for (const char *at = svg; n < most && (at = strstr(at, "<path stroke='")) != NULL; at++) {
        double x0, y0, x1, y1;
        int colour = (int)strcspn(at + 14, "'");
        const char *dash = strstr(at, "stroke-dasharray='"), *d = strstr(at, " d='M");
        bool dashed = dash && dash < d;
        if (sscanf(d, " d='M%lf,%lf L%lf,%lf", &x0, &y0, &x1, &y1) != 4 || y0 != y1 ||
            fabs(x1 - x0 - 36) > 0.1 || strncmp(at + 14, "rgb(112", 7) == 0)
            continue;
        mark = strstr(mark + 1, "<use xlink:href='#gpPt");
        assert_non_null(mark);
        snprintf(styles[n++], 160, "%.*s %.*s %.*s", colour, at + 14,
                 dashed ? (int)strcspn(dash + 18, "'") : 5, dashed ? dash + 18 : "solid",
                 (int)strcspn(mark + 22, "'"), mark + 22);
    }
    return n;
}

/* By colour and dash alone, even without the marks. */
static void many_curves_are_told_apart(void **state)
{
    (void)state;
    static const char *const names[] = {"none",   "allreduce", "bucketed",    "fusion",
                                        "ring",   "tree",      "shm",         "fixed_order",
                                        "adasum", "gossip",    "rabenseifner"};
    enum { CURVES = sizeof names / sizeof *names };
    char styles[CURVES + 1][160];
    size_t size;
    struct fake_run run;
    fake_open(&run, "name: many\nmodel: lenet_21k\ntrain: {global_batch: 64}\nmatrix: {ranks: [2], "
                    "sync.strategy: [none, allreduce, bucketed, fusion, ring, tree, shm, "
                    "fixed_order, adasum, gossip, rabenseifner]}\n");
    for (int i = 0; i < CURVES; i++)
        fake_add(&run, &(struct fake_launch){
                           .ranks = 2, .strategy = names[i], .seed = 1, .step_ms = 20 + i});
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    char *svg = picture(run.dir, "time.svg", &size);
    assert_int_equal(read_legend(svg, styles, CURVES + 1), CURVES);
    for (int i = 0; i < CURVES; i++)
        for (int k = 0; k < i; k++) {
            size_t line = (size_t)(strrchr(styles[i], ' ') - styles[i]);
            if (line == (size_t)(strrchr(styles[k], ' ') - styles[k]) &&
                memcmp(styles[i], styles[k], line) == 0)
                fail_msg("%s and %s are drawn alike: %s", names[i], names[k], styles[i]);
        }
    free(svg);
    summary_free(&s);
    fake_close(&run);
}

/* How often a curve's row of the series file has these ranks. */
static size_t count_rows(const char *dir, const char *figure, const char *name, long ranks)
{
    char path[256], wanted[128], at[32], line[1024];
    size_t n = 0;
    snprintf(path, sizeof path, "%s/series_%s.csv", dir, figure);
    snprintf(wanted, sizeof wanted, ",%s,", name);
    snprintf(at, sizeof at, ",%ld,", ranks);
    FILE *in = fopen(path, "r");
    assert_non_null(in);
    while (fgets(line, sizeof line, in))
        n += strstr(line, wanted) != NULL && strstr(line, at) != NULL;
    fclose(in);
    return n;
}

/* At one rank nothing was measured of local_sgd: the base there has a mark of its own. */
static void a_base_marks_its_own_curve_only(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, "name: base\nscaling: strong\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "sync.strategy: local_sgd\nmatrix: {ranks: [2, 4]}\n"
                    "baseline: {ranks: 1, sync.strategy: none}\n");
    add(&run, 1, "none", 100);
    add(&run, 2, "local_sgd", 52);
    add(&run, 4, "local_sgd", 30);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "speedup.svg",
                (const char *const[]){">local_sgd<", ">none (base)<", NULL});
    assert_int_equal(count_rows(run.dir, "speedup", "local_sgd", 1), 0);
    assert_int_equal(count_rows(run.dir, "speedup", "none (base)", 1), 1);
    assert_int_equal(count_rows(run.dir, "speedup", "local_sgd", 4), 1);
    summary_free(&s);
    fake_close(&run);
}

/* What ran nowhere has a name where it is missing, but no curve. */
static void a_series_without_a_value_has_no_curve(void **state)
{
    (void)state;
    size_t size;
    struct fake_run run;
    fake_open(&run, "name: nodes\nmodel: lenet_21k\ntrain: {batch_per_rank: 64}\n"
                    "matrix: {nodes: [1, 2, 4], ranks: [1, 2, 4]}\n"
                    "exclude: [{nodes: 2, ranks: 1}, {nodes: 4, ranks: 1}, {nodes: 4, ranks: 2}]\n"
                    "baseline: {nodes: 1, ranks: 1}\n");
    add(&run, 1, "allreduce", 20);
    add(&run, 2, "allreduce", 21);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg",
                (const char *const[]){">allreduce, nodes 1<", ">nodes 2: skipped<", NULL});
    char *svg = picture(run.dir, "time.svg", &size);
    assert_null(strstr(svg, ">allreduce, nodes 2<"));
    assert_null(strstr(svg, ">allreduce, nodes 4<"));
    free(svg);
    assert_int_equal(count_rows(run.dir, "time", "\"allreduce, nodes 4\"", 1), 0);
    summary_free(&s);
    fake_close(&run);
}

/* Whatever is in a text, and wherever it stands in it. */
static void texts_arrive_unchanged(void **state)
{
    (void)state;
    static const char *const texts[] = {"'killed'", "it's", "''", "", "a `b` @c $d \"e\" \\n %g;",
                                        "'"};
    char dir[] = "/tmp/gnuplot.XXXXXX", script[64], written[64], *definitions = NULL;
    assert_non_null(mkdtemp(dir));
    snprintf(script, sizeof script, "%s/print.gp", dir);
    snprintf(written, sizeof written, "%s/text", dir);
    fake_write(script, "set print file\nprint text\n");
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct error e = {.status = OK};
        size_t size, length = strlen(texts[i]);
        FILE *out = open_memstream(&definitions, &size);
        gnuplot_define_text(out, "file", written);
        gnuplot_define_text(out, "text", texts[i]);
        assert_int_equal(fclose(out), 0);
        if (gnuplot_run(definitions, script, &e) != OK)
            fail_msg("%s: %s", texts[i], e.text);
        char *text = fake_read(written);
        assert_memory_equal(text, texts[i], length);
        assert_string_equal(text + length, "\n");
        free(text);
        free(definitions);
    }
    fake_remove_folder(dir);
}

/* A campaign of every figure of which every point failed, or whose accuracy nobody could read: each
 * figure says so, and none keeps the others from being drawn. */
static void no_value_stops_no_figure(void **state)
{
    (void)state;
    static const char *const all[] = {"time",     "breakdown", "overlap",    "bars",
                                      "accuracy", "epochs",    "epoch_time", "total_time",
                                      "speedup",  "efficiency"};
    char spec[1024], name[64];
    struct fake_run run;
    snprintf(spec, sizeof spec,
             "%smeasure: {replay: 1, accuracy: {seeds: [1]}}\nbars: test_loss\nfigures: [time, "
             "breakdown, "
             "overlap, bars, accuracy, epochs, epoch_time, total_time, speedup, efficiency]\n",
             spec_text);
    fake_open(&run, spec);
    fake_fail(&run, 1, "none", LAUNCH_FAILED, "signal 9");
    fake_fail(&run, 2, "allreduce", LAUNCH_FAILED, "signal 9");
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
        const char *says = i < 3 ? "no timed launch has a value" : "no accuracy run has a value";
        if (i == 0 || i == 1 || i > 7)
            says = "no point was measured";
        snprintf(name, sizeof name, "%s.svg", all[i]);
        assert_says(run.dir, name, (const char *const[]){says, NULL});
    }
    summary_free(&s);
    fake_close(&run);
}

/* The loss of an epoch whose accuracy is unknown is drawn all the same. */
static void an_accuracy_without_numbers_leaves_the_loss(void **state)
{
    (void)state;
    char path[128];
    size_t size;
    struct fake_run run;
    struct error e = {.status = OK};
    fake_open(&run, "name: blind\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 1\n"
                    "measure: {accuracy: {seeds: [1]}}\nfigures: [accuracy, epochs, total_time]\n");
    fake_add(&run, &(struct fake_launch){
                       .ranks = 1, .strategy = "allreduce", .seed = 1, .test_acc_pct = 97});
    struct summary s = summarise(&run);
    snprintf(path, sizeof path, "%s/epochs.csv", run.dir);
    fake_edit(path, ",97\n", ",\n");
    assert_int_equal(figures_draw(&s, run.dir, "plots", &e), OK);
    assert_says(run.dir, "epochs.svg", (const char *const[]){"no test accuracy", NULL});
    char *svg = picture(run.dir, "epochs.svg", &size);
    assert_null(strstr(svg, "no training loss"));
    free(svg);
    free(picture(run.dir, "total_time.svg", &size));
    summary_free(&s);
    fake_close(&run);
}

static void nothing_measured_still_draws(void **state)
{
    (void)state;
    static const char *const texts[] = {"no point was measured", ">skipped<", NULL};
    struct fake_run run;
    fake_open(&run, spec_text);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg", texts);
    assert_says(run.dir, "speedup.svg", texts);
    assert_says(run.dir, "efficiency.svg", texts);
    summary_free(&s);
    fake_close(&run);
}

static void a_failed_base_leaves_the_times(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, spec_text);
    fake_fail(&run, 1, "none", LAUNCH_TIMEOUT, "more than 10min");
    add(&run, 2, "allreduce", 55);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "speedup.svg", (const char *const[]){"the base was not measured", NULL});
    size_t size;
    char *svg = picture(run.dir, "time.svg", &size);
    assert_null(strstr(svg, "no point was measured"));
    free(svg);
    summary_free(&s);
    fake_close(&run);
}

static void one_rank_count_draws(void **state)
{
    (void)state;
    struct fake_run run;
    fake_open(&run, "name: one\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 2\n");
    add(&run, 2, "allreduce", 20);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg", (const char *const[]){">allreduce<", ">2<", NULL});
    summary_free(&s);
    fake_close(&run);
}

/* Large numbers are written short, and accuracy ends at 100 %, a cut axis saying so. */
static void axes_fit_what_they_show(void **state)
{
    (void)state;
    static const char *const spec = "name: axes\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                                    "matrix: {ranks: [1, 2]}\nbars: %s\nfigures: [bars]\n"
                                    "measure: {accuracy: {seeds: [1]}}\n";
    char text[512];
    size_t size;
    struct fake_run run;
    snprintf(text, sizeof text, spec, "step_ms");
    fake_open(&run, text);
    add(&run, 1, "allreduce", 24e6);
    add(&run, 2, "allreduce", 16e6);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "bars.svg", (const char *const[]){">0<", ">10.0M<", ">20.0M<", NULL});
    summary_free(&s);
    fake_close(&run);
    for (int high = 0; high < 2; high++) {
        snprintf(text, sizeof text, spec, "test_acc_pct");
        fake_open(&run, text);
        for (int ranks = 1; ranks <= 2; ranks++)
            fake_add(&run, &(struct fake_launch){.ranks = ranks,
                                                 .strategy = "allreduce",
                                                 .seed = 1,
                                                 .test_acc_pct = (high ? 97 : 60) + ranks});
        s = summarise(&run);
        draw(&s, run.dir);
        char *svg = picture(run.dir, "bars.svg", &size);
        assert_non_null(strstr(svg, ">100<"));
        assert_null(strstr(svg, ">120<"));
        assert_true((strstr(svg, ">test accuracy (%), axis from 97<") != NULL) == high);
        free(svg);
        summary_free(&s);
        fake_close(&run);
    }
}

/* Beyond 8 ranks axes are logarithmic; points beyond the cores are named. */
static void many_ranks_draw(void **state)
{
    (void)state;
    char path[128];
    struct fake_run run;
    fake_open(&run, "name: many\nscaling: strong\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
                    "place: {oversubscribe: allow}\nmatrix: {ranks: [1, 4, 16]}\n");
    snprintf(path, sizeof path, "%s/manifest.json", run.dir);
    fake_write(path, "{\"machine\": {\"usable_cores\": 8}}");
    add(&run, 1, "allreduce", 100);
    add(&run, 4, "allreduce", 30);
    add(&run, 16, "allreduce", 20);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.svg",
                (const char *const[]){">16<", ">50<", ">oversubscribed<", NULL});
    summary_free(&s);
    fake_close(&run);
}

static void set_cell(struct point_summary *p, enum column_id column, const char *text)
{
    free(p->cells[column]);
    p->cells[column] = strdup(text);
    assert_non_null(p->cells[column]);
}

/* Two thousand points of which a hundred have a value, in fifty curves: the picture holds what fits
 * and says what does not, the series file holds all. */
static void more_than_fits_is_left_to_the_series(void **state)
{
    (void)state;
    enum { RANKS = 40, RATES = 50, DRAWN = 36 };
    char *text = NULL, *svg, styles[RATES][160];
    size_t size, rows = 0;
    struct fake_run run;
    FILE *out = open_memstream(&text, &size);
    fputs("name: large\nmodel: lenet_21k\ntrain: {global_batch: 64}\nfigures: [time, bars]\n"
          "matrix: {ranks: [1",
          out);
    for (int i = 2; i <= RANKS; i++)
        fprintf(out, ", %d", i);
    fputs("], train.lr: [0.001", out);
    for (int i = 2; i <= RATES; i++)
        fprintf(out, ", 0.%03d", i);
    fputs("]}\n", out);
    assert_int_equal(fclose(out), 0);
    fake_open(&run, text);
    free(text);
    struct summary s = summarise(&run);
    assert_int_equal(s.n, RANKS * RATES);
    for (size_t i = 0; i < 2 * RATES; i++) {
        snprintf(s.points[i].status, sizeof s.points[i].status, "ok");
        set_cell(&s.points[i], COLUMN_step_ms_median, "20");
    }
    draw(&s, run.dir);
    svg = picture(run.dir, "time.svg", &size);
    assert_int_equal(read_legend(svg, styles, RATES), DRAWN);
    free(svg);
    assert_says(run.dir, "time.txt",
                (const char *const[]){"for want of room: 14 curves of series_time.csv", NULL});
    svg = picture(run.dir, "series_time.csv", &size);
    for (const char *at = svg; (at = strchr(at, '\n')) != NULL; at++)
        rows++;
    free(svg);
    assert_int_equal(rows, 1 + RANKS * RATES);
    svg = picture(run.dir, "bars.svg", &size);
    assert_non_null(strstr(svg, ">ranks=2 lr=0.05<"));
    assert_null(strstr(svg, "ranks=3 "));
    free(svg);
    summary_free(&s);
    fake_close(&run);
}

static void a_missing_gnuplot_is_named(void **state)
{
    (void)state;
    struct fake_run run;
    struct error e = {.status = OK};
    fill(&run);
    struct summary s = summarise(&run);
    char *path = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", run.dir, 1), 0);
    enum status status = figures_draw(&s, run.dir, "plots", &e);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    assert_int_equal(status, ERR_UNAVAILABLE);
    assert_non_null(strstr(e.text, "apt install gnuplot"));
    summary_free(&s);
    fake_close(&run);
}

/* A script that fails is named with what gnuplot said; the picture of before stands, and the other
 * figures are drawn. */
static void a_failing_script_is_named(void **state)
{
    (void)state;
    char script[128];
    size_t before, after;
    struct fake_run run;
    struct error e = {.status = OK};
    fill(&run);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    free(picture(run.dir, "time.svg", &before));
    snprintf(script, sizeof script, "%s/time.gp", run.dir);
    fake_write(script, "set terminal svg\nset output out.'.svg'\nplot nonsense(x)\n");
    char other[128];
    snprintf(other, sizeof other, "%s/speedup.gp", run.dir);
    fake_write(other, "do for [f in 'svg png'] {\n    set print out.'.'.f\n    print 'drawn'\n}\n");
    assert_int_equal(figures_draw(&s, run.dir, run.dir, &e), ERR_SYSTEM);
    assert_string_equal(e.file, script);
    assert_non_null(strstr(e.text, "nonsense"));
    free(picture(run.dir, "time.svg", &after));
    assert_int_equal(before, after);
    assert_says(run.dir, "speedup.svg", (const char *const[]){"drawn", NULL});
    assert_int_equal(fake_count(run.dir, ".part"), 0);
    summary_free(&s);
    fake_close(&run);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_say_what_was_measured),
        cmocka_unit_test(variants_have_lines_of_their_own),
        cmocka_unit_test(compressors_have_lines_of_their_own),
        cmocka_unit_test(pictures_repeat_byte_by_byte),
        cmocka_unit_test(names_are_not_interpreted),
        cmocka_unit_test(many_curves_are_told_apart),
        cmocka_unit_test(a_base_marks_its_own_curve_only),
        cmocka_unit_test(a_series_without_a_value_has_no_curve),
        cmocka_unit_test(texts_arrive_unchanged),
        cmocka_unit_test(no_value_stops_no_figure),
        cmocka_unit_test(an_accuracy_without_numbers_leaves_the_loss),
        cmocka_unit_test(nothing_measured_still_draws),
        cmocka_unit_test(a_failed_base_leaves_the_times),
        cmocka_unit_test(one_rank_count_draws),
        cmocka_unit_test(axes_fit_what_they_show),
        cmocka_unit_test(many_ranks_draw),
        cmocka_unit_test(more_than_fits_is_left_to_the_series),
        cmocka_unit_test(a_missing_gnuplot_is_named),
        cmocka_unit_test(a_failing_script_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
