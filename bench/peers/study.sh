#!/bin/sh
# The cells of study W's table, as studies make them: a script for each quantity, a run for each pair of nodes.
#   study.sh AWK TRACE
set -eu
here=$(dirname "$0")
for quantity in delay jitter throughput; do
    for source in 2 3 4 5 6; do
        "$1" -v src=$source -v dst=$((source + 10)) -v pkt=1000 -f "$here/$quantity.awk" "$2"
    done
done
