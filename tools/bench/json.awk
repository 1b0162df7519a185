# json.awk - the numbers of latency.sh as JSON lines.
function quoted(s) {
  gsub(/\\/, "\\\\", s)
  gsub(/"/, "\\\"", s)
  return "\"" s "\""
}
function plain(s) { return s == "" || s == "-" ? "null" : s }
BEGIN {
  FS = "\t"
  printf "{\"kind\":\"bench\",\"about\":%s}\n", quoted(about)
}
$1 == "time" {
  printf "{\"kind\":\"latency\",\"machine\":%s,\"kernel\":%s,\"form\":%s," \
    "\"barrier_us\":%s,\"ns\":%s}\n", quoted($2), quoted($3), quoted($4), $5, $6
}
$1 == "code" {
  printf "{\"kind\":\"code\",\"kernel\":%s,\"form\":%s,\"bytes\":%s," \
    "\"semaphores\":%s,\"registers\":%s,\"barriers\":%s,\"operations\":%s," \
    "\"waits\":%s,\"work\":%s,\"noops\":%s}\n", quoted($2), quoted($3), $4, $5,
    plain($6), $7, $8, $9, $10, $11
}
$1 == "loop" {
  printf "{\"kind\":\"loop\",\"machine\":%s,\"kernel\":%s,\"loop\":%s," \
    "\"depth\":%s,\"iterations\":%s,\"resources\":%s,\"found\":%s," \
    "\"true\":%s,\"ideal\":%s,\"auto\":%s}\n", quoted($2), quoted($3),
    quoted($4), $5, $6, $7, $8, $9, $10, $11
}
$1 == "lost" {
  printf "{\"kind\":\"lost\",\"kernel\":%s,\"form\":%s,\"reason\":%s}\n",
    quoted($2), quoted($3), quoted($4)
}
