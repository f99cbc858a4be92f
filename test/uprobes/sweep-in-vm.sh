#!/bin/sh
# Asks the kernel of an image inside QEMU what sweep.c asks.
#
#   sweep-in-vm.sh VMLINUZ < lines-of-hex > lines-of-"hex errno"
#
# Needs gcc, cpio, qemu-system-x86 and busybox-static. docs/kernel-notes.md tells where kernels come from.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
vmlinuz=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
gcc -O2 -static -pthread -o "$root/sweep" "$here/sweep.c"
cp "${BUSYBOX:-/bin/busybox}" "$root/bin/busybox"
cat > "$root/cases"
cat > "$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox stty -F /dev/ttyS1 raw
/sweep < /cases > /answers 2>&1
/bin/busybox cat /answers > /dev/ttyS1
/bin/busybox sleep 1
/bin/busybox poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initrd"
timeout "${SECONDS_AT_MOST:-300}" qemu-system-x86_64 -cpu max,la57=off -m 2048 -smp 1 -nographic -no-reboot \
	-kernel "$vmlinuz" -initrd "$work/initrd" -append 'console=ttyS0 panic=-1 quiet' \
	-monitor none -serial "file:$work/console" -serial "file:$work/answers" </dev/null >/dev/null 2>&1 || true
cat "$work/answers"
