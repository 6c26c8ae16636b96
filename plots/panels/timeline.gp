# Lanes of one format; time without a span is grey.
plot data using (0):(is_shown(0) ? lane_y(0) : NaN):(from(0)):(column('end_ms')): \
        (lane_y(0) - 0.30):(lane_y(0) + 0.30) with boxxyerror fillstyle solid 1 noborder \
        linecolor rgb '#ECECEC', \
    for [k = 1:parts_n] data using (from(0)):(is_part(k) ? part_y(k) : NaN):(from(0)):(column('end_ms')): \
        (part_y(k) - part_half(k)):(part_y(k) + part_half(k)) with boxxyerror \
        fillstyle solid 1 noborder linecolor rgb word(part_colours, k), \
    data using (0):(is_shown(0) ? lane_y(0) : NaN):(sprintf('rank %d', column('rank'))) \
        with labels right offset character -0.6, 0 noenhanced font small textcolor rgb '#303030', \
    data using (0):(is_shown(0) && column('rank') == 0 ? lane_y(0) + 0.62 : NaN):(name_of(0)) \
        with labels left noenhanced font small textcolor rgb '#303030'
