# A panel a column, one above the other; legend and caption are those of the upper one.
upper = (caption_height + axis_height + plot_height) / height
lower = (caption_height + axis_height) / height
share = (upper - lower) / words(columns)
gap = 6 / height

set multiplot
do for [i = 1:words(columns)] {
    name = word(columns, i)
    quantity = stem_of(name)
    if (i > 1) {
        unset label
        unset arrow
    }
    set tmargin at screen upper - (i - 1) * share - (i > 1 ? gap : 0)
    set bmargin at screen upper - i * share + (i < words(columns) ? gap : 0)
    set format x (i < words(columns) ? '' : '%g')
    from = real(word(from_y, i))
    set ytics nomirror out scale 0.5 autofreq
    if (is_share(name)) {
        set offsets 0, 0, 0, 0
        set yrange [from:100]
        set ytics from, percent_step(from), 100
    } else {
        set offsets 0, 0, graph 0.08, 0
        set yrange [0:*] noextend
    }
    if (from > 0) {
        eval break_axis('y')
    }
    if (value(sprintf('column%d_n', i)) == 0) {
        set yrange [0:1]
        unset ytics
        set label (nothing ne '' ? '' : 'no '.title_of(quantity)) \
            at graph 0.5, graph 0.5 center textcolor rgb grey
    }
    set label title_of(quantity).(is_share(name) ? ' (%)' : '') rotate center \
        at screen 7 / width, graph 0.5
    if (series_n == 0) {
        plot NaN
        continue
    }
    plot for [k = 1:series_n] data using (x_if(k, in_series(k))):(column(name)) with lines \
            linecolor rgb colour(k) linewidth 1 dashtype series_dash(k), \
        for [k = 1:series_n] data using (x_if(k, in_series(k))):(column(name)) with points \
            linecolor rgb 'white' pointtype shape(solid, k) pointsize scale, \
        for [k = 1:series_n] data using (x_if(k, in_series(k) && !is_solid(k))):(column(name)) with points \
            linecolor rgb colour(k) pointtype shape(hollow, k) pointsize scale linewidth 1.5, \
        for [k = 1:series_n] data using (x_if(k, is_solid(k))):(column(name)) with points \
            linecolor rgb colour(k) pointtype shape(solid, k) pointsize scale, \
        for [k = 1:series_n] data using (x_if(k, has_bounds(k, quantity))):(column(quantity.'_lo')): \
            (0):(column(quantity.'_hi') - column(quantity.'_lo')) with vectors \
            heads size graph 0.011, 90 fixed nofilled linecolor rgb dark(k) linewidth 0.8, \
        for [k = 1:series_n] data using (x_if(k, in_series(k) && !is_ok(k))):(column(name)) with points \
            linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale linewidth 1.5
}
unset multiplot
