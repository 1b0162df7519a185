# figure.awk - latency against the cost of a barrier, a panel for each kernel,
# as SVG: the share of the time with barriers, so that 1 is no gain. The grey
# band is what was published for kernels (10 to 45 % less), the dashed line what
# was published for loops that only wait (3.3 times).
function x_of(c) { return left + c / top_cost * width }
function y_of(r) { return top + (most - (r > most ? most : r)) / most * height }
function place(i) {
  left = 48 + ((i - 1) % columns) * (width + 64)
  top = 64 + int((i - 1) / columns) * (height + 72)
}
function text(x, y, s, more) {
  gsub(/&/, "\\&amp;", s)
  gsub(/</, "\\&lt;", s)
  printf "<text x=\"%.1f\" y=\"%.1f\" %s>%s</text>\n", x, y, more, s
}
function axes(k,    r, c) {
  printf "<rect x=\"%d\" y=\"%.1f\" width=\"%d\" height=\"%.1f\" " \
    "fill=\"#eee\"/>\n", left, y_of(0.9), width, y_of(0.55) - y_of(0.9)
  printf "<path d=\"M%d %.1fh%d\" stroke=\"#999\" stroke-dasharray=\"4 3\"/>\n",
    left, y_of(1 / 3.3), width
  printf "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"none\" " \
    "stroke=\"#333\"/>\n", left, top, width, height
  text(left, top - 8, k, "font-weight=\"bold\"")
  for (r = 0; r <= most; r += 0.25)
    text(left - 6, y_of(r) + 4, sprintf("%.2f", r), "text-anchor=\"end\"")
  for (c = 0; c <= top_cost; c += 10)
    text(x_of(c), top + height + 16, c, "text-anchor=\"middle\"")
}
function curve(k, f, colour, dash,    c, path) {
  for (c = 1; c <= nc; c++) {
    if (!((k, f, cost[c]) in ns)) return
    path = path sprintf("%s%.1f %.1f", c == 1 ? "M" : "L", x_of(cost[c]),
                        y_of(ns[k, f, cost[c]] / ns[k, "barriers", cost[c]]))
  }
  printf "<path d=\"%s\" fill=\"none\" stroke=\"%s\" stroke-width=\"1.6\"%s/>\n",
    path, colour, dash ? " stroke-dasharray=\"" dash "\"" : ""
}
BEGIN {
  FS = "\t"
  columns = 3; width = 240; height = 180; most = 1.25
  n = split("published per-loop|recent per-loop|per-engine|auto|manual|ideal|" \
            "ideal-signals", name, "|")
  split("#999|#c60|#07c|#c00|#093|#000|#000", colour, "|")
  split("||||||2 3", dash, "|")
}
$1 == "time" && $2 == of {
  if (!($3 in seen)) { seen[$3] = 1; kernel[++nk] = $3 }
  if (!($5 in known)) { known[$5] = 1; cost[++nc] = $5 }
  if ($5 > top_cost) top_cost = $5
  ns[$3, $4, $5] = $6
}
END {
  rows = int((nk + columns - 1) / columns)
  w = columns * (width + 64) + 16
  h = rows * (height + 72) + 96
  printf "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" " \
    "height=\"%d\" font-family=\"sans-serif\" font-size=\"11\">\n" \
    "<rect width=\"%d\" height=\"%d\" fill=\"#fff\"/>\n", w, h, w, h
  text(16, 20, "latency, with barriers = 1, against the cost of a barrier in " \
    "us; " of, "font-size=\"13\"")
  text(16, 36, about, "fill=\"#666\"")
  for (i = 1; i <= nk; i++) {
    place(i)
    axes(kernel[i])
    for (f = 1; f <= n; f++) curve(kernel[i], name[f], colour[f], dash[f])
  }
  x = 16
  for (f = 1; f <= n; f++) {
    printf "<path d=\"M%d %dh22\" stroke=\"%s\" stroke-width=\"2\"%s/>\n", x,
      h - 20, colour[f], dash[f] ? " stroke-dasharray=\"" dash[f] "\"" : ""
    text(x + 28, h - 16, name[f], "")
    x += 40 + 7 * length(name[f])
  }
  print "</svg>"
}
