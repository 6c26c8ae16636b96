/* Curves and axes of figures: which points form a curve, how curves are distinguished, how many
 * fit. */
#include "bench/figures/tests/drawn.h"

static void each_variant_has_its_own_line(void **state)
{
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

static void each_compressor_has_its_own_line(void **state)
{
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

/* Reads the legend: colour and dash of each curve's line, and its mark, which are the first in
 * the picture. Lines of the legend are level and 36 pixels long. Returns their number. */
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

/* Colour and dash must differ even without marks. */
static void many_curves_differ_in_colour_or_dash(void **state)
{
    static const char *const names[] = {"none",   "allreduce", "bucketed",    "fusion",
                                        "ring",   "tree",      "shm",         "fixed_order",
                                        "adasum", "gossip",    "rabenseifner"};
    enum { CURVES = sizeof names / sizeof *names };
    char styles[CURVES + 1][160];
    size_t size;
    struct fake_run run;
    fake_open(&run,
              "name: many\nmodel: lenet_21k\ntrain: {global_batch: 64}\nmatrix: {ranks: [2, 4], "
              "sync.strategy: [none, allreduce, bucketed, fusion, ring, tree, shm, "
              "fixed_order, adasum, gossip, rabenseifner]}\n");
    for (int i = 0; i < 2 * CURVES; i++)
        fake_add(&run, &(struct fake_launch){.ranks = i % 2 ? 4 : 2,
                                             .strategy = names[i / 2],
                                             .seed = 1,
                                             .step_ms = 20 + i});
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

/* At one rank nothing was measured of local_sgd; the base there has its own mark. */
static void a_base_marks_its_own_curve_only(void **state)
{
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

static void a_series_without_a_value_has_no_curve(void **state)
{
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
                (const char *const[]){">allreduce, nodes 1<",
                                      ">All skipped at 4 ranks; nodes 2 skipped at 2.<", NULL});
    char *svg = picture(run.dir, "time.svg", &size);
    assert_null(strstr(svg, ">allreduce, nodes 2<"));
    assert_null(strstr(svg, ">allreduce, nodes 4<"));
    free(svg);
    assert_int_equal(count_rows(run.dir, "time", "\"allreduce, nodes 4\"", 1), 0);
    summary_free(&s);
    fake_close(&run);
}

static void one_rank_count_draws(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: one\nmodel: lenet_21k\nranks: 2\n"
                    "train: {batch_per_rank: 16, accumulate: 4}\n");
    add(&run, 2, "allreduce", 20);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "time.txt",
                (const char *const[]){", 4 micro-batches of 16 images per rank", NULL});
    assert_says(run.dir, "time.svg", (const char *const[]){">allreduce<", ">2<", NULL});
    summary_free(&s);
    fake_close(&run);
}

/* Large numbers are abbreviated. Accuracy ends at 100 %, and a cut axis is marked. */
static void axes_fit_their_values(void **state)
{
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
    assert_says(run.dir, "bars.svg", (const char *const[]){">0<", ">10M<", ">20M<", NULL});
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
        assert_true((strstr(svg, ">test accuracy (%), axis from 97.5<") != NULL) == high);
        free(svg);
        summary_free(&s);
        fake_close(&run);
    }
}

/* Beyond 8 ranks axes are logarithmic; points beyond the cores are labelled. */
static void many_ranks_draw(void **state)
{
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

/* Two thousand points, a hundred of them with a value, in fifty curves. The picture holds those
 * that fit and states how many do not; the series file holds all. */
static void the_series_file_has_what_does_not_fit(void **state)
{
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
    fputs("]}\nmeasure.steps_csv: true\n", out);
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
                (const char *const[]){"do not fit: 14 curves of series_time.csv", NULL});
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

/* Runs a figure's script with `prints` instead of drawing. Returns the printed text, which the
 * caller frees. */
static char *work_out(const struct summary *s, const char *dir, const char *figure,
                      const char *prints)
{
    char command[256], path[256], script[4096], name[32];
    size_t size;
    struct error e = {.status = OK};
    snprintf(command, sizeof command, "rm -rf %s/plots && cp -r plots %s/plots", dir, dir);
    assert_int_equal(system(command), 0);
    snprintf(path, sizeof path, "%s/plots/draw.gp", dir);
    snprintf(script, sizeof script,
             "scale = 1\nsmall = ',6'\nset terminal unknown\ndo for [f in 'svg png'] {\n%s"
             "set print out.'.'.f\n%sunset print\n}\n",
             strcmp(figure, "speedup") == 0
                 ? "if (panel eq 'panels/over_ranks.gp') {\nload plots.'/'.panel\n}\n"
                 : "",
             prints);
    fake_write(path, script);
    snprintf(path, sizeof path, "%s/plots", dir);
    if (figures_draw(&(struct figures_run){s, dir, NULL}, 1, dir, path, FIGURES_PICTURES, &e) != OK)
        fail_msg("%s: %s", e.file, e.text);
    snprintf(name, sizeof name, "%.20s.svg", figure);
    return picture(dir, name, &size);
}

/* Returns the comparison value at x in a printed line. */
static double line_at(const char *points, double x)
{
    double x0 = NAN, y0 = NAN, x1, y1;
    for (; points != NULL; points = strchr(points, '\n') ? strchr(points, '\n') + 1 : NULL) {
        if (sscanf(points, "%lf,%lf", &x1, &y1) != 2)
            continue;
        if (x0 <= x && x <= x1)
            return x1 > x0 ? y0 + (y1 - y0) * (x - x0) / (x1 - x0) : y1;
        x0 = x1, y0 = y1;
    }
    return NAN;
}

/* Overlapping marks are a mark's width apart; others stay at their ranks. A value below the
 * ideal stays below its line. The caption mentions it. */
static void overlapping_marks_are_spread(void **state)
{
    double x[5], width;
    struct fake_run run;
    fake_open(&run, "name: spread\nscaling: strong\nmodel: lenet_21k\ntrain: {global_batch: 256}\n"
                    "matrix: {ranks: [1, 2, 4], sync.strategy: [none, allreduce]}\n"
                    "exclude: [{ranks: 1, sync.strategy: allreduce}]\n"
                    "baseline: {ranks: 1, sync.strategy: none}\n"
                    "figures: [speedup, {kind: line, name: step, y: step_ms}]\n");
    add(&run, 1, "none", 100);
    add(&run, 2, "none", 50.3);
    add(&run, 2, "allreduce", 50.5);
    add(&run, 4, "none", 27);
    add(&run, 4, "allreduce", 40);
    struct summary s = summarise(&run);
    char *text = work_out(&s, run.dir, "speedup",
                          "if (panel eq 'panels/over_ranks.gp') {\n"
                          "print x_at(1, 1), x_at(2, 1), x_at(2, 2), x_at(4, 1), x_at(4, 2), "
                          "room * axis_span\n"
                          "do for [i = 1:|$reference|] {\nprint $reference[i]\n}\n}\n");
    assert_int_equal(
        sscanf(text, "%lf %lf %lf %lf %lf %lf", &x[0], &x[1], &x[2], &x[3], &x[4], &width), 6);
    NEAR(x[0], 1);
    NEAR(x[1], 2 - width / 2);
    NEAR(x[2], 2 + width / 2);
    NEAR(x[3], 4);
    NEAR(x[4], 4);
    assert_true(width > 0 && width < 0.1);
    NEAR(line_at(text, x[1]), 2);
    NEAR(line_at(text, x[2]), 2);
    NEAR(line_at(text, 4), 4);
    free(text);
    text = work_out(&s, run.dir, "step", "print spread_marks\n");
    assert_string_equal(text, " 1@2=-0.5000; 2@2=0.5000;\n");
    free(text);
    assert_says(run.dir, "speedup.txt",
                (const char *const[]){"would hide each other are spread sideways.", NULL});
    summary_free(&s);
    fake_close(&run);
}

/* On an axis of large numbers, marks that are spread sideways stay between the ends of the axis. */
static void spread_marks_stay_on_the_axis(void **state)
{
    double pad, farthest, dots;
    struct fake_run run;
    fake_open(&run, "name: wide\nscaling: weak\nmodel: lenet_21k\ntrain: {batch_per_rank: 64}\n"
                    "matrix: {ranks: [2, 8], sync.strategy: [none, allreduce]}\n"
                    "figures: [{kind: line, name: step, x: global_batch, y: step_ms}]\n");
    add(&run, 2, "none", 50.3);
    add(&run, 2, "allreduce", 50.5);
    add(&run, 8, "none", 51.1);
    add(&run, 8, "allreduce", 51.2);
    struct summary s = summarise(&run);
    char *text = work_out(&s, run.dir, "step", "print pad, farthest, room * x_span\n");
    assert_int_equal(sscanf(text, "%lf %lf %lf", &pad, &farthest, &dots), 3);
    assert_true(farthest > 1 && dots > 0 && pad >= farthest + dots);
    free(text);
    summary_free(&s);
    fake_close(&run);
}

static void sizes_give_texts_their_room(void **state)
{
    static const char *const sizes[] = {"column", "slide", "page"};
    static const char *const letters[] = {"68\n", "68\n", "140\n"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char spec[256];
        struct fake_run run;
        snprintf(spec, sizeof spec,
                 "name: size\nmodel: lenet_21k\ntrain: {global_batch: 256}\nranks: 1\n"
                 "figures: [{kind: line, name: step, y: step_ms, size: %s}]\n",
                 sizes[i]);
        fake_open(&run, spec);
        add(&run, 1, "allreduce", 100);
        struct summary s = summarise(&run);
        char *text = work_out(&s, run.dir, "step", "print letters\n");
        assert_string_equal(text, letters[i]);
        free(text);
        summary_free(&s);
        fake_close(&run);
    }
}

/* A single mark has no line, in the picture and in the legend. */
static void single_marks_have_no_line(void **state)
{
    struct fake_run run;
    fake_open(&run, "name: single\nmodel: lenet_21k\ntrain: {global_batch: 256}\n"
                    "matrix: {ranks: [1, 2], sync.strategy: [allreduce, ring]}\n"
                    "figures: [{kind: line, name: step, y: step_ms, "
                    "where: ranks = 2 or sync.strategy = ring}]\n");
    add(&run, 1, "ring", 100);
    add(&run, 2, "ring", 50);
    add(&run, 2, "allreduce", 55);
    struct summary s = summarise(&run);
    char *text = work_out(&s, run.dir, "step", "print joins[1], joins[2], is_published(1)\n");
    assert_string_equal(text, "0 1 0\n");
    free(text);
    summary_free(&s);
    fake_close(&run);
}

/* Text wider than the picture continues in the next line; a number and its % stay together. */
static void texts_are_cut_at_blanks(void **state)
{
    static const char *const cases[][2] = {
        {"Median of 6 launches, 96.9 % intervals.", "Median of 6 launches,\n96.9 % intervals.\n"},
        {"short", "short\n"},
        {"a_word_that_is_longer_than_the_room and more",
         "a_word_that_is_longer_than_the_room\nand more\n"}};
    struct fake_run run;
    fake_open(&run, "name: wrap\nmodel: lenet_21k\ntrain: {global_batch: 256}\nranks: 1\n"
                    "figures: [time]\n");
    add(&run, 1, "allreduce", 100);
    struct summary s = summarise(&run);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char prints[256];
        snprintf(prints, sizeof prints, "text = '%s'\neval print_lines('text', 27)\n", cases[i][0]);
        char *text = work_out(&s, run.dir, "time", prints);
        assert_string_equal(text, cases[i][1]);
        free(text);
    }
    summary_free(&s);
    fake_close(&run);
}

/* Axes of shares end at 100. They begin at 0, or below the lowest launch and marked as broken. */
static void axes_of_shares_show_the_difference(void **state)
{
    static const struct {
        double low, from;
    } cases[] = {{98.58, 98.4}, {97, 96.5}, {90, 88}, {60, 50}, {49, 0}, {100, 99.4}, {3, 0}};
    struct fake_run run;
    fake_open(
        &run,
        "name: axes\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
        "matrix: {ranks: [1, 2]}\nfigures: [accuracy]\nmeasure: {accuracy: {seeds: [1, 2]}}\n");
    for (int i = 0; i < 4; i++)
        fake_add(&run, &(struct fake_launch){.ranks = 1 + i / 2,
                                             .strategy = "allreduce",
                                             .epochs = 1,
                                             .seed = (uint64_t)(1 + i % 2),
                                             .test_acc_pct = 97 + i});
    struct summary s = summarise(&run);
    char *text = work_out(&s, run.dir, "accuracy", "print broken.' '.y_title\n");
    assert_string_equal(text, "y test accuracy (%), axis from 96.5\n");
    free(text);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char prints[128];
        double from, step;
        snprintf(prints, sizeof prints, "print percent_from(%g), percent_step(percent_from(%g))\n",
                 cases[i].low, cases[i].low);
        text = work_out(&s, run.dir, "accuracy", prints);
        assert_int_equal(sscanf(text, "%lf %lf", &from, &step), 2);
        if (fabs(from - cases[i].from) > 1e-9)
            fail_msg("an axis of %g begins at %g", cases[i].low, from);
        NEAR((100 - from) / step, round((100 - from) / step));
        free(text);
    }
    summary_free(&s);
    fake_close(&run);
}

static void a_legend_names_only_drawn_curves(void **state)
{
    size_t size;
    struct fake_run run;
    fake_open(&run,
              "name: legend\nscaling: strong\nmodel: lenet_21k\ntrain: {global_batch: 64}\n"
              "matrix: {ranks: [2, 4]}\nbaseline: {ranks: 2}\nfigures: [speedup, breakdown]\n");
    add(&run, 2, "allreduce", 20);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "speedup.svg", (const char *const[]){">allreduce<", NULL});
    assert_says(run.dir, "breakdown.svg", (const char *const[]){">other<", NULL});
    char *speedup = picture(run.dir, "speedup.svg", &size);
    char *breakdown = picture(run.dir, "breakdown.svg", &size);
    assert_non_null(strstr(speedup, ">ideal"));
    assert_null(strstr(speedup, ">single launches<"));
    assert_null(strstr(breakdown, ">pack<"));
    free(speedup);
    free(breakdown);
    summary_free(&s);
    fake_close(&run);
}

static const char cases_text[] =
    "name: cases\nscaling: strong\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 2\n"
    "cases: [{label: zebra, sync.strategy: tree}, {label: ape, sync.strategy: ring}]\n"
    "figures: [{kind: line, shape: bars, name: cases, x: case, y: rss_mib, series: ranks, "
    "published: {file: %s, name: theirs, keys: [case = program], values: [rss_mib = mib]}}]\n";

static char *open_cases(struct fake_run *run, const char *dir)
{
    char path[128], *text;
    snprintf(path, sizeof path, "%s/theirs.csv", dir);
    fake_write(path, "program,mib\nkeras,1500\nlightning,900\n");
    assert_true(asprintf(&text, cases_text, path) > 0);
    fake_open(run, text);
    free(text);
    add(run, 2, "ring", 20);
    add(run, 2, "tree", 20);
    struct summary s = summarise(run);
    draw(&s, run->dir);
    summary_free(&s);
    snprintf(path, sizeof path, "%s/series_cases.csv", run->dir);
    return fake_read(path);
}

static void a_published_file_is_named_once(void **state)
{
    static const char text[] =
        "name: told\nscaling: strong\nmodel: lenet_21k\ntrain: {global_batch: 64}\nranks: 2\n"
        "sync.strategy: ring\nfigures: [{kind: line, shape: bars, name: told, x: ranks, y: "
        "rss_mib, "
        "published: [{file: %s, where: mib > 1000, keys: [ranks = p], values: [rss_mib = mib]}, "
        "{file: %s, where: mib < 1000, keys: [ranks = p], values: [rss_mib = mib]}]}]\n";
    char dir[] = "/tmp/theirs.XXXXXX", path[64], *spec;
    struct fake_run run;
    assert_non_null(mkdtemp(dir));
    snprintf(path, sizeof path, "%s/theirs.csv", dir);
    fake_write(path, "p,mib\n2,1500\n4,900\n");
    assert_true(asprintf(&spec, text, path, path) > 0);
    fake_open(&run, spec);
    add(&run, 2, "ring", 20);
    struct summary s = summarise(&run);
    draw(&s, run.dir);
    assert_says(run.dir, "told.txt",
                (const char *const[]){" Published values of the figure: theirs.csv.\n", NULL});
    free(spec);
    summary_free(&s);
    fake_close(&run);
    fake_remove_folder(dir);
}

/* Cases are in the order of the spec, not in the random order of launches. Published series
 * follow, under their own name only. */
static void cases_follow_the_order_of_the_spec(void **state)
{
    static const char *const rows[] = {",zebra,1,", ",ape,2,", ",keras,3,", ",lightning,4,"};
    char dir[] = "/tmp/theirs.XXXXXX";
    size_t size;
    struct fake_run run;
    assert_non_null(mkdtemp(dir));
    char *series = open_cases(&run, dir), *svg = picture(run.dir, "cases.svg", &size);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strstr(series, rows[i]) == NULL)
            fail_msg("no row has '%s':\n%s", rows[i], series);
    assert_non_null(strstr(svg, ">theirs<"));
    assert_null(strstr(svg, ">published<"));
    free(series);
    free(svg);
    fake_close(&run);
    fake_remove_folder(dir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_variant_has_its_own_line),
        cmocka_unit_test(each_compressor_has_its_own_line),
        cmocka_unit_test(many_curves_differ_in_colour_or_dash),
        cmocka_unit_test(a_base_marks_its_own_curve_only),
        cmocka_unit_test(a_series_without_a_value_has_no_curve),
        cmocka_unit_test(one_rank_count_draws),
        cmocka_unit_test(overlapping_marks_are_spread),
        cmocka_unit_test(spread_marks_stay_on_the_axis),
        cmocka_unit_test(sizes_give_texts_their_room),
        cmocka_unit_test(single_marks_have_no_line),
        cmocka_unit_test(texts_are_cut_at_blanks),
        cmocka_unit_test(axes_of_shares_show_the_difference),
        cmocka_unit_test(a_legend_names_only_drawn_curves),
        cmocka_unit_test(a_published_file_is_named_once),
        cmocka_unit_test(cases_follow_the_order_of_the_spec),
        cmocka_unit_test(axes_fit_their_values),
        cmocka_unit_test(many_ranks_draw),
        cmocka_unit_test(the_series_file_has_what_does_not_fit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
