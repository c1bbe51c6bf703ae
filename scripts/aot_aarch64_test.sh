#!/usr/bin/env bash
# A module compiled ahead of time for aarch64 computes what it computes here: built with a cross compiler, run by
# qemu-user. Exit status 77 where qemu-aarch64 or aarch64-linux-gnu-g++ is missing.
#   scripts/aot_aarch64_test.sh BUILD/bin
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/.." && pwd)
bin=$1
cross=aarch64-linux-gnu-g++
if ! command -v qemu-aarch64 > /dev/null || ! command -v $cross > /dev/null; then
  echo "qemu-aarch64 or $cross is not installed"
  exit 77
fi
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > model.hlo << 'EOF'
HloModule model
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[8,64] parameter(0)
  bias = f32[64] parameter(1)
  biases = f32[8,64] broadcast(bias), dimensions={1}
  sum = f32[8,64] add(x, biases)
  bent = f32[8,64] tanh(sum)
  e = f32[8,64] exponential(bent)
  zero = f32[] constant(0)
  rows = f32[8] reduce(e, zero), dimensions={1}, to_apply=add
  whole = s32[8,64] convert(e)
  turned = s32[64,8] transpose(whole), dimensions={1,0}
  ROOT t = (f32[8,64], f32[8], s32[64,8]) tuple(e, rows, turned)
}
EOF
cat > main.cc << 'EOF'
#include <cstdio>
#include "net.h"
int main() {
  net m;
  m.set_threads(1);
  for (int i = 0; i < 512; ++i) m.x()[i] = static_cast<float>(i % 37) / 16 - 1;
  for (int i = 0; i < 64; ++i) m.bias()[i] = static_cast<float>(i) / 64;
  if (!m.ok() || !m.Run()) return 1;
  for (const float value : m.output_0()) std::printf("%.5f\n", value);
  for (const float value : m.output_1()) std::printf("%.4f\n", value);
  for (const int value : m.output_2()) std::printf("%d\n", value);
}
EOF
runtime=("$source_folder"/runtime/{aot,context,parallel,memory,scratch}.cc)
build() {  # build COMPILER NAME FLAGS...
  local compiler=$1 name=$2
  shift 2
  "$bin/hlo-aot" model.hlo --name=net -o "$name.o" --header=net.h "$@"
  "$compiler" -std=c++20 -O1 -I"$source_folder" -I. -o "$name" main.cc "$name.o" "${runtime[@]}" -pthread -ldl \
    -static -ffunction-sections -Wl,--gc-sections
}
build "${CXX:-g++}" here
build $cross there --target-triple=aarch64-linux-gnu
./here > here.txt
qemu-aarch64 ./there > there.txt
cmp here.txt there.txt
echo "$(wc -l < here.txt) values agree"
# SPDX-License-Identifier: Apache-2.0
