#!/bin/sh
# Builds dump.S four ways and records what this machine's kernel gives each of them as first stack
# and mappings, randomisation off. Run in this folder; needs gcc, setarch and node.
set -e
INTERPRETER=/tmp/trapline-interpreter
gcc -nostdlib -static -Wl,--build-id=none -o exec.elf dump.S
gcc -nostdlib -static-pie -Wl,--build-id=none -o static-pie.elf dump.S
gcc -nostdlib -static-pie -DHUGE -Wl,--build-id=none -o huge.elf dump.S
gcc -nostdlib -pie -Wl,--build-id=none,--dynamic-linker=$INTERPRETER -o interpreted.elf dump.S
strip exec.elf static-pie.elf huge.elf interpreted.elf
cp static-pie.elf $INTERPRETER
for name in exec static-pie huge interpreted; do
  {
    echo "# Linux $(uname -r) $(uname -m): setarch -R ./$name.elf one 'two words', environment A=1 LONG=value"
    env -i A=1 LONG=value setarch -R ./$name.elf one 'two words' | node split-dump.cjs
  } >$name.txt
done
{
  echo "# Linux $(uname -r) $(uname -m): setarch -R ./exec.elf, no environment"
  env -i setarch -R ./exec.elf | node split-dump.cjs
} >exec-bare.txt
rm -f $INTERPRETER
