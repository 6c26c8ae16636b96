# Values over any quantity: one curve per series of series_<figure>.csv, or bars side by side, with one panel per quantity.
# bench/figures assigns the variables that style.gp lists, and:
#   x_name                       name of x
#   x_option                     1: x is an option of points; 0: a column, as epoch
#   names_n, nameK               names of the values 1 .. names_n of x; 0: x has numbers
#   class_names                  names of the values 0, 1, ..., as words; '': none
shown = columns
has_stems = 1
load plots.'/style.gp'
panel = 'panels/line.gp'
is_beside(row) = strcol('kind') ne 'published'
is_joined(row) = 1
x_column = 'x'
load plots.'/curves.gp'
plot_height = words(columns) > 1 ? 105.0 * words(columns) : 140.0
x_title = x_name
y_title = ''
as_bars = shape_of eq 'bars'
if (as_bars) {
    colours = colours.more_colours
    darks = darks.more_darks
}
ring_shape = as_bars ? 4 : ring_shape

# Bounds of the current row.
has_bounds(k, name) = in_series(k) && has_value(name.'_lo') && column(name.'_hi') > column(name.'_lo')
is_published(k) = !is_ours[k]
legend_mark(k) = is_published(k) ? published_shape : as_bars ? 5 : shape(solid, k)
legend_dash(k) = is_published(k) ? 3 : series_dash(k)
legend_line(k) = by_place ? 0 : joins[k]

# Places bars and names at 1, 2, 3 ...; numbers at their values, series side by side.
by_place = as_bars || names_n > 0
ticks_n = by_place || class_names ne '' || x_n <= 24 ? x_n : 0
place_of(x) = by_place && ticks_n > 0 ? (sum [i = 1:ticks_n] (x_values[i] <= x ? 1 : 0)) : x
log_x = !by_place && x_min > 0 && (x_scale eq 'log' || \
    (x_scale eq 'auto' && x_option && x_max >= (x_name[1:5] eq 'ranks' ? 9 : 8 * x_min)))
# Puts the bars of a place side by side; published values without a bar are in the middle.
bars_n = series_n > 0 ? (sum [i = 1:series_n] (is_published(i) ? 0 : 1)) : 0
published_alone = as_bars && y_scale ne 'log' && series_n - bars_n == 1
present = ''
stand(k, x) = (present = present.sprintf(' %d@%.10g;', k, x), 0)
if (as_bars) {
    stats data using (is_drawn(0) ? stand(column('curve'), column('x')) : 0) nooutput
}
has_bar(k, x) = strstrt(present, sprintf(' %d@%.10g;', k, x)) > 0 && !(published_alone && is_published(k))
bars_at(x, k) = sum [i = 1:k] has_bar(i, x)
bar_aside(k, x) = has_bar(k, x) ? bar * (bars_at(x, k) - (bars_at(x, series_n) + 1) / 2.0) : 0
bars_n = 1
do for [t = 1:as_bars ? ticks_n : 0] {
    here = series_n > 0 ? bars_at(x_values[t], series_n) : 0
    bars_n = here > bars_n ? here : bars_n
}
bar = bars_n > 1 ? 0.8 / bars_n : 0.6
x_span = by_place ? ticks_n : x_max - x_min + 1
room = room_within(0.25 / (x_n > 0 ? x_n : 1))
aside(k) = as_bars ? bar_aside(k, column('x')) : (log_x ? room : room * x_span) * spread_of(k, column('x'))
x_of(k) = log_x ? column('x') * (x_max / real(x_min))**aside(k) : place_of(column('x')) + aside(k)
x_if(condition, k) = condition ? x_of(k) : NaN

is_log(i) = y_scale eq 'log' || (y_scale eq 'auto' && words(columns) == 1 && x_option && is_wide \
    && value(sprintf('column%d_most', i)) != 100)
title_of(i) = value(sprintf('column%d_title', i)).(is_log(i) ? log_note : '')
# Breaks titles that are longer than their panel into two lines.
panel_height = plot_height / words(columns)
do for [i = 1:words(columns)] {
    title_room_of = is_long(title_of(i), panel_height + (words(columns) > 1 ? 0 : 40)) ? 9.0 : 0
    left = title_room_of > 0 ? 57.0 : left
}
whisker = 0.4 * bar / (x_span + 0.2)
whisker = as_bars && whisker < 0.011 ? whisker : 0.011

legend_colour(k) = !is_published(k) ? colour(k) : as_bars ? '#202020' : dark(k)
edge(k) = as_bars ? '#202020' : legend_colour(k)    # of published values
whisker_of(k) = as_bars ? whisker_colour : dark(k)

# Places single launches side by side in their order, as wide as a bar or the place of their series. If they would hide
# each other, they are left out, as are marks except at the ends of curves.
crowded = x_n > 48 || x_n * series_n > 250
dots_most = 1500
mark_scale = x_n > 24 ? 0.6 : 1
is_marked(row) = !crowded || column('x') == x_max
if (crowded || dots_n > dots_most) {
    dots_n = 0
}
# Draws bounds as a band, since whiskers would hide the curves.
bands = crowded && !by_place
dots_room = as_bars ? 0.7 * bar : log_x ? room : room * x_span
x_dot(k, name) = in_series(k) && strcol('y') eq name \
    ? (log_x ? x_of(k) * (x_max / real(x_min))**(dots_room * nth_aside(0)) : x_of(k) + dots_room * nth_aside(0)) : NaN

# Start of each panel's axis: just below the lowest share, 0 for others. Its approximate end, and the end of the drawn
# values: a share may exceed 100 % by the resolution of clocks.
least_of(name, stem) = has_value(stem.'_lo') ? column(stem.'_lo') : has_value(name) ? column(name) \
    : has_value(stem.'_published') ? column(stem.'_published') : NaN
most_row(name, stem) = has_value(stem.'_hi') ? column(stem.'_hi') : has_value(name) ? column(name) \
    : has_value(stem.'_published') ? column(stem.'_published') : NaN
note_ends(name, stem) = (lowest = lower(least_of(name, stem), lowest), greatest = higher(least_of(name, stem), greatest), \
    topmost = higher(most_row(name, stem), topmost), \
    best = higher(has_value(name) ? column(name) : NaN, best), \
    best = higher(has_value(stem.'_published') ? column(stem.'_published') : NaN, best), 0)
array is_empty[words(columns)]       # 1: no row has a value of the column; 2: none above 0 on a log axis
from_y = ''
to_y = ''
top_y = ''
do for [i = 1:words(columns)] {
    lowest = greatest = topmost = best = NaN
    stats data using (is_drawn(0) ? note_ends(word(columns, i), stem_of(word(columns, i))) : 0) nooutput
    is_empty[i] = topmost != topmost ? 1 : is_log(i) && !(best > 0) ? 2 : 0
    if (dots_n > 0) {
        stats dots_data using (is_drawn(0) && strcol('y') eq word(columns, i) \
            && column('value') < lowest ? (lowest = column('value'), 0) : 0) nooutput
    }
    to_y = to_y.sprintf(' %.10g', is_empty[i] ? 0 : greatest)
    top_y = top_y.sprintf(' %.10g', is_empty[i] ? 0 : topmost)
    # A percentage below 0 is a difference, not a share.
    from_y = from_y.sprintf(' %.10g', lowest < 0 ? -1 \
        : value(sprintf('column%d_most', i)) == 100 && !as_bars ? percent_from(lowest) : 0)
}

# Room for two title lines beside ticks such as 200.0k.
do for [i = 1:words(columns)] {
    left = left > 48 && real(word(to_y, i)) >= 1e4 && value(sprintf('column%d_most', i)) != 100 ? 66.0 : left
}

# Draws a published value that belongs to several series once, in their middle.
told = ''
shared = ''
published_key(i, stem) = sprintf(' %d:%.10g@%.10g;', i, column('x'), column(stem.'_published'))
has_theirs(stem) = is_drawn(0) && is_beside(0) && has_value(stem.'_published')
tell(key) = strstrt(told, key) > 0 ? (shared = shared.key, 0) : (told = told.key, 0)
do for [i = 1:words(columns)] {
    stem = stem_of(word(columns, i))
    stats data using (has_theirs(stem) ? tell(published_key(i, stem)) : 0) nooutput
}
is_shared(i, stem) = has_theirs(stem) && strstrt(shared, published_key(i, stem)) > 0
x_shared(i, stem) = is_shared(i, stem) ? place_of(column('x')) : NaN

set grid y linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
set xtics nomirror out scale 0.5 noenhanced
listed = !by_place && x_option && ticks_n > 0 && ticks_n < 9
x_format = '%g'
label_of(i) = class_names ne '' ? word(class_names, int(x_values[i]) + 1) : names_n > 0 ? value(sprintf('name%d', int(x_values[i]))) : sprintf('%g', x_values[i])
widest = 0
do for [i = 1:ticks_n] {
    widest = strlen(label_of(i)) > widest ? strlen(label_of(i)) : widest
}
if (by_place && ticks_n > 0) {
    set xrange [0.4 : ticks_n + 0.6]
    set xtics ()
    do for [i = 1:ticks_n] {
        set xtics add (label_of(i) i)
    }
    if (widest * ticks_n > 44) {
        set xtics rotate by 25 right
        axis_height = 24 + 1.9 * widest
    }
} else {
    if (log_x) {
        # Counts of ranks and batches get powers of two; larger quantities, such as parameters, get decades.
        has_decades = !listed && x_max >= 1e4 && x_max >= 100 * x_min
        set logscale x has_decades ? 10 : 2
        x_format = has_decades ? '%.0s%c' : x_format
        set xrange [x_min / 1.25 : x_max * 1.25]
    } else {
        pad = x_option ? 0.5 : x_n > 24 ? 0.02 * (x_max - x_min) : 0.3
        # Points and dots that are spread sideways stay inside.
        farthest = 0
        stats data using (is_drawn(0) ? (farthest = higher(abs(aside(column('curve'))), farthest), 0) : 0) nooutput
        pad = farthest > 0 ? higher(farthest + room * x_span, pad) : pad
        set xrange [x_min - pad : x_max + pad]
    }
    if (listed) {
        set xtics ()
        do for [i = 1:ticks_n] {
            set xtics add (label_of(i) x_values[i])
        }
    }
    if (!x_option && x_max - x_min < 12) {
        set xtics 1
    }
}

load plots.'/draw.gp'
