#!/bin/sh -e
# Records what the running kernel answers: NAME.c -> NAME.k6.18.txt. The programs probe themselves
# through perf_event_open. Run on Linux 6.18 as root.
here=$(cd "$(dirname "$0")" && pwd)
build=$(mktemp -d)
cd "$build"
for name in ${*:-open sample callchain count ring tracepoint}; do
	gcc -static -O1 -fno-omit-frame-pointer -w -o "$build/$name" "$here/$name.c"
	timeout 20 "$build/$name" </dev/null >"$here/$name.k6.18.txt"
done
rm -r "$build"
