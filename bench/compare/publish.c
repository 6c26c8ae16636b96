/* Makes a side of a comparison from published numbers, read from the file that the run's spec names
 * or from another file with the same columns. */
#include <math.h>

#include "bench/collect/published.h"
#include "bench/compare/side.h"
#include "bench/runner/run_spec.h"
#include "kernels/base/mem.h"

static enum status take_numbers(struct side *side, const struct side *run, const struct summary *s,
                                enum column_id column, struct error *e)
{
    TRY(MEM_NEW(side->points, s->n, "published numbers", e));
    TRY(MEM_NEW(side->values, s->n, "published numbers", e));
    for (size_t i = 0; i < s->n && i < run->n; i++) {
        struct side_point *p = &side->points[side->n++];
        double value = published_value(s, i, column);
        *p = run->points[i];
        p->exact = true;
        p->values = &side->values[i];
        p->work_us = NULL;
        p->disturbed = 0;
        p->n = isfinite(value) ? 1 : 0;
        side->values[i] = value;
    }
    return OK;
}

static enum status read_numbers(struct side *side, const struct side *run, const struct spec *spec,
                                const struct compared *what, struct error *e)
{
    struct summary s;
    enum status status = summary_read(&s, spec, run->path, e);
    if (status == OK && s.published->rows == 0)
        status = error_at(e, ERR_ARGUMENT, run->name, 0, 0,
                          "`published` needs published.file, which is missing in the spec of this "
                          "run. Name a CSV file instead of `published`");
    THEN(status, take_numbers(side, run, &s, what->published, e));
    summary_free(&s);
    return status;
}

static bool has_file(const struct spec *spec)
{
    return spec_input_find(spec, OPT_PUBLISHED_FILE,
                           config_text(&spec->config, OPT_PUBLISHED_FILE)) != NULL;
}

/* Loads the run's spec with published.file set to `published` (NULL: unchanged). */
static enum status load(struct spec *spec, const struct side *run, const char *published,
                        struct error *e)
{
    char set[PATH_BYTES];
    struct error inner = {.text = "file not found"};
    if (published == NULL)
        return run_spec_load(spec, run->path, NULL, e);
    TRY(path_format(set, e, "published.file=\"%s\"", published));
    enum status status = run_spec_load(spec, run->path, set, &inner);
    if (status == OK && has_file(spec))
        return OK;
    if (status != OK && status != ERR_SPEC) {
        *e = inner;
        return status;
    }
    return error_set(e, ERR_ARGUMENT,
                     "'%s' is neither a run nor a CSV file of published numbers for %s: %s. Give "
                     "the folder or the name of a run",
                     published, run->name, inner.text);
}

enum status side_publish(struct side *side, const char *name, const char *published,
                         const struct side *run, const struct compared *what, struct error *e)
{
    struct spec spec = {0};
    *side = (struct side){.name = name, .work_us = NAN};
    enum status status = load(&spec, run, published, e);
    THEN(status, read_numbers(side, run, &spec, what, e));
    spec_free(&spec);
    return status;
}
