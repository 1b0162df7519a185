# tables.awk - the numbers of latency.sh as Markdown.
function note(what, order, seen, n) {
  if (!(what in seen)) { seen[what] = 1; order[++n] = what }
  return n
}
function ratio(m, k, f, cost, base) {
  if (!((m, k, f, cost) in ns) || !((m, k, base, cost) in ns)) return ""
  return ns[m, k, base, cost] ? ns[m, k, f, cost] / ns[m, k, base, cost] : ""
}
function cell(x, format) { return x == "" ? "-" : sprintf(format, x) }
function mean(m, f, base,    i, r, sum, n) {
  for (i = 1; i <= nk; i++) {
    r = ratio(m, kernel[i], f, usual, base)
    if (r != "") { sum += log(r); n++ }
  }
  return n ? exp(sum / n) : ""
}
# The least share of forms whose names begin so.
function best(m, k, start,    j, r, least) {
  least = ""
  for (j = 1; j <= nf; j++) {
    if (index(form[j], start) != 1) continue
    r = ratio(m, k, form[j], usual, "barriers")
    if (r != "" && (least == "" || r < least)) least = r
  }
  return least
}
function short(m,    i, k) {
  printf "\n## In short, %s\n\nLatency with barriers, each of which costs %s us on " \
    "top of the drain and two updates;\nall else as a share of it. Published " \
    "and most recent: the best of three.\n\n| kernel | barriers | published |" \
    " most recent | auto | manual | ideal |\n" \
    "| --- | --- | --- | --- | --- | --- | --- |\n", m, usual
  for (i = 1; i <= nk; i++) {
    k = kernel[i]
    printf "| %s | %.1f us | %s | %s | %s | %s | %s |\n", k,
      ns[m, k, "barriers", usual] / 1000, cell(best(m, k, "published"), "%.3f"),
      cell(best(m, k, "recent"), "%.3f"),
      cell(ratio(m, k, "auto", usual, "barriers"), "%.3f"),
      cell(ratio(m, k, "manual", usual, "barriers"), "%.3f"),
      cell(ratio(m, k, "ideal", usual, "barriers"), "%.3f")
  }
}
function latency(m,    i, j) {
  printf "\n## Latency on %s\n\nBarriers in us; all else as a share of it. " \
    "A barrier costs %s us on top of the\ndrain and two updates.\n\n", m, usual
  printf "| kernel |"
  for (j = 1; j <= nf; j++) printf " %s |", form[j]
  printf "\n| --- |"
  for (j = 1; j <= nf; j++) printf " --- |"
  for (i = 1; i <= nk; i++) {
    printf "\n| %s |", kernel[i]
    for (j = 1; j <= nf; j++)
      if (form[j] == "barriers")
        printf " %.1f |", ns[m, kernel[i], "barriers", usual] / 1000
      else
        printf " %s |", cell(ratio(m, kernel[i], form[j], usual, "barriers"),
                             "%.3f")
  }
  printf "\n\nGeometric means: auto is %s of ideal, %s of ideal with signals, " \
    "%s of manual;\nmanual is %s of ideal.\n",
    cell(mean(m, "auto", "ideal"), "%.3f"),
    cell(mean(m, "auto", "ideal-signals"), "%.3f"),
    cell(mean(m, "auto", "manual"), "%.3f"),
    cell(mean(m, "manual", "ideal"), "%.3f")
}
function slower(m,    i, j, c, r, any) {
  for (i = 1; i <= nk; i++)
    for (c = 1; c <= nc; c++)
      for (j = 1; j <= nf; j++) {
        r = ratio(m, kernel[i], "auto", cost[c], form[j])
        if (form[j] == "auto" || form[j] ~ /^ideal/ || r == "" || r <= 1.01)
          continue
        if (!any++) printf "\nWhere auto is more than 1 %% slower:\n\n"
        printf "- %s, a barrier at %s us: %.1f %% slower than %s\n", kernel[i],
          cost[c], (r - 1) * 100, form[j]
      }
  if (!any) printf "\nauto is nowhere more than 1 %% slower than another form.\n"
}
# The cost of a barrier from which on auto takes this share of the time.
function even(m, k, share,    c, r, old) {
  for (c = 1; c <= nc; c++) {
    r = ratio(m, k, "auto", cost[c], "barriers")
    if (r == "") return "-"
    if (r <= share && c == 1) return "0"
    if (r <= share)
      return sprintf("%.1f", cost[c - 1] + (cost[c] - cost[c - 1]) * \
                             (old - share) / (old - r))
    old = r
  }
  return "> " cost[nc]
}
function against_cost(m,    i, c, r) {
  printf "\n## Against the cost of a barrier, %s\n\nTimes faster than with " \
    "barriers (auto), and the cost from which on the latency is\n10 %% and 45 " \
    "%% lower, and 3.3 times.\n\n| kernel |", m
  for (c = 1; c <= nc; c++) printf " %s us |", cost[c]
  printf " 10 %% | 45 %% | 3.3x |\n| --- |"
  for (c = 1; c <= nc + 3; c++) printf " --- |"
  for (i = 1; i <= nk; i++) {
    printf "\n| %s |", kernel[i]
    for (c = 1; c <= nc; c++) {
      r = ratio(m, kernel[i], "auto", cost[c], "barriers")
      printf " %s |", r == "" ? "-" : sprintf("%.2f", 1 / r)
    }
    printf " %s | %s | %s |", even(m, kernel[i], 0.9),
      even(m, kernel[i], 0.55), even(m, kernel[i], 1 / 3.3)
  }
  printf "\n"
}
function code(    i, j, k, f, w) {
  printf "\n## Code\n\nBytes added to that of the barriers; semaphores that are" \
    " updated; new registers of\nthe engine that needs most; barriers, register" \
    " operations for each wait and for\neach instruction of pipelines and " \
    "queues, as the kernel runs.\n\n| kernel | form | bytes | semaphores | " \
    "registers | barriers | per wait | per instruction |\n" \
    "| --- | --- | --- | --- | --- | --- | --- | --- |"
  for (i = 1; i <= nk; i++)
    for (j = 1; j <= nf; j++) {
      k = kernel[i]; f = form[j]
      if (!((k, f) in bytes) || f == "barriers") continue
      more = operations[k, f] - operations[k, "barriers"]
      printf "\n| %s | %s | %d | %s | %s | %d | %s | %s |", k, f,
        bytes[k, f] - bytes[k, "barriers"], semaphores[k, f],
        registers[k, f] == "" ? "-" : registers[k, f], barriers[k, f],
        waits[k, f] ? sprintf("%.2f", more / waits[k, f]) : "-",
        work[k, f] ? sprintf("%.2f", more / work[k, f]) : "-"
    }
  printf "\n"
}
function loops(m,    i) {
  if (!nloops[m]) return
  printf "\n## Loops, %s\n\nns of an iteration: what the busiest resource " \
    "takes; the slowest cycle of\ndependences, as they are found and as they " \
    "were; ideal and auto, with what is\naround the loop.\n\n| kernel | loop |" \
    " iterations | resources | found | true | ideal | auto |\n" \
    "| --- | --- | --- | --- | --- | --- | --- | --- |\n", m
  for (i = 1; i <= nloops[m]; i++) print loop[m, i]
}
BEGIN { FS = "\t"; usual = 2 }
$1 == "loop" {
  line = "| " $3 " | " $4 " | " $6 " |"
  for (i = 7; i <= 11; i++)
    line = line (($i == "null") ? " - |" : sprintf(" %.1f |", $i))
  loop[$2, ++nloops[$2]] = line
  next
}
{ nk = note($1 == "time" ? $3 : $2, kernel, seen_kernel, nk) }
$1 == "time" {
  nm = note($2, machine, seen_machine, nm)
  if ($4 ~ /^ideal/) ni = note($4, ideal, seen_form, ni)
  else nf = note($4, form, seen_form, nf)
  nc = note($5, cost, seen_cost, nc)
  ns[$2, $3, $4, $5] = $6
}
$1 == "code" {
  bytes[$2, $3] = $4; semaphores[$2, $3] = $5; registers[$2, $3] = $6
  barriers[$2, $3] = $7; operations[$2, $3] = $8; waits[$2, $3] = $9
  work[$2, $3] = $10
}
$1 == "lost" { lost[++nl] = sprintf("- %s, %s: %s", $2, $3, $4) }
END {
  for (x = 1; x <= ni; x++) form[++nf] = ideal[x]
  printf "# How long the kernels of the suite take\n\n%s\n", about
  for (x = 1; x <= nm; x++) short(machine[x])
  for (x = 1; x <= nm; x++) {
    latency(machine[x])
    slower(machine[x])
    against_cost(machine[x])
    loops(machine[x])
  }
  code()
  if (nl) printf "\n## Not made\n\n"
  for (x = 1; x <= nl; x++) print lost[x]
}
