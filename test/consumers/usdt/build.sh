#!/bin/sh -e
# Builds the programs here again. The committed ones were made by Debian's gcc 12.2.0-14+deb12u1,
# binutils 2.40, clang and lld 14.0.6, systemtap-sdt-dev 4.8-2.
cd "$(dirname "$0")"
flags="-O1 -std=gnu11 -nostdlib -static -ffreestanding -fno-stack-protector -fno-asynchronous-unwind-tables -fcf-protection=none"
fixed='-no-pie -fno-pie -Wl,--build-id=none -Wl,-z,max-page-size=4096'
gcc $flags $fixed -fno-ident -o probes-gcc.elf probes.c
clang $flags -fno-pie -Wl,--build-id=none -Wl,-z,max-page-size=4096 -fno-ident -fuse-ld=lld -o probes-clang.elf probes.c
gcc $fixed -nostdlib -static -o sites.elf sites.S
gcc -static-pie -fpie -Wl,--build-id=none,--no-dynamic-linker,-z,max-page-size=4096 -nostdlib -Wa,--defsym,SMALL=1 -o sites-pie.elf sites.S
for file in sites.elf sites-pie.elf; do strip --strip-unneeded -K counter -K array -K operands $file; done
