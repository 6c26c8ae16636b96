/* What all parts of a matrix ask of it: which axis an option has, whether a SET gave it. */
#include "bench/spec/matrix.h"

const char matrix_set_file[] = "SET", matrix_quick_file[] = "quick";

bool mark_from_set(struct mark mark)
{
    return mark.file == matrix_set_file || mark.file == matrix_quick_file;
}

struct axis *matrix_axis(const struct matrix *matrix, enum option_id id)
{
    for (size_t i = 0; i < matrix->n_axes; i++)
        if (matrix->axes[i].id == id)
            return (struct axis *)&matrix->axes[i];
    return NULL;
}

bool matrix_gives(const struct matrix *matrix, enum option_id id)
{
    return matrix->own.config.values[id].set || matrix_axis(matrix, id) != NULL;
}
