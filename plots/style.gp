# What all figures share. bench/figures/figures.c assigns, before it loads the script of a figure:
#   plots, data, out             this folder; series_<figure>.csv; the path of the pictures without ending
#   dots_data, dots_n            dots_<figure>.csv, the launches behind each value; those of them that are drawn
#   scaling                      strong, weak, epoch or none
#   y_title                      of the axis that shows values
#   ranks, ranks_min, ranks_max  rank counts of the campaign: those with room for a label as words; least, greatest
#   seriesK_name                 K = 1..series_n: its legend
#   seriesK_bound                1: no result but a bound (ranks that do not communicate)
#   seriesK_origin               the curve in which its base stands, if that is another one; else 0. Then
#     _from, _from_value, _from_model, _to, _to_value, _to_model: ranks and value of the base and of its
#     own first point, and what the model says of them
#   idealK_slope, _ms            K = 1..ideal_n: cores a rank brings relative to the base; base's step
#   missingK_ranks, _nth, _text  K = 1..missing_n: points without a value; _nth tells those apart that
#                                stand at the same ranks
#   captionK                     K = 1..caption_n
#   caption_share                of the picture's height that it may take at most
#   values_n, published_n        points with a value of this figure; with a published one
#   model_n                      those that the model of time says something of
#   doubtful_n, oversubscribed_n points with a value that are not ok; that are oversubscribed
#   least, most                  of values and published ones, above 0; NaN: there are none
#   lowest                       of values, published ones and the ends of whiskers
#   percent_most                 what shares cannot exceed, 100; NaN: the quantity is none or may
#   nothing                      why there is no value; '' where there is
#   rows_n, epochs_n             bars; epochs
#   columns                      what the figure's row of figures.def says: as words
#   columnK_n                    of figures over epochs: values of the K-th of them
#
# The script of a figure loads this file, then the file of its kind (over_ranks.gp, by_point.gp), sets
# what it wants otherwise and loads draw.gp.

set encoding utf8
set datafile separator comma
set datafile columnheaders
set datafile missing NaN    # rows of other series do not break a line

load plots.'/palette.gp'
series_name(k) = value(sprintf('series%d_name', k))
series_dash(k) = dash(k, value(sprintf('series%d_bound', k)))

# What a script may set otherwise.
plot_height = 140.0                 # points
legend_n = series_n                 # entries of series in the legend
right = 8.0                         # margin, points
mark_colour = grey                  # of the published ones in the legend
ring_shape = 6                      # of oversubscribed ones there
model_tick = 0                      # the model is a tick across a bar there, else a line
reference_n = 0                     # lines to compare with
reference_name = ''

# Values too far apart for a linear axis: others ran on other machines. Ticks of a logarithmic one.
is_wide = most > 30 * least
log_marks = most > 2000 * least ? '1' : '1 2 5'
log_ticks(axis) = "set logscale ".axis."; unset ".axis."tics; set ".axis."tics nomirror out scale 0.5; ".\
        "set ".axis."tics ('' 1); do for [decade = -6:12] { do for [m in log_marks] { ".\
        "t = m * 10.0**decade; set ".axis."tics add (t < 1e4 ? sprintf('%g', t) : gprintf('%.0s%c', t) t) } }; "

# Large numbers on a linear axis from 0 are written 10.0M: their digits would run into each other.
big_ticks(axis) = most < 1e4 ? '' : "set format ".axis." '%.1s%c'; set ".axis."tics add ('0' 0)"

# The current row.
is_ok(k) = in_series(k) && strcol('status') eq 'ok'
is_solid(k) = is_ok(k) && strstrt(strcol('flags'), 'oversubscribed') == 0
has_value(name) = strlen(strcol(name)) > 0
has_bars(k) = in_series(k) && has_value('lo') && column('hi') > column('lo')
in_series(k) = column('curve') == k

set border 3 linewidth 0.6 linecolor rgb '#404040'
