# Accuracy above, loss below; legend and caption are those of the upper one.
upper = (caption_height + axis_height + plot_height) / height
lower = (caption_height + axis_height) / height
middle = (upper + lower) / 2
gap = 6 / height

set multiplot
do for [quantity in 'test_acc train_loss'] {
    name = quantity eq 'test_acc' ? 'test_acc_pct' : quantity
    if (quantity eq 'test_acc') {
        set tmargin at screen upper
        set bmargin at screen middle + gap
        set format x ''
    } else {
        unset label
        unset arrow
        set tmargin at screen middle - gap
        set bmargin at screen lower
        set format x '%g'
    }
    eval 'set yrange [*:*'.(quantity eq 'test_acc' ? '<100' : '').']'
    set ytics nomirror out scale 0.5
    if ((quantity eq 'test_acc' ? accuracies_n : losses_n) == 0) {
        set yrange [0:1]
        unset ytics
        set label (nothing ne '' ? '' : quantity eq 'test_acc' ? 'no test accuracy' : 'no training loss') \
            at graph 0.5, graph 0.5 center textcolor rgb grey
    }
    set label (quantity eq 'test_acc' ? 'test accuracy (%)' : 'training loss') rotate center \
        at screen 7 / width, graph 0.5
    if (series_n == 0) {
        plot NaN
        continue
    }
    plot for [k = 1:series_n] data using (x_if(in_series(k))):(column(name)) with lines \
            linecolor rgb colour(k) linewidth 1 dashtype series_dash(k), \
        for [k = 1:series_n] data using (x_if(has_bounds(k, quantity))):(column(quantity.'_lo')): \
            (0):(column(quantity.'_hi') - column(quantity.'_lo')) with vectors \
            heads size graph 0.009, 90 nofilled linecolor rgb colour(k) linewidth 0.8, \
        for [k = 1:series_n] data using (x_if(in_series(k))):(column(name)) with points \
            linecolor rgb 'white' pointtype shape(solid, k) pointsize scale, \
        for [k = 1:series_n] data using (x_if(in_series(k) && !is_solid(k))):(column(name)) with points \
            linecolor rgb colour(k) pointtype shape(hollow, k) pointsize scale linewidth 1.5, \
        for [k = 1:series_n] data using (x_if(is_solid(k))):(column(name)) with points \
            linecolor rgb colour(k) pointtype shape(solid, k) pointsize scale, \
        for [k = 1:series_n] data using (x_if(in_series(k) && !is_ok(k))):(column(name)) with points \
            linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale linewidth 1.5
}
unset multiplot
