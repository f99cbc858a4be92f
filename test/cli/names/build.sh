#!/bin/sh -e
# names.so by g++ (Debian 12.2.0-14+deb12u1); names.txt by GNU c++filt (binutils 2.40).
cd "$(dirname "$0")"
g++ -O1 -shared -nostdlib -fPIC -fno-ident -fno-exceptions -fno-asynchronous-unwind-tables -fcf-protection=none \
  -Wl,--build-id=none -Wl,-z,max-page-size=4096 -Wl,-z,noseparate-code -o names.so names.cpp
nm names.so | awk '$2 ~ /[tTwW]/ && NF == 3 { print $3 }' | sort -u | while read -r name; do
  echo "$name $(c++filt "$name")"
done >names.txt
