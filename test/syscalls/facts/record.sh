#!/bin/sh -e
# Records what the running kernel answers: facts/NAME.c -> facts/NAME.k6.18.txt. Each program runs in
# an empty directory as user 1000. Run on Linux 6.18 as root.
here=$(cd "$(dirname "$0")" && pwd)
build=$(mktemp -d)
for name in files memory process; do
	room=$(mktemp -d)
	chmod 777 "$room" "$build"
	gcc -static -O1 -w -o "$build/$name" "$here/$name.c"
	(cd "$room" && setpriv --reuid 1000 --regid 1000 --clear-groups \
		"$build/$name" </dev/null >"$here/$name.k6.18.txt")
	rm -r "$room"
done
rm -r "$build"
