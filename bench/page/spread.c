#include "bench/page/spread.h"

#include <math.h>
#include <string.h>

#include "bench/page/html.h"
#include "bench/spec/value.h"
#include "kernels/base/text.h"

enum { NO_COLUMN = -1 };

/* The columns of one quantity. */
struct quantity_columns {
    const char *name;
    int value, lo, hi, published;
};

static bool ends_with(const char *text, const char *end)
{
    size_t length = strlen(text), own = strlen(end);
    return length >= own && strcmp(text + length - own, end) == 0;
}

static bool is_lower_end(const char *name)
{
    return strcmp(name, "lo") == 0 || ends_with(name, "_lo") || strstr(name, "_lo_") != NULL;
}

/* Those whose interval begins in column `lo`; series files have its end, and what was published, behind
 * it. */
static struct quantity_columns columns_at(const struct csv_table *table, size_t lo,
                                          const char *value)
{
    const char *name = table->names[lo - 1];
    bool published = lo + 2 < table->columns && ends_with(table->names[lo + 2], "published");
    return (struct quantity_columns){.name = strcmp(name, "value") == 0 ? value : name,
                                     .value = (int)lo - 1,
                                     .lo = (int)lo,
                                     .hi = (int)lo + 1,
                                     .published = published ? (int)lo + 2 : NO_COLUMN};
}

static const char *quantity_title(const char *name)
{
    static const struct {
        const char *name, *title;
    } quantities[] = {
#define QUANTITY(name, title, ...) {#name, title},
#include "bench/spec/quantities.def"
    };
    for (size_t i = 0; i < sizeof quantities / sizeof *quantities; i++)
        if (strcmp(quantities[i].name, name) == 0)
            return quantities[i].title;
    return name;
}

static double number_at(const struct csv_table *table, size_t row, int column)
{
    double x;
    const char *cell = column >= 0 ? csv_table_cell(table, row, (size_t)column) : "";
    return *cell && number_parse(cell, &x) ? x : NAN;
}

static struct interval interval_at(const struct csv_table *table, size_t row,
                                   const struct quantity_columns *columns)
{
    return (struct interval){.lo = number_at(table, row, columns->lo),
                             .mid = number_at(table, row, columns->value),
                             .hi = number_at(table, row, columns->hi)};
}

/* ---- Telling ---- */

/* "(ranks=2 allreduce, epoch 5)", of what is not over ranks with its place on the axis. */
static void write_place(FILE *out, const struct csv_table *table, size_t row)
{
    int label = csv_table_find(table, "label"), x = csv_table_find(table, "x");
    fputs(" (", out);
    if (label >= 0)
        html_text(out, csv_table_cell(table, row, (size_t)label));
    if (x > 0 && strcmp(table->names[x - 1], "flags") != 0) {
        fputs(", ", out);
        html_text(out, table->names[x - 1]);
        fputc(' ', out);
        html_text(out, csv_table_cell(table, row, (size_t)x - 1));
    }
    fputc(')', out);
}

static void write_value(FILE *out, const struct csv_table *table, size_t row,
                        const struct interval *value)
{
    char text[TEXT_INTERVAL];
    fputs(text_interval(text, value, 4), out);
    write_place(out, table, row);
}

static const char *meeting(const struct interval *least, const struct interval *greatest)
{
    if (!(isfinite(least->hi) && isfinite(greatest->lo)))
        return "without intervals nothing more is said of them";
    return least->hi < greatest->lo ? "their intervals do not meet"
                                    : "their intervals meet, which leaves open whether they differ";
}

/* The rows of the least and the greatest value, of those alone that have an interval where `whole`; how
 * many there are. */
static size_t find_extremes(const struct csv_table *table, const struct quantity_columns *columns,
                            bool whole, size_t *low, size_t *high)
{
    size_t n = 0;
    for (size_t row = 0; row < table->rows; row++) {
        struct interval value = interval_at(table, row, columns);
        if (!isfinite(value.mid) || (whole && !(isfinite(value.lo) && isfinite(value.hi))))
            continue;
        *low = n == 0 || value.mid < number_at(table, *low, columns->value) ? row : *low;
        *high = n == 0 || value.mid > number_at(table, *high, columns->value) ? row : *high;
        n++;
    }
    return n;
}

/* What has no interval, as the base of a speed-up, stands back where two rows have one. */
static bool write_extremes(FILE *out, const struct csv_table *table,
                           const struct quantity_columns *columns)
{
    size_t low = 0, high = 0;
    if (find_extremes(table, columns, true, &low, &high) < 2 &&
        find_extremes(table, columns, false, &low, &high) < 2)
        return false;
    if (low == high)
        return false;
    struct interval least = interval_at(table, low, columns);
    struct interval greatest = interval_at(table, high, columns);
    fputs("<p class=\"finding\"><strong>", out);
    html_text(out, quantity_title(columns->name));
    fputs("</strong> from ", out);
    write_value(out, table, low, &least);
    fputs(" to ", out);
    write_value(out, table, high, &greatest);
    fprintf(out, "; %s.</p>\n", meeting(&least, &greatest));
    return true;
}

/* Published numbers count as exact. */
static struct interval ratio_at(const struct csv_table *table, size_t row,
                                const struct quantity_columns *columns)
{
    struct interval ratio = interval_at(table, row, columns);
    double published = number_at(table, row, columns->published);
    bool positive = published > 0;
    ratio.lo = positive ? ratio.lo / published : NAN;
    ratio.mid = positive ? ratio.mid / published : NAN;
    ratio.hi = positive ? ratio.hi / published : NAN;
    return ratio;
}

static bool write_ratios(FILE *out, const struct csv_table *table,
                         const struct quantity_columns *columns)
{
    size_t n = 0, low = 0, high = 0, holds = 0, known = 0;
    for (size_t row = 0; row < table->rows; row++) {
        struct interval ratio = ratio_at(table, row, columns);
        if (!isfinite(ratio.mid))
            continue;
        low = n == 0 || ratio.mid < ratio_at(table, low, columns).mid ? row : low;
        high = n == 0 || ratio.mid > ratio_at(table, high, columns).mid ? row : high;
        known += isfinite(ratio.lo) && isfinite(ratio.hi);
        holds += ratio.lo <= 1 && ratio.hi >= 1;
        n++;
    }
    if (n == 0)
        return false;
    struct interval least = ratio_at(table, low, columns), most = ratio_at(table, high, columns);
    fputs("<p class=\"finding\"><strong>Beside published numbers</strong>, ", out);
    html_text(out, quantity_title(columns->name));
    fputs(": measured / published from ", out);
    write_value(out, table, low, &least);
    fputs(" to ", out);
    write_value(out, table, high, &most);
    if (known > 0)
        fprintf(out, "; 1 lies in %zu of %zu intervals", holds, known);
    fputs(known > 0 ? ".</p>\n" : "; without intervals nothing more is said of them.</p>\n", out);
    return true;
}

bool spread_write(FILE *out, const struct csv_table *table, const char *value, bool published)
{
    bool told = false;
    for (size_t c = 1; c + 1 < table->columns; c++) {
        if (!is_lower_end(table->names[c]))
            continue;
        struct quantity_columns columns = columns_at(table, c, value);
        told = write_extremes(out, table, &columns) || told;
        told = (published && write_ratios(out, table, &columns)) || told;
    }
    return told;
}
