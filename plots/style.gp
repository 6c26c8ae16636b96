# What all figures share. bench/collect/figures.c assigns, before it loads the script of a figure:
#   plots, csv, out              this folder; summary.csv; the path of the pictures without ending
#   scaling                      strong, weak, epoch or none
#   ranks, ranks_min, ranks_max  rank counts of the campaign: all as words, least, greatest
#   seriesK_name, _points        K = 1..series_n: its legend; identities of its points, base included
#   seriesK_bound                1: no result but a bound (ranks that do not communicate)
#   idealK_slope, _ms            K = 1..ideal_n: cores a rank brings relative to the base; base's step
#   missingK_ranks, _nth, _text  K = 1..missing_n: points without a value; _nth tells those apart that
#                                stand at the same ranks
#   captionK                     K = 1..caption_n
#   measured_n, compared_n       points with a step time, with a speed-up
#   doubtful_n, oversubscribed_n points with a time that are not ok; that are oversubscribed
#
# The script of a figure loads this file, sets its axes, defines
#   y_title                      of its axis
#   y(k), y_lo(k), y_hi(k)       value and bounds of the current row, of series k
#   interval                     a column that is empty where there are no bounds
#   values_n, nothing            points that it can show; what it says without any
#   missing_at                   height, from 0 to 1, for the names of points without a value
#   reference_n, reference(k, x), reference_name   lines to compare with
# and loads draw.gp.

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN    # rows of other series do not break a line

# Okabe and Ito's palette: told apart with any kind of colour vision, and by shape in grey print.
colours = '#0072B2 #D55E00 #009E73 #CC79A7 #E69F00 #56B4E9'
solid   = '7 5 9 13 11 15'
hollow  = '6 4 8 12 10 14'
pick(list, k) = word(list, (k - 1) % words(list) + 1)
shape(list, k) = int(pick(list, k))
grey = '#707070'

series_name(k) = value(sprintf('series%d_name', k))
series_dash(k) = value(sprintf('series%d_bound', k)) ? 2 : 1

# Up to 8 ranks the axis is linear, beyond it is logarithmic.
log_ranks = ranks_max > 8

# Series stand side by side, so that intervals at the same ranks do not hide each other.
aside(k) = series_n > 1 ? 0.014 * (k - (series_n + 1) / 2.0) : 0
x_of(k) = log_ranks ? column('ranks') * (ranks_max / real(ranks_min))**aside(k) \
    : column('ranks') + (ranks_max - ranks_min + 1) * aside(k)

# Of the current row: its place on the axis if it belongs to series k and is of this sort, else NaN.
in_series(k) = strstrt(value(sprintf('series%d_points', k)), strcol('point')) > 0
is_ok(k) = in_series(k) && strcol('status') eq 'ok'
is_solid(k) = is_ok(k) && strstrt(strcol('flags'), 'oversubscribed') == 0
has_bars(k) = in_series(k) && strlen(strcol(interval)) > 0 && y_hi(k) > y_lo(k)
x_ok(k) = is_ok(k) ? x_of(k) : NaN
x_bars(k) = has_bars(k) ? x_of(k) : NaN
x_solid(k) = is_solid(k) ? x_of(k) : NaN
x_hollow(k) = in_series(k) && !is_solid(k) ? x_of(k) : NaN
x_doubtful(k) = in_series(k) && !is_ok(k) ? x_of(k) : NaN

set border 3 linewidth 0.6 linecolor rgb '#404040'
set grid y linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
set ytics nomirror out scale 0.5
x_title = 'ranks (MPI processes)'

# The measured rank counts are the ticks.
set xtics nomirror out scale 0.5
set xtics (word(ranks, 1) real(word(ranks, 1)))
set for [k = 2:words(ranks)] xtics add (word(ranks, k) real(word(ranks, k)))
if (log_ranks) {
    set logscale x 2
    set xrange [ranks_min / 1.25 : ranks_max * 1.25]
} else {
    set xrange [ranks_min - 0.5 : ranks_max + 0.5]
}

# A linear axis from 0. It ends above its points.
linear_y = 'set yrange [0:*] noextend; set offsets 0, 0, graph 0.06, 0'

# A logarithmic axis, no wider than its points, with ticks at 1, 2 and 5 of each decade.
log_y = "set logscale y; unset ytics; set ytics nomirror out scale 0.5; set ytics ('' 1); ".\
        "do for [decade = -4:6] { do for [m in '1 2 5'] { t = m * 10.0**decade; ".\
        "set ytics add (sprintf('%g', t) t) } }; set autoscale yfix; ".\
        "set offsets 0, 0, graph 0.06, graph 0.06"
