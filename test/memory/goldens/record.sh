#!/bin/sh
# Records what this machine's kernel does with the calls of vma-walk.c, randomisation off.
set -e
gcc -O1 -static -o /tmp/vma-walk vma-walk.c
for seed in 1 2 3; do
  { echo "# Linux $(uname -r) $(uname -m): setarch -R vma-walk $seed"; setarch -R /tmp/vma-walk $seed; } >vma-walk-$seed.txt
done
rm /tmp/vma-walk
