/* Finds the axis of an option in a matrix. Determines whether values come from a file or from
 * key=value words. */
#include "bench/spec/matrix.h"

const char *const words_files[WORDS_ORIGINS] = {[WORDS_QUICK] = "quick", [WORDS_SET] = "SET"};

bool mark_from_set(struct mark mark)
{
    for (int i = 0; i < WORDS_ORIGINS; i++)
        if (mark.file == words_files[i])
            return true;
    return false;
}

bool mark_same_layer(struct mark a, struct mark b)
{
    return a.file == b.file && (a.line == b.line || !mark_from_set(a));
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

int matrix_zips(const struct matrix *matrix)
{
    int most = 0;
    for (size_t i = 0; i < matrix->n_axes; i++)
        most = matrix->axes[i].zip > most ? matrix->axes[i].zip : most;
    return most;
}
