#include "bench/spec/points/expand.h"

#include "bench/spec/matrix.h"
#include "bench/spec/nodes/compute.h"
#include "bench/spec/nodes/resolve.h"
#include "bench/spec/points/alike.h"
#include "bench/spec/points/points.h"
#include "kernels/base/mem.h"

/* Largest number of points. A point takes about 7 KiB, so all take at most 450 MiB. */
#define POINTS_MAX 65536

/* ---- The matrix ---- */

/* All combinations of axis values, for one case or a spec without cases. A case's axis replaces the
 * spec's axis with the same key. */
struct product {
    const struct matrix *of;
    struct config config; /* values of options that are not on an axis; borrowed */
    const struct axis *axes[OPTION_COUNT];
    /* index into `lengths` for each axis; axes of a zip share one index */
    size_t ways[OPTION_COUNT];
    size_t lengths[OPTION_COUNT]; /* [n_ways] number of values of each axis or zip */
    size_t n_axes, n_ways;
};

/* Returns whether a case hides the spec's batch option. If a case gives global_batch, the spec's
 * batch_per_rank does not apply, and vice versa. */
static bool is_displaced(const struct matrix *of, enum option_id id)
{
    return (id == OPT_GLOBAL_BATCH && matrix_gives(of, OPT_BATCH_PER_RANK)) ||
           (id == OPT_BATCH_PER_RANK && matrix_gives(of, OPT_GLOBAL_BATCH));
}

static void add_axis(struct product *product, const struct axis *axis)
{
    size_t i = product->n_axes++, way = product->n_ways;
    bool own = matrix_axis(product->of, axis->id) == axis;
    for (size_t k = 0; k < i && axis->zip > 0; k++) {
        const struct axis *other = product->axes[k];
        bool others = matrix_axis(product->of, other->id) == other;
        if (other->zip == axis->zip && own == others)
            way = product->ways[k];
    }
    product->axes[i] = axis;
    product->ways[i] = way;
    product->lengths[way] = axis->n;
    product->n_ways += way == product->n_ways;
}

/* Adds the axes of the spec and of the case. An axis of the case replaces the spec's axis with the
 * same key. The spec's axis is left out if the case gives a single value for its key, or hides the
 * key (is_displaced). */
static void add_axes(struct product *product, const struct matrix *all, const struct matrix *of)
{
    for (size_t i = 0; i < all->n_axes; i++) {
        enum option_id id = all->axes[i].id;
        if (of == all || !(matrix_gives(of, id) || is_displaced(of, id)))
            add_axis(product, &all->axes[i]);
        else if (matrix_axis(of, id) != NULL)
            add_axis(product, matrix_axis(of, id));
    }
    for (size_t i = 0; i < of->n_axes && of != all; i++)
        if (matrix_axis(all, of->axes[i].id) == NULL)
            add_axis(product, &of->axes[i]);
}

static void open_product(struct product *product, const struct spec *spec, const struct matrix *of)
{
    *product = (struct product){.of = of};
    config_borrow(&product->config, &spec->config);
    for (size_t i = 0; i < OPTION_COUNT; i++) {
        enum option_id id = (enum option_id)i;
        const struct value *own = &of->own.config.values[i];
        if (own->set)
            config_put(&product->config, id, own);
        else if (is_displaced(of, id) && !matrix_gives(of, id))
            config_put(&product->config, id, &spec->presets.values[i]);
    }
    add_axes(product, spec->matrix, of);
}

static enum status count_combinations(const struct product *product, size_t before, size_t *n,
                                      struct error *e)
{
    *n = 1;
    for (size_t i = 0; i < product->n_ways; i++)
        if ((*n *= product->lengths[i]) > POINTS_MAX)
            break;
    if (*n + before <= POINTS_MAX)
        return OK;
    struct mark mark =
        product->n_axes > 0 ? product->axes[product->n_axes - 1]->mark : product->of->mark;
    return mark_error(e, ERR_SPEC, mark,
                      "the matrix has more than %d combinations before `exclude`. Use fewer values",
                      POINTS_MAX);
}

/* Makes combination number `index`; the last axis varies fastest. */
static void combine(struct point *point, const struct product *product, size_t index)
{
    size_t at[OPTION_COUNT];
    for (size_t way = product->n_ways; way-- > 0;) {
        at[way] = index % product->lengths[way];
        index /= product->lengths[way];
    }
    *point = (struct point){.of = product->of};
    config_borrow(&point->config, &product->config);
    for (size_t i = 0; i < product->n_axes; i++)
        config_put(&point->config, product->axes[i]->id,
                   &product->axes[i]->values[at[product->ways[i]]]);
    point->case_name = product->of->label != NULL ? product->of->label : "";
}

static bool matches_any(struct selection *excludes, size_t n, const struct point *point)
{
    bool excluded = false;
    for (size_t i = 0; i < n; i++)
        if (selection_matches(&excludes[i], point)) {
            excludes[i].matches++;
            excludes[i].alone += !excluded;
            excluded = true;
        }
    return excluded;
}

static bool is_excluded(const struct spec *spec, const struct point *point)
{
    const struct matrix *all = spec->matrix, *of = point->of;
    bool excluded = matches_any(all->excludes, all->n_excludes, point);
    return (of != all && matches_any(of->excludes, of->n_excludes, point)) || excluded;
}

static enum status check_matches(const struct spec *spec, const struct matrix *of, struct error *e)
{
    bool open = false;
    for (size_t i = 0, next; i < of->n_excludes; i = next) {
        size_t matches = 0, alone = 0;
        open = open || selection_is_open(&of->excludes[i], spec);
        for (next = i; next == i || (next < of->n_excludes && of->excludes[next].goes_on); next++) {
            matches += of->excludes[next].matches;
            alone += of->excludes[next].alone;
        }
        if (matches == 0 && !selection_is_open(&of->excludes[i], spec))
            return mark_error(e, ERR_SPEC, of->excludes[i].mark,
                              "this exclude matches no point of the %s. Correct its values, or "
                              "leave it out",
                              of == spec->matrix ? "matrix" : "case");
        if (matches > 0 && alone == 0 && !open)
            return mark_error(
                e, ERR_SPEC, of->excludes[i].mark,
                "this exclude matches only points that earlier excludes match too. Leave it out");
    }
    return OK;
}

static enum status check_excludes(const struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix, *of = all;
    TRY(check_matches(spec, all, e));
    for (size_t i = 0; i < all->n_cases; i++) {
        TRY(check_matches(spec, &all->cases[i], e));
        of = of->n_excludes == 0 ? &all->cases[i] : of;
    }
    if (spec->n_points == 0)
        return mark_error(e, ERR_SPEC, of->excludes[0].mark,
                          "exclude leaves no point of the matrix");
    return OK;
}

/* Returns whether an earlier combination differs from this one only in options that the point does
 * not read. For example, allreduce does not read sync.cap_mib, so sync.cap_mib: [1, 25] gives one
 * point. */
static bool is_repeated(struct alike *seen, const struct product *product,
                        const struct point *point, const struct config *written,
                        const struct spec *spec)
{
    struct point plain = *point;
    bool unread = false, repeated = false;
    config_borrow(&plain.config, &point->config);
    for (size_t i = 0; i < product->n_axes; i++) {
        enum option_id id = product->axes[i]->id;
        if (config_uses(written, id))
            continue;
        config_put(&plain.config, id, &spec->presets.values[id]);
        unread = true;
    }
    if (unread) {
        point_identify(&plain, spec);
        repeated = *alike_of(seen, &plain) != ALIKE_NONE;
        alike_note_first(seen, &plain, 0);
    }
    config_free(&plain.config);
    return repeated;
}

/* Adds a combination unless it is excluded or repeats another one. */
static enum status add_combination(struct spec *spec, const struct product *product, size_t index,
                                   struct alike *seen, struct error *e)
{
    struct point *point = &spec->points[spec->n_points];
    struct config written;
    bool added = false;
    combine(point, product, index);
    config_borrow(&written, &point->config);
    enum status status = nodes_resolve_point(&point->config, spec, e);
    THEN(status, compute_resolve_point(&point->config, spec, e));
    if (config_is_simulated(&written) && !written.values[OPT_COMPUTE].set)
        config_put(&written, OPT_COMPUTE, &point->config.values[OPT_COMPUTE]);
    if (status == OK && !is_excluded(spec, point)) {
        point->requested = true;
        point_identify(point, spec);
        status = owned_note(spec, &written, product->of, e);
        added = status == OK && !is_repeated(seen, product, point, &written, spec);
    }
    spec->n_points += added;
    if (!added)
        config_free(&point->config);
    return status;
}

static enum status expand_case(struct spec *spec, const struct matrix *of, struct error *e)
{
    struct product product;
    struct alike *seen;
    size_t combinations;
    open_product(&product, spec, of);
    TRY(count_combinations(&product, spec->n_points, &combinations, e));
    TRY(points_grow(spec, combinations, e));
    TRY(alike_make(&seen, spec, NULL, combinations, e));
    enum status status = OK;
    for (size_t i = 0; i < combinations && status == OK; i++)
        status = add_combination(spec, &product, i, seen, e);
    alike_free(seen);
    return status;
}

static void forget_matches(struct matrix *of)
{
    for (size_t i = 0; i < of->n_excludes; i++)
        of->excludes[i].matches = 0;
}

static void forget_points(struct spec *spec)
{
    struct matrix *all = spec->matrix;
    while (spec->n_points > 0)
        config_free(&spec->points[--spec->n_points].config);
    spec->n_written = 0;
    forget_matches(all);
    for (size_t i = 0; i < all->n_cases; i++)
        forget_matches(&all->cases[i]);
}

static enum status expand_cases(struct spec *spec, struct error *e)
{
    const struct matrix *all = spec->matrix;
    forget_points(spec);
    if (all->n_cases == 0)
        TRY(expand_case(spec, all, e));
    for (size_t i = 0; i < all->n_cases; i++)
        TRY(expand_case(spec, &all->cases[i], e));
    return check_excludes(spec, e);
}

/* Expands all cases, and expands them again as long as owned_leave_out removes values that no point
 * reads. */
static enum status expand_matrix(struct spec *spec, struct error *e)
{
    bool trains = spec->config.values[OPT_ACCURACY_SEEDS].n > 0;
    for (bool again = true; again;) {
        TRY(expand_cases(spec, e));
        TRY(owned_leave_out(spec, &again, e));
    }
    const struct value *seeds = &spec->config.values[OPT_ACCURACY_SEEDS];
    if (trains && seeds->n == 0 && spec->config.values[OPT_TIME_LAUNCHES].number_hi == 0)
        return mark_error(e, ERR_SPEC, seeds->mark,
                          "nothing is measured: this value rules out accuracy runs at every point, "
                          "and measure.time.launches is 0. Use another value here, or set "
                          "measure.time.launches");
    return OK;
}

/* ---- All points ---- */

static enum status list_varying(struct spec *spec, struct error *e)
{
    TRY(MEM_NEW(spec->varying, OPTION_COUNT, "the points", e));
    for (size_t i = 0; i < OPTION_COUNT; i++)
        if (!option_is_derived((enum option_id)i) && option_differs(spec, (enum option_id)i, true))
            spec->varying[spec->n_varying++] = (enum option_id)i;
    return OK;
}

static enum status find_twins(struct spec *spec, struct error *e)
{
    TRY(alike_make(&spec->identities, spec, NULL, spec->n_points, e));
    for (size_t i = 0; i < spec->n_points; i++) {
        alike_note_first(spec->identities, &spec->points[i], i);
        spec->points[i].twin = *alike_of(spec->identities, &spec->points[i]);
        if (!config_calibrates(&spec->points[i].config))
            spec->points[spec->points[i].base_index].base = true;
    }
    return OK;
}

enum status expand_points(struct spec *spec, struct error *e)
{
    TRY(expand_matrix(spec, e));
    TRY(silent_add(spec, e));
    TRY(bases_choose(spec, e));
    TRY(bases_add(spec, e));
    TRY(bases_check(spec, e));
    TRY(calibrations_add(spec, e));
    TRY(partners_find(spec, e));
    TRY(find_twins(spec, e));
    TRY(labels_write(spec, e));
    return list_varying(spec, e);
}

size_t spec_find_point(const struct spec *spec, const char *id)
{
    size_t found = alike_find(spec->identities, id);
    return found == ALIKE_NONE ? spec->n_points : found;
}
