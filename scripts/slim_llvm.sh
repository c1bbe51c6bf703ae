#!/usr/bin/env bash
# slim_llvm.sh OUT.so [TARGETS.so]: a shared library of the parts of LLVM that hlokit uses, made of Debian's static ones
# (cmake/SlimLlvm.cmake, release.sh): x86-64 and AArch64 (hlo-aot), NVPTX, the JIT and the passes: a third of libLLVM.so, without
# Z3, ICU and libxml2 behind it. TARGETS.so gets hlo-aot's other targets, as an addition to OUT.so.
set -euo pipefail
out=$(realpath -m "$1")
targets=${2:+$(realpath -m "$2")}
prefix=${LLVM_ROOT:-/usr/lib/llvm-19}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# archives COMPONENT...: the static libraries of these components and of what they need, one a line
archives() { "$prefix/bin/llvm-config" --link-static --libfiles "$@" | tr ' ' '\n'; }

# components TARGET...: the parts of LLVM that compile for these targets
components() { for target; do echo "$target"{codegen,asmparser,desc,info}; done; }

# link OUT OPTION...: one shared library of all members of the archives that standard input names
link() {
  mkdir -p "$(dirname "$1")"
  g++ -shared -fuse-ld=lld -o "$1" -Wl,-soname,"$(basename "$1")" -Wl,--whole-archive $(cat) -Wl,--no-whole-archive \
    -Wl,-Bsymbolic-functions -Wl,--no-undefined -Wl,--build-id=none "${@:2}"
  strip "$1"
}

used="$(components x86 aarch64) nvptxcodegen nvptxdesc nvptxinfo orcjit passes bitreader bitwriter asmparser object"
# shellcheck disable=SC2086 # names of components, without spaces
archives $used | sort > "$work/used"
# Its one member that calls Z3 is for clang's analyzer.
cp "$prefix/lib/libLLVMSupport.a" "$work"
ar d "$work/libLLVMSupport.a" Z3Solver.cpp.o
sed "s|.*/libLLVMSupport.a|$work/libLLVMSupport.a|" "$work/used" | link "$out" -lz -lzstd -lpthread -ldl -lm

if [[ -n $targets ]]; then
  # shellcheck disable=SC2046
  archives $used $(components arm riscv powerpc systemz loongarch mips) | sort | comm -13 "$work/used" - |
    link "$targets" "$out" -Wl,-rpath,'$ORIGIN'
fi
# SPDX-License-Identifier: Apache-2.0
