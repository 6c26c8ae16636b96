# A cross marks a point that is not ok, a ring one that is oversubscribed.
plot data using (column('exposed_ms')):(bar_row('exposed_ms')):(0):(column('exposed_ms')): \
        (row_y('row') - bar):(row_y('row') + bar) with boxxyerror \
        fillstyle solid 1 noborder linecolor rgb word(part_colours, 1), \
    data using (wait_end(0)):(bar_row('exposed_ms')):(column('exposed_ms')):(wait_end(0)): \
        (row_y('row') - bar):(row_y('row') + bar) with boxxyerror \
        fillstyle solid 1 noborder linecolor rgb word(part_colours, 2), \
    data using (hidden_end(0)):(bar_row('hidden_ms')):(wait_end(0)):(hidden_end(0)): \
        (row_y('row') - bar):(row_y('row') + bar) with boxxyerror \
        fillstyle solid 1 noborder linecolor rgb word(part_colours, 3), \
    data using (whisker_from(0)):(bar_row('hidden_lo_ms')): \
        (column('hidden_hi_ms') - column('hidden_lo_ms')):(0) with vectors \
        heads size graph whisker_points / width, 90 fixed nofilled linecolor rgb whisker_colour linewidth 0.7, \
    data using (column('alone_ms')):(bar_row('alone_ms') - 1.25 * bar):(0):(2.5 * bar) with vectors \
        nohead linecolor rgb grey linewidth 1.5, \
    data using (wait_end(0)):(strstrt(strcol('flags'), 'oversubscribed') > 0 ? bar_row('exposed_ms') : NaN) \
        with points linecolor rgb grey pointtype 6 pointsize scale linewidth 1.5, \
    data using (wait_end(0)):(strcol('status') ne 'ok' ? bar_row('exposed_ms') : NaN) with points \
        linecolor rgb 'black' pointtype 2 pointsize 1.3 * scale linewidth 1.5, \
    data using (published_x(0)):(row_y('row')) with points \
        linecolor rgb 'white' pointtype published_shape + 1 pointsize 1.5 * scale, \
    data using (published_x(0)):(row_y('row')) with points \
        linecolor rgb mark_colour pointtype published_shape pointsize 1.5 * scale, \
    data using (0):(row_y('row') + 2.4 * bar):(name_of('exposed_ms')) with labels left noenhanced \
        font small textcolor rgb '#303030'
