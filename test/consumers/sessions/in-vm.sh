#!/bin/sh
# Plays a session on the kernel of an image inside QEMU: nothing a kernel does wrong reaches this machine.
#
#   in-vm.sh VMLINUZ PROGRAM < session > golden
#
# Needs gcc, cpio, qemu-system-x86 and busybox-static. Debian's linux-image-*-cloud-amd64 will do:
# apt-get download it, dpkg -x it, VMLINUZ is below boot/.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
vmlinuz=$1
program=$2
busybox=${BUSYBOX:-/bin/busybox}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
root=$work/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp/trapline-golden"
gcc -O2 -static -o "$root/record" "$here/record.c"
cp "$busybox" "$root/bin/busybox"
cp "$program" "$root/tmp/trapline-golden/fetch-args"
cat > "$root/session"
cat > "$root/init" <<'INIT'
#!/bin/busybox sh
/bin/busybox mount -t proc proc /proc
/bin/busybox mount -t sysfs sys /sys
/bin/busybox mount -t devtmpfs dev /dev
/bin/busybox mount -t tracefs tracefs /sys/kernel/tracing
/bin/busybox stty -F /dev/ttyS1 raw
/record /tmp/trapline-golden/fetch-args < /session > /dev/ttyS1 2>&1
/bin/busybox sleep 1
/bin/busybox poweroff -f
INIT
sed -i 's|^#!/bin/busybox|#!/bin/busybox|' "$root/init"
chmod +x "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initrd"
timeout "${SECONDS_AT_MOST:-300}" qemu-system-x86_64 -m 512 -smp 1 -nographic -no-reboot \
	-kernel "$vmlinuz" -initrd "$work/initrd" -append 'console=ttyS0 panic=-1 quiet' \
	-monitor none -serial "file:$work/console" -serial "file:$work/answers" </dev/null >/dev/null 2>&1 || true
cat "$work/answers"
grep -E 'BUG|Oops|panic' "$work/console" >&2 || true
