# Speed-up in images per second over ranks, with the ideal line through the baseline.
load plots.'/style.gp'
load plots.'/over_ranks.gp'

reference(k, x) = word(ideal_slopes, k) * x
reference_n = ideal_n
reference_name = 'ideal, from the base'

if (scaling eq 'weak') {
    y_title = 'scaled '.y_title
}
if (log_ranks) {
    eval log_y
} else {
    eval linear_y
}

eval said_y
load plots.'/draw.gp'
