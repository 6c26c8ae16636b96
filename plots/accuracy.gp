# Test accuracy over ranks: median of seeds and its interval.
load plots.'/style.gp'
load plots.'/over_ranks.gp'

if (said_y eq '') {
    eval percent_axis('y', lowest)
    y_title = y_title.cut_title(lowest)
    broken = percent_from(lowest) > 0 ? 'y' : ''
} else {
    eval said_y
}
load plots.'/draw.gp'
