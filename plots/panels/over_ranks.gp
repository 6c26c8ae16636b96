# Reference lines, curves, intervals, marks.
# A line without a mark joins the baseline in another curve to the first point of the curve that refers to it.
do for [k = 1:series_n] {
    lead = origin_of(k)
    do for [what in lead eq '' ? '' : 'value model'] {
        from_y = real(word(lead, what eq 'value' ? 3 : 4))
        to_y = real(word(lead, what eq 'value' ? 6 : 7))
        if (from_y == from_y && to_y == to_y) {
            set arrow from x_at(real(word(lead, 2)), int(word(lead, 1))), from_y \
                to x_at(real(word(lead, 5)), k), to_y nohead back linecolor rgb colour(k) \
                linewidth (what eq 'value' ? 1 : 0.5) dashtype lead_dash(what, k)
        }
    }
}
# Reference lines end at the first and the last rank count.
set print $reference
print '# ranks, value'
do for [k = 1:reference_n] {
    do for [i = 1:x_n] {
        own = x_values[i]
        next = i < x_n ? x_values[i + 1] : own
        level = level_at(own)
        next_level = level_at(next)
        print sprintf('%.10g,%.10g', x_moved(own, -level), reference(k, own))
        do for [step = 0:next > own ? 49 : 0] {
            share = step / 50.0
            print sprintf('%.10g,%.10g', \
                x_moved(own * (next / own)**share, level - share * (level + next_level)), \
                reference(k, own * (next / own)**share))
        }
    }
    print ''
    print ''
}
set print
plot for [k = 1:reference_n] $reference using 1:2 index k - 1 with lines \
        linecolor rgb grey linewidth 0.9 dashtype 16, \
    for [k = 1:dots_n > 0 ? series_n : 0] dots_data using (x_dot(k)):(column('value')) with points \
        linecolor rgb faint(colour(k)) pointtype 7 pointsize 0.5 * scale linewidth 0.1, \
    for [k = 1:series_n] data using (x_model(k)):(column('model')) smooth unique with lines \
        linecolor rgb colour(k) linewidth 0.5 dashtype 4, \
    for [k = 1:series_n] data using (x_ok(k)):(y(k)) smooth unique with lines \
        linecolor rgb colour(k) linewidth 1 dashtype series_dash(k), \
    for [k = 1:series_n] data using (x_solid(k)):(y(k)) with points \
        linecolor rgb colour(k) pointtype shape(solid, k) pointsize scale, \
    for [k = 1:series_n] data using (x_hollow(k)):(y(k)) with points \
        linecolor rgb 'white' pointtype shape(solid, k) pointsize scale, \
    for [k = 1:series_n] data using (x_hollow(k)):(y(k)) with points \
        linecolor rgb colour(k) pointtype shape(hollow, k) pointsize scale linewidth 1.5, \
    for [k = 1:series_n] data using (x_bars(k)):(y_lo(k)):(0):(y_hi(k) - y_lo(k)) with vectors \
        heads size graph whisker, 90 fixed nofilled linecolor rgb dark(k) linewidth 0.8, \
    for [k = 1:series_n] data using (x_doubtful(k)):(y(k)) with points \
        linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale linewidth 1.5, \
    for [k = 1:series_n] data using (x_published(k)):(column('published')) with points \
        linecolor rgb colour(k) pointtype published_shape pointsize 1.5 * scale, \
    data using (x_shared(0)):(column('published')) with points \
        linecolor rgb mark_colour pointtype published_shape pointsize 1.5 * scale
