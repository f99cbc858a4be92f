#!/bin/sh
# Boots the kernel of an image inside QEMU: any release can be asked, and nothing it does wrong reaches this machine.
#
#   scripts/in-qemu.sh VMLINUZ ROOT > answers
#
# ROOT is all the files there are; its /run is a script for busybox's sh, and what that prints are the answers.
# Needs cpio, qemu-system-x86 and busybox-static. docs/kernel-notes.md tells where kernels come from.
set -eu
vmlinuz=$1
root=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
cp "${BUSYBOX:-/bin/busybox}" "$root/bin/busybox"
cat > "$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t tracefs tracefs /sys/kernel/tracing
/bin/busybox stty -F /dev/ttyS1 raw
/bin/busybox sh /run > /dev/ttyS1
/bin/busybox sleep 1
/bin/busybox poweroff -f
INIT
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initrd"
# Four-level page tables, as the goldens of other machines have them.
timeout "${SECONDS_AT_MOST:-300}" qemu-system-x86_64 -cpu max,la57=off -m 2048 -smp 1 -nographic -no-reboot \
	-kernel "$vmlinuz" -initrd "$work/initrd" -append 'console=ttyS0 panic=-1 quiet' \
	-monitor none -serial "file:$work/console" -serial "file:$work/answers" </dev/null >/dev/null 2>&1 || true
grep -E 'BUG|Oops|panic|WARNING' "$work/console" >&2 || true
cat "$work/answers"
