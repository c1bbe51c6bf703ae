#!/usr/bin/env bash
# release.sh [OUT]: makes the packages in OUT (default dist/): a wheel for any Python from 3.9 on, with the tools inside, and
# Debian packages of the tools, of the libraries for development, and of the Python module; the VS Code extension. The same commit
# gives the same bits, in whatever folder it lies: sources are named from it, and programs find libraries from where they are.
set -euo pipefail
cd "$(dirname "$0")/.."
out=$(realpath -m "${1:-dist}")
scripts/setup.sh
missing=()
for package in patchelf dpkg-dev; do
  dpkg-query -W "$package" > /dev/null 2>&1 || missing+=("$package")
done
((${#missing[@]} == 0)) || apt-get install -y -qq --no-install-recommends "${missing[@]}" > /dev/null
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct)
export SOURCE_DATE_EPOCH
mkdir -p "$out"

build=build/wheel
anywhere=(-DCMAKE_CXX_FLAGS="-ffile-prefix-map=$PWD=hlokit" -DCMAKE_BUILD_RPATH_USE_ORIGIN=ON)
llvm=$PWD/$build/llvm/libhlokit_llvm.so
[[ -f $llvm ]] || scripts/slim_llvm.sh "$llvm"
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DHLOKIT_TESTS=OFF -Dhlokit_llvm_INCLUDE_DIR=/usr/lib/llvm-19/include \
  -Dhlokit_llvm_LLVM-19="$llvm" "${anywhere[@]}" ${HLOKIT_RELEASE_CMAKE:-} > "$build/configure.log"
cmake --build "$build" --target hlokit pjrt_hlokit
python3 scripts/wheel.py --build "$build" --out "$out"

python3 scripts/vsix.py "$out"

cmake -S . -B build/deb -G Ninja -DCMAKE_BUILD_TYPE=Release -DHLOKIT_TESTS=OFF -DHLOKIT_SLIM_LLVM=OFF -DCMAKE_INSTALL_PREFIX=/usr \
  -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_RPATH_USE_LINK_PATH=ON "${anywhere[@]}" ${HLOKIT_RELEASE_CMAKE:-} > build/deb.log
cmake --build build/deb
(cd build/deb && cpack -G DEB -B "$out" > cpack.log)
rm -rf "$out/_CPack_Packages"
ls -l "$out"
# SPDX-License-Identifier: Apache-2.0
