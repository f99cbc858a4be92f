#!/bin/sh
# Builds symbols.so and writes down what readelf says of it. Run in this folder.
set -e
gcc -nostdlib -shared -Wl,--build-id=none,--hash-style=both,--version-script=symbols.map -o symbols.so symbols.S
{
  echo "# $(readelf --version | head -1): address, size, type, name; file offset of .text and its address"
  readelf -SW symbols.so | sed 's/^ *\[ *[0-9]*\]//' | awk '$1 == ".text" { print "text", $4, $3 }'
  readelf -sW symbols.so | awk '
    /^Symbol table/ { table = $3 }
    $1 ~ /^[0-9]+:$/ && $7 != "UND" && $4 != "SECTION" && $4 != "FILE" && NF >= 8 { print table, $2, $3, $4, $8 }'
} >symbols.txt
