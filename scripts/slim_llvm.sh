#!/usr/bin/env bash
# slim_llvm.sh OUT.so: a shared library of the parts of LLVM that hlokit uses, made of Debian's static ones, for packages.
# x86-64 and AArch64 (hlo-aot), NVPTX, the JIT and the passes: a third of libLLVM.so, without Z3, ICU and libxml2 behind it.
set -euo pipefail
out=$1
prefix=${LLVM_ROOT:-/usr/lib/llvm-19}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

mapfile -t archives < <("$prefix/bin/llvm-config" --link-static --libfiles x86codegen x86asmparser x86desc x86info \
  nvptxcodegen nvptxdesc nvptxinfo aarch64codegen aarch64asmparser aarch64desc aarch64info \
  orcjit passes bitreader bitwriter asmparser object | tr ' ' '\n')
# Its one member that calls Z3 is for clang's analyzer.
cp "$prefix/lib/libLLVMSupport.a" "$work"
ar d "$work/libLLVMSupport.a" Z3Solver.cpp.o
for i in "${!archives[@]}"; do
  [[ ${archives[i]} == */libLLVMSupport.a ]] && archives[i]=$work/libLLVMSupport.a
done
mkdir -p "$(dirname "$out")"
g++ -shared -fuse-ld=lld -o "$out" -Wl,-soname,"$(basename "$out")" -Wl,--whole-archive "${archives[@]}" -Wl,--no-whole-archive \
  -Wl,-Bsymbolic-functions -Wl,--no-undefined -Wl,--build-id=none -lz -lzstd -lpthread -ldl -lm
strip "$out"
# SPDX-License-Identifier: Apache-2.0
