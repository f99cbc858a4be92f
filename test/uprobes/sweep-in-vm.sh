#!/bin/sh
# Asks the kernel of an image inside QEMU what sweep.c asks.
#
#   sweep-in-vm.sh VMLINUZ < lines-of-hex > lines-of-"hex errno"
#
# Needs gcc and what scripts/in-qemu.sh needs.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
vmlinuz=$1
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
gcc -O2 -static -pthread -o "$root/sweep" "$here/sweep.c"
cat > "$root/cases"
echo '/sweep < /cases 2>&1' > "$root/run"
"$here/../../scripts/in-qemu.sh" "$vmlinuz" "$root"
