# One panel per column, one above the other. The upper one has the legend and caption.
upper = (caption_height + axis_height + plot_height) / height
lower = (caption_height + axis_height) / height
share = (upper - lower) / words(columns)
gap = 6 / height

set multiplot
do for [i = 1:words(columns)] {
    name = word(columns, i)
    stem = stem_of(name)
    most_of = value(sprintf('column%d_most', i))
    if (i > 1) {
        unset label
        unset arrow
    }
    set tmargin at screen upper - (i - 1) * share - (i > 1 ? gap : 0)
    set bmargin at screen upper - i * share + (i < words(columns) ? gap : 0)
    last = i == words(columns)
    # A place without a value has no name.
    set format x (last && ticks_n + (nothing eq '') > 0 ? x_format : '')
    do for [t = 1:ticks_n] {
        if (by_place) {
            set xtics add ((last ? label_of(t) : '') t)
        }
        if (listed) {
            set xtics add ((last ? label_of(t) : '') x_values[t])
        }
    }
    unset logscale y
    set ytics autofreq nomirror out scale 0.5
    log_y = !is_empty[i] && is_log(i)
    # A bar has no length on a logarithmic axis: a mark shows its end.
    if (log_y) {
        eval log_ticks('y')
        set autoscale yfix
        set offsets 0, 0, graph 0.06, graph 0.06
    } else {
        from = real(word(from_y, i))
        if (most_of == 100 && from >= 0) {
            set offsets 0, 0, 0, 0
            set yrange [from:(real(word(top_y, i)) > 100 ? 1.01 * word(top_y, i) : 100)]
            set ytics from, percent_step(as_bars ? 0 : from), 100
        } else {
            set offsets 0, 0, graph 0.08, 0
            eval from < 0 ? 'set yrange [*:*]' : 'set yrange [0:*] noextend'
        }
        if (most_of == 100 && from > 0) {
            eval break_axis('y')
        }
        set format y '%g'
        if (most_of != 100) {
            eval big_ticks('y', words(columns) == 1 ? most : real(word(to_y, i)))
        }
    }
    if (is_empty[i]) {
        set yrange [0:1]
        unset ytics
        set label (nothing ne '' ? '' : 'no '.value(sprintf('column%d_title', i)).(is_empty[i] == 2 ? ' above 0' : '')) \
            at graph 0.5, graph 0.5 center textcolor rgb grey
    }
    broken_title = title_of(i)
    if (is_long(broken_title, panel_height + (words(columns) > 1 ? 0 : 40))) {
        eval break_title
    }
    set label broken_title noenhanced rotate center \
        at screen (left > 48 ? 11.5 : 7) / width, screen upper - (i - 0.5) * share
    if (series_n == 0 || is_empty[i]) {
        plot NaN notitle
        continue
    }
    marks = (crowded ? 1 : mark_scale) * scale
    published_size = (crowded ? 1 : 1.3) * scale
    # Less reliable points have hollow bars.
    plot for [k = 1:series_n] data using (x_if(as_bars && !log_y && is_solid(k) && has_value(name), k)): \
            (0.5 * column(name)):(x_of(k) - 0.46 * bar):(x_of(k) + 0.46 * bar):(0):(column(name)) \
            with boxxyerror fillstyle solid 1 noborder linecolor rgb colour(k), \
        for [k = 1:series_n] data using (x_if(as_bars && !log_y && in_series(k) && !is_solid(k) && has_value(name), k)): \
            (0.5 * column(name)):(x_of(k) - 0.46 * bar):(x_of(k) + 0.46 * bar):(0):(column(name)) \
            with boxxyerror fillstyle empty border rgb colour(k) linecolor rgb colour(k) linewidth 1, \
        for [k = 1:dots_n > 0 ? series_n : 0] dots_data using (x_dot(k, name)):(column('value')) with points \
            linecolor rgb faint(as_bars ? '#000000' : colour(k)) pointtype 7 pointsize 0.5 * scale linewidth 0.1, \
        for [k = 1:series_n] data using (x_if(model_n > 0 && !by_place && in_series(k) && has_value(stem.'_model'), k)): \
            (model_n > 0 ? column(stem.'_model') : NaN) with lines linecolor rgb colour(k) linewidth 0.5 dashtype 4, \
        for [k = 1:series_n] data using (x_if(!by_place && in_series(k) && has_value(name), k)): \
            (column(name)) with lines linecolor rgb colour(k) linewidth 1 dashtype series_dash(k), \
        for [k = 1:series_n] data using (x_if(!as_bars && is_marked(0) && in_series(k) && has_value(name), k)): \
            (column(name)) with points linecolor rgb 'white' pointtype shape(solid, k) pointsize marks, \
        for [k = 1:series_n] data using (x_if(!as_bars && is_marked(0) && in_series(k) && has_value(name) \
            && !is_solid(k), k)):(column(name)) with points \
            linecolor rgb colour(k) pointtype shape(hollow, k) pointsize marks linewidth 1.5, \
        for [k = 1:series_n] data using (x_if(!as_bars && is_marked(0) && is_solid(k) && has_value(name), k)): \
            (column(name)) with points linecolor rgb colour(k) pointtype shape(solid, k) pointsize marks, \
        for [k = 1:series_n] data using (x_if(as_bars && log_y && is_solid(k) && has_value(name), k)): \
            (column(name)) with points linecolor rgb colour(k) pointtype legend_mark(k) pointsize 1.3 * scale, \
        for [k = 1:series_n] data using (x_if(as_bars && log_y && in_series(k) && !is_solid(k) && has_value(name), k)): \
            (column(name)) with points linecolor rgb colour(k) pointtype 4 pointsize 1.2 * scale linewidth 1.5, \
        for [k = 1:bands ? 0 : series_n] data using (x_if(has_bounds(k, stem), k)):(column(stem.'_lo')): \
            (0):(column(stem.'_hi') - column(stem.'_lo')) with vectors \
            heads size graph whisker, 90 fixed nofilled linecolor rgb whisker_of(k) linewidth 0.8, \
        for [k = 1:series_n] data using (x_if(in_series(k) && has_value(name) && !is_ok(k), k)): \
            (column(name)) with points linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale linewidth 1.5, \
        for [k = 1:series_n] data using (x_if(!by_place && in_series(k) && is_published(k) && \
            has_value(stem.'_published'), k)):(column(stem.'_published')) with lines \
            linecolor rgb edge(k) linewidth 1 dashtype 3, \
        data using (as_bars && strlen(strcol('curve')) > 0 && has_value(stem.'_published') \
            ? is_shared(i, stem) ? x_shared(i, stem) : x_of(int(column('curve'))) : NaN):(column(stem.'_published')) with points \
            linecolor rgb 'white' pointtype published_shape + 1 pointsize published_size, \
        for [k = 1:series_n] data using (x_if(in_series(k) && has_value(stem.'_published') && \
            !is_shared(i, stem), k)):(column(stem.'_published')) with points linecolor rgb (edge(k)) \
            pointtype published_shape pointsize published_size, \
        data using (x_shared(i, stem)):(column(stem.'_published')) with points \
            linecolor rgb (as_bars ? '#202020' : mark_colour) pointtype published_shape pointsize published_size, \
        for [k = 1:bands ? series_n : 0] data using (x_if(has_bounds(k, stem), k)):(column(stem.'_lo')): \
            (column(stem.'_hi')) with filledcurves fillcolor rgb colour(k) fillstyle transparent solid 0.15 noborder
}
unset multiplot
