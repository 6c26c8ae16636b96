#include "bench/compare/checks.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/base/file.h"
#include "bench/compare/operand.h"
#include "bench/runner/run_spec.h"
#include "bench/spec/foreign.h"
#include "bench/spec/matrix.h"
#include "bench/spec/pattern.h"
#include "kernels/base/mem.h"
#include "kernels/base/text.h"

static void free_check(struct check *check)
{
    free(check->text);
    condition_free(check->demand);
    condition_free(check->where);
    free(check->outcomes);
}

/* ---- Parsing ---- */

size_t check_find_where(const char *text)
{
    bool quoted = false;
    size_t i = 0;
    for (; text[i]; i++) {
        quoted = quoted != (text[i] == '"');
        if (!quoted && (i == 0 || isspace((unsigned char)text[i - 1])) &&
            strncmp(text + i, "where", 5) == 0 &&
            (text[i + 5] == '\0' || isspace((unsigned char)text[i + 5]) || text[i + 5] == '('))
            return i;
    }
    return i;
}

/* Parses one half of a condition, before or after `where`. `begin`: offset of this half, added to
 * the column of an error. */
static enum status parse_part(struct condition **part, const char *text, size_t begin,
                              struct error *e)
{
    if (condition_parse(part, text, e) == OK)
        return OK;
    return error_at(e, e->status, NULL, e->line, e->column + (int)begin, "%s", e->text);
}

static enum status parse(struct check *check, const char *text, struct error *e)
{
    size_t at = check_find_where(text), behind = at + strlen("where");
    check->text = strdup(text);
    char *demand = strndup(text, at);
    if (check->text == NULL || demand == NULL) {
        free(demand);
        return error_no_memory(e, "a condition");
    }
    enum status status = parse_part(&check->demand, demand, 0, e);
    if (text[at])
        THEN(status, parse_part(&check->where, text + behind, behind, e));
    free(demand);
    return status;
}

static enum status add_check(struct checking *c, const char *text, const char *file, int line,
                             struct error *e)
{
    for (size_t i = 0; i < c->n; i++)
        if (strcmp(c->checks[i].text, text) == 0)
            return error_at(e, ERR_ARGUMENT, file, line, 0,
                            "the condition '%s' is given twice. Leave one out", text);
    TRY(MEM_GROW(c->checks, c->n, "the conditions", e));
    c->checks[c->n] = (struct check){.file = file, .line = line};
    enum status status = parse(&c->checks[c->n++], text, e);
    if (status != OK)
        return error_at(
            e, status, file, file != NULL ? line : 0, e->column, "'%s': %s%s", text, e->text,
            strstr(text, " if ") != NULL ? "; use `where`, as in \"speedup > 1 where ranks = 2\""
                                         : "");
    return OK;
}

static char *trimmed(char *line)
{
    line += strspn(line, " \t");
    for (size_t n = strlen(line); n > 0 && isspace((unsigned char)line[n - 1]);)
        line[--n] = '\0';
    return line;
}

/* Reads one condition per line; skips empty lines and lines that begin with #. */
static enum status read_lines(struct checking *c, FILE *in, const char *path, struct error *e)
{
    char *line = NULL;
    size_t size = 0;
    enum status status = OK;
    for (int n = 1; status == OK && getline(&line, &size, in) >= 0; n++) {
        const char *text = trimmed(line);
        if (*text && *text != '#')
            status = add_check(c, text, path, n, e);
    }
    free(line);
    return status;
}

static enum status read_file(struct checking *c, const char *path, struct error *e)
{
    const char *why;
    FILE *in = file_open_stream(path, &why);
    if (in == NULL)
        return error_at(e, ERR_ARGUMENT, path, 0, 0, "cannot be read: %s", why);
    enum status status = read_lines(c, in, path, e);
    fclose(in);
    return status;
}

/* Advises quoting the condition if the shell split it into words, or seems to have treated its < or
 * > as a redirection. Otherwise keeps the error. */
static enum status explain_words(const struct check_request *request, struct error *e)
{
    char text[1024] = "";
    struct error why;
    struct check whole = {0};
    for (size_t i = 0; i < request->n_conditions; i++)
        text_join(text, sizeof text, " ", request->conditions[i]);
    bool is_one = request->n_conditions > 1 && parse(&whole, text, &why) == OK;
    free_check(&whole);
    if (is_one)
        return error_set(e, ERR_ARGUMENT,
                         "check: expected a condition in quotation marks, found separate words. "
                         "Use \"%s\"",
                         text);
    if (strpbrk(request->conditions[0], "=<> ") != NULL)
        return e->status;
    return error_set(e, ERR_ARGUMENT,
                     "check: expected a condition in quotation marks, found '%s'. Use \"%s >= "
                     "VALUE\"; without quotation marks, the shell treats > and < as redirections",
                     text, request->conditions[0]);
}

/* If the user typed a second run's name in place of a condition, replaces the error by a message
 * that names both runs. */
static enum status explain_run(const struct check_request *request, const char *condition,
                               struct error *e)
{
    char path[PATH_BYTES];
    struct error inner;
    if (operand_find(path, condition, request->out, request->home, &inner) != OK)
        return explain_words(request, e);
    return error_set(e, ERR_ARGUMENT,
                     "check: expected conditions after the run '%s', found another run, '%s'. "
                     "Check one run per command",
                     request->run, condition);
}

static enum status read_checks(struct checking *c, const struct check_request *request,
                               struct error *e)
{
    for (size_t i = 0; i < request->n_conditions; i++)
        if (add_check(c, request->conditions[i], NULL, 0, e) != OK)
            return explain_run(request, request->conditions[i], e);
    if (request->file != NULL)
        TRY(read_file(c, request->file, e));
    if (c->n == 0)
        return error_set(e, ERR_ARGUMENT,
                         "check: expected a condition, such as \"speedup >= 1.8 where ranks = 2\", "
                         "or --file with one condition per line");
    return OK;
}

/* ---- Outcomes ---- */

static bool is_unknown(const struct condition_value *value)
{
    return isnan(value->number) && (value->text == NULL || value->text[0] == '\0');
}

/* Like check_look_up, but a number that is missing or was measured only once gets an interval from
 * -infinity to infinity. */
static bool look_up_open(struct condition_value *value, const char *name, const void *point)
{
    bool known = check_look_up(value, name, point);
    bool missing = known && is_unknown(value) && check_is_number(point, name);
    if (missing)
        value->number = 0;
    if (missing || (!value->spread && check_is_single(point, name)))
        *value = check_anywhere(value);
    return known;
}

/* Returns whether the point lacks a value that the condition uses. If `numbers` is true, ignores
 * texts, since a text such as flags is often empty. */
static bool lacks_value(const struct check *check, const struct check_point *point, bool numbers)
{
    size_t n;
    const struct condition_term *terms = condition_terms(check->demand, &n);
    for (size_t i = 0; i < n; i++) {
        struct condition_value value = {.number = NAN};
        if (check_look_up(&value, terms[i].name, point) && is_unknown(&value) &&
            (!numbers || check_is_number(point, terms[i].name)))
            return true;
    }
    return false;
}

static enum check_outcome find_outcome(const struct check *check, const struct check_point *point)
{
    const struct side_point *p = &point->c->run.points[point->point];
    bool skipped = strcmp(p->status, point_status_names()[POINT_skipped]) == 0;
    enum condition_truth truth = condition_holds_throughout(check->demand, look_up_open, point);
    if (truth == CONDITION_TRUE)
        return CHECK_HOLDS;
    if (lacks_value(check, point, !skipped && !side_point_failed(p)))
        return CHECK_VIOLATED;
    return truth == CONDITION_FALSE && !lacks_value(check, point, false) ? CHECK_VIOLATED
                                                                         : CHECK_UNDECIDED;
}

enum { CHECK_VALUES = 200 };

/* Returns whether a comma-separated list contains a text. */
static bool is_listed(const char *list, const char *text)
{
    size_t length = strlen(text);
    for (const char *at = list; (at = strstr(at, text)) != NULL; at += length)
        if ((at == list || at[-1] == ' ') && (at[length] == '\0' || at[length] == ','))
            return true;
    return false;
}

/* Appends the values that a name has at the points of the run, each once: "; the run has strategy =
 * ring, tree". Leaves out values with an interval. Appends nothing if no value is left. */
static void add_values(char *text, size_t size, const struct checking *c, const char *name)
{
    char seen[CHECK_VALUES] = "";
    for (size_t i = 0; i < c->run.n; i++) {
        const struct check_point point = {c, i};
        struct condition_value value = {.number = NAN};
        char one[TEXT_NUMBER + 64];
        if (!check_look_up(&value, name, &point) || value.spread)
            continue;
        if (value.text != NULL && value.text[0] != '\0')
            snprintf(one, sizeof one, "%.80s", value.text);
        else
            text_real(one, value.number);
        if (!is_listed(seen, one))
            text_join(seen, sizeof seen, ", ", one);
    }
    if (seen[0] != '\0')
        snprintf(text + strlen(text), size - strlen(text), "; the run has %s = %s", name, seen);
}

/* Writes the run's values of each name in condition `where`, such as "; the run has ranks = 1, 2".
 * Used in the error that `where` matches no point. */
static void describe_values(char *text, size_t size, const struct checking *c,
                            const struct condition *where)
{
    size_t n;
    const struct condition_term *terms = condition_terms(where, &n);
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        bool again = false;
        for (size_t k = 0; k < i; k++)
            again |= strcmp(terms[k].name, terms[i].name) == 0;
        if (!again)
            add_values(text, size, c, terms[i].name);
    }
}

static enum status find_outcomes(struct check *check, const struct checking *c, struct error *e)
{
    size_t n = c->run.n, bases = 0;
    const struct check_point first = {c, 0};
    const struct check_names names = {check_look_up, &first, c->has_spec ? &c->spec : NULL, false,
                                      true};
    TRY(check_terms(check, &names, e));
    TRY(MEM_NEW(check->outcomes, n, "the outcomes of a check", e));
    for (size_t i = 0; i < n; i++) {
        const struct check_point point = {c, i};
        if (check->where != NULL && !condition_holds(check->where, check_look_up, &point))
            continue;
        check->points++;
        bases += check_is_base(&c->run.points[i]);
        check->outcomes[i] = find_outcome(check, &point);
        if (check->outcomes[i] > check->outcome)
            check->outcome = check->outcomes[i];
    }
    if (check->points == 0) {
        char values[4 * CHECK_VALUES];
        describe_values(values, sizeof values, c, check->where);
        return error_at(e, ERR_UNAVAILABLE, check->file, check->line, 0,
                        "'%s': the `where` matches no point of %s%s", check->text, c->run.name,
                        values);
    }
    return bases == check->points ? check_beside_bases(check, e) : OK;
}

/* Returns the index in the spec of the point with identity `id`. If several points have this
 * identity, prefers point `row`. */
static size_t point_of(const struct checking *c, size_t row, const char *id)
{
    return strcmp(c->spec.points[row].id, id) == 0 ? row : spec_find_point(&c->spec, id);
}

/* Finds each row's point in the spec by identity, since a user may have sorted the table. If the
 * table has no identities, or the spec lacks one of them, assumes that row i is point i. */
static enum status find_points(struct checking *c, struct error *e)
{
    int column = csv_table_find(&c->run.summary, "point");
    bool known = column >= 0;
    TRY(MEM_NEW(c->points, c->run.n, "the points of a run", e));
    for (size_t i = 0; i < c->run.n && known; i++) {
        c->points[i] = point_of(c, i, csv_table_cell(&c->run.summary, i, (size_t)column));
        known = c->points[i] < c->spec.n_points;
    }
    for (size_t i = 0; i < c->run.n && !known; i++)
        c->points[i] = i;
    return OK;
}

/* Loads the spec beside the tables, if any. Uses the spec only if it has one point per row. */
static enum status read_spec(struct checking *c, struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/spec.yaml", c->run.path));
    if (!path_exists(path))
        return OK;
    TRY(run_spec_load(&c->spec, c->run.path, NULL, e));
    c->has_spec = c->spec.n_points == c->run.n;
    return c->has_spec ? find_points(c, e) : OK;
}

/* Reads metrics.csv, which a run has only if a point has workload.metrics. Without the file, reads
 * nothing. */
static enum status read_metrics(struct checking *c, struct error *e)
{
    char path[PATH_BYTES];
    TRY(path_format(path, e, "%s/metrics.csv", c->run.path));
    if (!path_exists(path))
        return OK;
    TRY(csv_table_read(&c->metrics, path, e));
    return MEM_NEW(c->values, c->metrics.rows, "the values of a metric", e);
}

enum status check_read_table(struct checking *c, const char *path, struct error *e)
{
    static const char points[] = "/summary.csv";
    const char *slash = strrchr(path, '/');
    *c = (struct checking){.n = 0};
    TRY(path_format(c->run.path, e, "%.*s", (int)(slash != NULL ? slash - path : 0), path));
    TRY(csv_table_read(&c->run.summary, path, e));
    c->run.n = c->run.summary.rows;
    return slash != NULL && strcmp(slash, points) == 0 ? read_spec(c, e) : OK;
}

/* ---- Checks in a spec ---- */

/* Looks up a name in a condition before the run has tables. Sets *value to unknown. Returns whether
 * the name is an option, a metric or a column of summary.csv. */
static bool will_be_known(struct condition_value *value, const char *name, const void *spec)
{
    *value = (struct condition_value){.number = NAN};
    return config_option_find(&((const struct spec *)spec)->config, name) != NULL ||
           foreign_has_metric(spec, name) || check_column(name) != NULL;
}

static enum option_id option_of(const struct config *config, const char *name)
{
    const struct spec_option *option = config_option_find(config, name);
    return option != NULL ? option->id : column_option(name);
}

/* Returns whether the column is `case` or `kind`. The spec determines both, although neither is an
 * option. */
static bool is_of_spec(const char *name)
{
    enum column_id column = column_find(name);
    return column == COLUMN_case_name || column == COLUMN_kind;
}

/* Looks up a value that is known before the point runs: the point's kind, its case or one of its
 * options. `name`: key or column name. Returns false for other names. */
static bool look_up_before(struct condition_value *value, const char *name, const void *arg)
{
    const struct point *point = arg;
    enum option_id option = option_of(&point->config, name);
    if (column_find(name) == COLUMN_kind) {
        *value = (struct condition_value){.number = NAN, .text = config_kind(&point->config)};
        return true;
    }
    return point_look_up(
        value, option < OPTION_COUNT ? config_option(&point->config, option)->key : name, arg);
}

/* Returns whether the spec file alone determines at which points the condition holds, without a
 * measurement, a fact of this machine or --set. */
static bool is_settled(const struct condition *where, const struct spec *spec)
{
    size_t n;
    const struct condition_term *terms = condition_terms(where, &n);
    for (size_t i = 0; i < n; i++) {
        enum option_id option = option_of(&spec->config, terms[i].name);
        if (!is_of_spec(terms[i].name) &&
            (option == OPTION_COUNT || !spec_option_is_settled(spec, option)))
            return false;
    }
    return true;
}

static bool applies(const struct check *check, const struct point *point)
{
    return check->where == NULL || condition_holds(check->where, look_up_before, point);
}

static bool is_settled_where(const struct check *check, const struct spec *spec)
{
    return check->where == NULL || is_settled(check->where, spec);
}

/* Refuses a condition that the spec alone decides, or whose `where` matches no point, before hours
 * are spent on launches. */
static enum status check_points(const struct check *check, const struct spec *spec, struct error *e)
{
    if (is_settled(check->demand, spec))
        return error_set(e, ERR_ARGUMENT,
                         "'%s': this condition depends only on the spec, not on a measurement. Use "
                         "a measured value, such as step_ms < 25",
                         check->text);
    size_t points = 0, bases = 0;
    if (!is_settled_where(check, spec))
        return OK;
    for (size_t i = 0; i < spec->n_points; i++)
        if (applies(check, &spec->points[i])) {
            points++;
            bases += spec->points[i].base_index == i;
        }
    if (points == 0)
        return error_set(e, ERR_ARGUMENT,
                         "'%s': the `where` matches no point of the spec. Use a `where` that "
                         "matches some points",
                         check->text);
    return bases == points && !spec->is_recorded ? check_beside_bases(check, e) : OK;
}

static enum status check_before(const char *text, const struct spec *spec, bool open,
                                struct error *e)
{
    struct check check = {.text = NULL};
    struct error inner;
    enum status status = parse(&check, text, &inner);
    if (status != OK)
        error_set(e, status, "'%s': %s", text, inner.text);
    const struct check_names names = {will_be_known, spec, spec, open, !spec->is_recorded};
    THEN(status, check_terms(&check, &names, e));
    THEN(status, check_points(&check, spec, e));
    free_check(&check);
    return status;
}

static bool equal_but_blanks(const char *a, const char *b)
{
    a += strspn(a, " \t");
    b += strspn(b, " \t");
    return *a == *b && (*a == '\0' || equal_but_blanks(a + 1, b + 1));
}

/* Returns whether both checks apply to a common point. If the spec does not determine to which
 * points they apply, returns whether both have the same `where`. */
static bool have_common_point(const struct check *a, const struct check *b, const struct spec *spec)
{
    bool settled = is_settled_where(a, spec) && is_settled_where(b, spec);
    for (size_t i = 0; i < spec->n_points && settled; i++)
        if (applies(a, &spec->points[i]) && applies(b, &spec->points[i]))
            return true;
    return !settled && a->where != NULL && b->where != NULL &&
           equal_but_blanks(condition_text(a->where), condition_text(b->where));
}

/* Refuses two checks if no point can satisfy the conditions of both. */
static enum status check_contradiction(const struct check *a, const struct check *b,
                                       struct error *e)
{
    char *both, why[CONDITION_WHY];
    struct condition *c = NULL;
    if (asprintf(&both, "(%s) and (%s)", condition_text(a->demand), condition_text(b->demand)) < 0)
        return error_no_memory(e, "a condition");
    enum status status = condition_parse(&c, both, e);
    free(both);
    if (status == OK && !condition_decides(why, c))
        status = error_set(e, ERR_ARGUMENT,
                           "the conditions '%s' and '%s' contradict each other. Leave one out",
                           a->text, b->text);
    condition_free(c);
    return status;
}

static enum status check_pair(const char *first, const char *second, const struct spec *spec,
                              struct error *e)
{
    struct check a = {.text = NULL}, b = a;
    if (equal_but_blanks(first, second))
        return error_set(e, ERR_ARGUMENT, "the condition '%s' is given twice. Leave one out",
                         second);
    enum status status = parse(&a, first, e);
    THEN(status, parse(&b, second, e));
    if (status == OK && have_common_point(&a, &b, spec))
        status = check_contradiction(&a, &b, e);
    free_check(&a);
    free_check(&b);
    return status;
}

static enum status check_with_earlier(const struct value *texts, size_t i, const struct spec *spec,
                                      struct error *e)
{
    TRY(check_before(texts->texts[i], spec, !mark_from_set(texts->mark), e));
    for (size_t k = 0; k < i && !spec->is_recorded; k++)
        TRY(check_pair(texts->texts[k], texts->texts[i], spec, e));
    return OK;
}

enum status checks_check(const struct spec *spec, struct error *e)
{
    const struct value *texts = &spec->config.values[OPT_CHECKS];
    struct error inner;
    for (size_t i = 0; i < texts->n; i++)
        if (check_with_earlier(texts, i, spec, &inner) != OK)
            return mark_error(e, ERR_SPEC, texts->mark, "%s: %s", option_get(OPT_CHECKS)->key,
                              inner.text);
    return OK;
}

static enum status find_run(char path[PATH_BYTES], const struct check_request *request,
                            struct error *e)
{
    const char *run = request->run;
    if (strpbrk(run, "<>=") != NULL && !path_exists(run))
        return error_set(e, ERR_ARGUMENT,
                         "check: expected RUN before the conditions, found the condition '%s'",
                         run);
    return operand_find(path, run, request->out, request->home, e);
}

enum status check_run(struct checking *c, const struct check_request *request, struct error *e)
{
    char path[PATH_BYTES];
    const struct compared *what;
    *c = (struct checking){.n = 0};
    TRY(find_run(path, request, e));
    TRY(read_checks(c, request, e));
    TRY(compared_find(&what, "step_ms", e));
    TRY(side_read(&c->run, request->run, path, what, e));
    TRY(read_metrics(c, e));
    TRY(read_spec(c, e));
    if (c->run.n == 0)
        return error_at(e, ERR_UNAVAILABLE, c->run.path, 0, 0, "the run has no points");
    for (size_t i = 0; i < c->n; i++) {
        TRY(find_outcomes(&c->checks[i], c, e));
        c->outcomes[c->checks[i].outcome]++;
    }
    return OK;
}

void check_free(struct checking *c)
{
    for (size_t i = 0; i < c->n; i++)
        free_check(&c->checks[i]);
    free(c->checks);
    free(c->points);
    csv_table_free(&c->metrics);
    free(c->values);
    side_free(&c->run);
    spec_free(&c->spec);
    *c = (struct checking){.n = 0};
}
