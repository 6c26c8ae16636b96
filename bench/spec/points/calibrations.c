/* Adds calibration points, whose timings replayed points use in place of computing. */
#include "bench/spec/nodes/compute.h"
#include "bench/spec/points/alike.h"
#include "bench/spec/points/points.h"

static enum status make_calibration(struct point *calibration, const struct spec *spec,
                                    const struct point *point, struct error *e)
{
    *calibration = (struct point){.of = point->of, .case_name = point->case_name};
    config_borrow(&calibration->config, &point->config);
    enum status status = compute_calibrate(&calibration->config, spec, e);
    if (status != OK)
        config_free(&calibration->config);
    else
        point_identify(calibration, spec);
    return status;
}

/* Sets calibration_index of points[i]. Appends the calibration point to spec->points if no equal
 * point exists. */
static enum status place_calibration(struct spec *spec, size_t i, struct alike *known,
                                     struct error *e)
{
    struct point calibration;
    TRY(make_calibration(&calibration, spec, &spec->points[i], e));
    size_t *found = alike_of(known, &calibration);
    if (*found != ALIKE_NONE) {
        config_free(&calibration.config);
    } else {
        *found = calibration.base_index = calibration.calibration_index = spec->n_points;
        spec->points[spec->n_points++] = calibration;
    }
    spec->points[i].calibration_index = *found;
    point_share(&spec->points[*found], &spec->points[i]);
    return OK;
}

enum status calibrations_add(struct spec *spec, struct error *e)
{
    size_t n = spec->n_points;
    struct alike *known;
    TRY(points_grow(spec, n, e));
    enum status status = alike_make(&known, spec, NULL, 2 * n, e);
    for (size_t i = 0; i < n && status == OK; i++) {
        spec->points[i].calibration_index = i;
        alike_note_first(known, &spec->points[i], i);
    }
    for (size_t i = 0; i < n && status == OK; i++)
        if (compute_is_calibrated(&spec->points[i].config))
            status = place_calibration(spec, i, known, e);
    alike_free(known);
    return status;
}
