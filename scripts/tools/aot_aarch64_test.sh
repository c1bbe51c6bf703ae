#!/usr/bin/env bash
# Modules compiled ahead of time for aarch64 compute what they compute here: one program of all, with the whole runtime
# library, built by a cross compiler and run by qemu-user. Exit status 77 where qemu-aarch64 or aarch64-linux-gnu-g++ is
# missing. Then a project of its own, examples/aot_application, by hlokit_add_aot_library and the same toolchain file.
#   scripts/tools/aot_aarch64_test.sh BUILD
set -euo pipefail
source_folder=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "$1" && pwd)
cross=aarch64-linux-gnu-g++
if ! command -v qemu-aarch64 > /dev/null || ! command -v $cross > /dev/null; then
  echo "qemu-aarch64 or $cross is not installed"
  exit 77
fi
# One of each kind of code: loops, every family of kernels of the runtime library, control flow.
operations=(dot convolution ragged-dot fft sort topk rng rng-bit-generator cholesky triangular-solve copy reduce
            reduce-window select-and-scatter scatter gather while conditional call map fusion convert reduce-precision
            bitcast-convert tanh exponential log erf power atan2 sine cbrt divide remainder clamp compare pad concatenate
            dynamic-slice dynamic-update-slice transpose reverse iota complex)
models=("$source_folder"/testdata/aot/*.hlo)
for operation in "${operations[@]}"; do models+=("$source_folder/testdata/ops/$operation/example.hlo"); done

folder=$build/aot_aarch64
mkdir -p "$folder/here" "$folder/there"
cmake -S "$source_folder" -B "$folder/runtime" -D HLOKIT_RUNTIME_ONLY=ON -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_TOOLCHAIN_FILE="$source_folder/cmake/aarch64-linux-gnu.cmake" > "$folder/configure.log"
cmake --build "$folder/runtime" > "$folder/build.log" || { tail -30 "$folder/build.log"; exit 1; }
cd "$folder"
: > models.inc
for i in "${!models[@]}"; do
  echo "MODEL(model_$i)" >> models.inc
  "$build/bin/hlo-aot" "${models[$i]}" --name="model_$i" -o "here/$i.o"
  "$build/bin/hlo-aot" "${models[$i]}" --name="model_$i" -o "there/$i.o" --target-triple=aarch64-linux-gnu
done
link() {  # link COMPILER OBJECTS RUNTIME LIBRARIES...
  local compiler=$1 objects=$2 runtime=$3
  shift 3
  "$compiler" -std=c++20 -O1 -I"$source_folder" -I. -o "$objects/values" "$source_folder/testdata/aot/values.cc" \
    "$objects"/*.o "$runtime" "$@" -pthread -ldl -Wl,--gc-sections
}
rm -f here/values there/values
sanitizers=$(sed -n 's/^HLOKIT_SANITIZE:STRING=//p' "$build/CMakeCache.txt")  # that the runtime library is built with
link "${CXX:-g++}" here "$build/lib/libhlokit_runtime.a" -lhwy_contrib -lhwy ${sanitizers:+"-fsanitize=$sanitizers"}
link $cross there runtime/lib/libhlokit_runtime.a -static 2> link.log || { cat link.log; exit 1; }
qemu-aarch64 there/values > there.txt
here/values --against there.txt

rm -rf prefix application
cmake --install runtime --prefix prefix > install.log
cmake -S "$source_folder/examples/aot_application" -B application -D CMAKE_BUILD_TYPE=Release \
  -D CMAKE_TOOLCHAIN_FILE="$source_folder/cmake/aarch64-linux-gnu.cmake" -D CMAKE_PREFIX_PATH="$folder/prefix" \
  -D HLOKIT_AOT="$build/bin/hlo-aot" -D CMAKE_CROSSCOMPILING_EMULATOR=qemu-aarch64 \
  -D CMAKE_EXE_LINKER_FLAGS=-static > application.log || { tail -30 application.log; exit 1; }
cmake --build application >> application.log 2>&1 || { tail -30 application.log; exit 1; }
ctest --test-dir application --output-on-failure --no-tests=error
# SPDX-License-Identifier: Apache-2.0
