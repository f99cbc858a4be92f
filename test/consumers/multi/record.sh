#!/bin/sh -e
# Records what the running kernel answers to multi links: facts.c -> errors.k6.18.txt, sessions.k6.18.txt.
# Run as root on Linux 6.18 with uprobes; it probes only its own binary.
here=$(cd "$(dirname "$0")" && pwd)
build=$(mktemp -d)
gcc -O1 -no-pie -o "$build/facts" "$here/facts.c"
"$build/facts" >"$here/errors.k6.18.txt"
"$build/facts" sessions >"$here/sessions.k6.18.txt"
rm -r "$build"
