# Sets the terminal for `format` and a figure of `width` x `height` points: 2 pixels per point in SVG, 300/72 in PNG. The
# SVG terminal expects fonts in pixels. Also sets the font `small`, and `scale`, pixels per point.
if (format eq 'svg') {
    set terminal svg size 2 * width, 2 * height font 'Helvetica,16' linewidth 2 \
        background rgb 'white' name 'scalebench'
    small = ',13'
    scale = 0.55
    set xtics offset 0, 0.4
}
if (format eq 'png') {
    set terminal pngcairo size width * 300 / 72, height * 300 / 72 font 'Sans,8' \
        fontscale 300 / 96.0 linewidth 300 / 96.0 pointscale 300 / 96.0 dashlength 1.6
    small = ',6.5'
    scale = 0.7
    set xtics offset 0, 0
}
if (format eq 'pdf') {
    set terminal pdfcairo size width / 72 in, height / 72 in font 'Sans,8' fontscale 0.75 \
        linewidth 1.2 pointscale 0.82 dashlength 1.6
    small = ',6.5'
    scale = 0.7
    set xtics offset 0, 0
}
