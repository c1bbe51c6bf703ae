// What a fuzz target defines, and what libfuzzer.cc and replay.cc drive.
#pragma once

#include "absl/strings/string_view.h"

namespace hlokit {

enum class InputKind {
  kText,    // mutated token by token, with the words of dictionary.h
  kBinary,  // mutated byte by byte
};

// How `input` is mutated.
InputKind KindOf(absl::string_view input);

// Feeds one input to the code under test and CHECKs what must hold of any input; must neither crash
// nor run for more than a second nor hold on to memory. Returns whether it was read as what the
// target reads, without an error; seeds must be (fuzz.seeds.NAME).
bool RunOne(absl::string_view input);

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
