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

# Value and bounds of the current row, of one of the panels.
x_if(condition) = condition ? column('epoch') : NaN
has_bounds(k, name) = in_series(k) && has_value(name.'_lo') && column(name.'_hi') > column(name.'_lo')

set grid y linewidth 0.4 linecolor rgb '#d8d8d8' linetype 1
set ytics nomirror out scale 0.5
set xtics nomirror out scale 0.5 epochs_n > 12 ? ceil(epochs_n / 8.0) : 1
set xrange [0.7 : (epochs_n > 0 ? epochs_n : 1) + 0.3]
set autoscale y
set offsets 0, 0, graph 0.08, graph 0.08

load plots.'/draw.gp'
