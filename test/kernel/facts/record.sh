#!/usr/bin/env bash
# Builds the programs of this folder and records what they say on this machine's kernel.
set -euo pipefail
cd "$(dirname "$0")"
build() {
  gcc -static -nostdlib -ffreestanding -fno-stack-protector -fno-pic -no-pie -mno-avx -fcf-protection=none \
    -fno-asynchronous-unwind-tables -fno-builtin -O1 -Wall -Wno-unused-function -Wno-unused-value \
    -Wl,--build-id=none -Wl,-z,noexecstack -s -o "$1.elf" "$1.c"
}
kernel="# $(uname -srm), $(gcc --version | head -1)"
ulimit -c 0
for program in faults frames signals; do
  build "$program"
  { echo "$kernel"; setsid -w "./$program.elf"; } >"$program.golden"
done
build fatal
{
  echo "$kernel"
  for end in $(./fatal.elf); do
    status=0
    text=$(./fatal.elf "$end" 2>/dev/null) || status=$?
    echo "$end status=$status${text:+ output=$text}"
  done
} 2>/dev/null >fatal.golden
