// Joins a target to libFuzzer: its entry point, and mutations by token for targets that read text.
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "fuzz/mutate.h"
#include "fuzz/target.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

absl::string_view AsText(const uint8_t* data, size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

size_t Put(const std::string& text, uint8_t* out) {
  std::memcpy(out, text.data(), text.size());
  return text.size();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  (void)hlokit::RunOne(AsText(data, size));
  return 0;
}

// One in four mutations is libFuzzer's own, which uses what it learned from comparisons.
extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned seed) {
  if (hlokit::KindOf(AsText(data, size)) != hlokit::InputKind::kText || seed % 4 == 0)
    return LLVMFuzzerMutate(data, size, max_size);
  hlokit::FuzzRandom random(seed);
  return Put(hlokit::MutateTokens(AsText(data, size), "", max_size, random), data);
}

extern "C" size_t LLVMFuzzerCustomCrossOver(const uint8_t* data1, size_t size1,
                                            const uint8_t* data2, size_t size2, uint8_t* out,
                                            size_t max_size, unsigned seed) {
  hlokit::FuzzRandom random(seed);
  const absl::string_view text = AsText(data1, size1);
  const auto mutate =
      hlokit::KindOf(text) == hlokit::InputKind::kText ? hlokit::MutateTokens : hlokit::MutateBytes;
  return Put(mutate(text, AsText(data2, size2), max_size, random), out);
}
// SPDX-License-Identifier: Apache-2.0
