#!/bin/sh
# bench/peers/peers.py explains itself, and says that torch is missing where it is: usage: this SOURCE_DIR
set -eu
peers="$1/bench/peers/peers.py"
python3 -I -S "$peers" --help | grep -q -- --suite
status=0
words=$(python3 -I -S "$peers" --suite rows 2>&1) || status=$?
[ "$status" = 3 ]
echo "$words" | grep -q "torch is not installed here"
python3 -I -S -c '
import sys
sys.path.insert(0, sys.argv[1])
from peers import gemm_shapes
shapes = gemm_shapes()
assert len(shapes) == 30 and shapes[0] == ("sq-512", 512, 512, 512), shapes' "$1/bench/peers"
