#!/bin/sh
# Plays a session on the kernel of an image inside QEMU.
#
#   in-vm.sh VMLINUZ PROGRAM < session > golden
#
# Needs gcc and what scripts/in-qemu.sh needs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
vmlinuz=$1
program=$2
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
mkdir -p "$root/tmp/trapline-golden"
gcc -O2 -static -o "$root/record" "$here/record.c"
cp "$program" "$root/tmp/trapline-golden/fetch-args"
cat > "$root/session"
echo '/record /tmp/trapline-golden/fetch-args < /session 2>&1' > "$root/run"
"$here/../../../scripts/in-qemu.sh" "$vmlinuz" "$root"
