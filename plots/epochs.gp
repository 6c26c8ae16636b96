# Test accuracy and training loss by epoch: a curve a point, median of its seeds and the interval.
load plots.'/style.gp'
panel = 'epochs_panel.gp'
plot_height = 210.0
x_title = 'epoch'
y_title = ''

# Columns of epochs.csv, of shares without their unit; what a panel calls them.
is_share(name) = strstrt(name, '_pct') > 0
stem_of(name) = is_share(name) ? name[1:strstrt(name, '_pct') - 1] : name
title_of(stem) = stem eq 'test_acc' ? 'test accuracy' : stem eq 'train_acc' ? 'training accuracy' \
    : stem eq 'test_loss' ? 'test loss' : stem eq 'train_loss' ? 'training loss' : stem

# Value and bounds of the current row, of one of the panels. Curves stand a little aside at an epoch.
room = 0.25 / (series_n > 0 ? series_n : 1)
room = room < 0.015 * (epochs_n + 0.6) ? room : 0.015 * (epochs_n + 0.6)
aside(k) = room * (k - (series_n + 1) / 2.0)
x_if(k, condition) = condition ? column('epoch') + aside(k) : NaN
has_bounds(k, name) = in_series(k) && has_value(name.'_lo') && column(name.'_hi') > column(name.'_lo')

# The least that a panel shows, of values and their bounds.
least_of(name, stem) = has_value(stem.'_lo') ? column(stem.'_lo') : column(name)
from_y = ''
do for [i = 1:words(columns)] {
    name = word(columns, i)
    lowest = NaN
    if (value(sprintf('column%d_n', i)) > 0) {
        stats data using (strlen(strcol('curve')) > 0 ? least_of(name, stem_of(name)) : NaN) name 'LEAST' nooutput
        lowest = LEAST_min
    }
    from_y = from_y.sprintf(' %.10g', is_share(name) ? percent_from(lowest) : 0)
}

set grid y linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
set ytics nomirror out scale 0.5
set xtics nomirror out scale 0.5 epochs_n > 12 ? ceil(epochs_n / 8.0) : 1
set xrange [0.7 : (epochs_n > 0 ? epochs_n : 1) + 0.3]

load plots.'/draw.gp'
