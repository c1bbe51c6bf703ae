// Runs several models that were compiled ahead of time, each on made-up arguments, and prints all
// results; or holds them to what another machine printed. Built by scripts/tools/aot_aarch64_test.sh with
// models.inc, a line MODEL(name) for each.
//   values > FILE          prints: model, result, element, value
//   values --against FILE  exit 1 where a value is not the same: floats to 1e-5, the rest exactly
#include <cmath>
#include <cstdio>
#include <cstring>
#include <string>

#include "runtime/aot.h"

extern "C" {
#define MODEL(name) extern const HlokitAotModel name##_model;
#include "models.inc"
#undef MODEL
}

namespace {

const HlokitAotModel* const kModels[] = {
#define MODEL(name) &name##_model,
#include "models.inc"
#undef MODEL
};

// The words before the bracket of a shape's text.
std::string TypeOf(const HlokitAotArray& array) {
  return std::string(array.shape, std::strcspn(array.shape, "["));
}

int64_t WidthOf(const std::string& type) {
  for (const char* wide : {"f64", "s64", "u64"})
    if (type == wide) return 8;
  for (const char* word : {"f32", "s32", "u32", "c64"})  // c64 as pairs of f32
    if (type == word) return 4;
  return type == "bf16" || type == "f16" || type == "s16" || type == "u16" ? 2 : 1;
}

bool IsFloat(const std::string& type) { return type == "f32" || type == "c64" || type == "f64"; }

// Numbers between -2 and 2 in floats, 0 to 6 elsewhere.
void Fill(const HlokitAotArray& array, uint32_t seed, void* memory) {
  const std::string type = TypeOf(array);
  const int64_t width = WidthOf(type);
  uint32_t state = seed;
  for (int64_t i = 0; i < array.bytes / width; ++i) {
    state = state * 1664525 + 1013904223;
    const double value = (state >> 8) / 4194304.0 - 2;
    char* at = static_cast<char*>(memory) + i * width;
    if (type == "f64") {
      std::memcpy(at, &value, sizeof(value));
    } else if (IsFloat(type)) {
      const float narrow = static_cast<float>(value);
      std::memcpy(at, &narrow, sizeof(narrow));
    } else if (type == "bf16" || type == "f16") {
      const uint16_t one = type == "bf16" ? 0x3f80 : 0x3c00;
      std::memcpy(at, &one, sizeof(one));
    } else {
      const int64_t number = type == "pred" ? state >> 31 : (state >> 16) % 7;
      std::memcpy(at, &number, static_cast<size_t>(width));
    }
  }
}

struct Value {
  double number;  // of a float
  uint64_t bits;  // of anything else
};

Value Element(const std::string& type, const void* memory, int64_t i) {
  const int64_t width = WidthOf(type);
  const char* at = static_cast<const char*>(memory) + i * width;
  Value value = {0, 0};
  if (type == "f64") {
    std::memcpy(&value.number, at, sizeof(double));
  } else if (IsFloat(type)) {
    float narrow;
    std::memcpy(&narrow, at, sizeof(narrow));
    value.number = narrow;
  } else {
    std::memcpy(&value.bits, at, static_cast<size_t>(width));
  }
  return value;
}

bool Agree(const std::string& type, const Value& a, const Value& b) {
  if (!IsFloat(type)) return a.bits == b.bits;
  if (std::isnan(a.number) || std::isnan(b.number))
    return std::isnan(a.number) && std::isnan(b.number);
  if (a.number == b.number) return true;
  return std::fabs(a.number - b.number) <= 1e-6 + 1e-5 * std::fabs(b.number);
}

// How many values differ; -1 where the model does not run.
int64_t Visit(const HlokitAotModel& model, std::FILE* against, int64_t& values) {
  char error[HLOKIT_ERROR_SIZE] = "";
  HlokitAotRun* run = hlokit_aot_create(&model, nullptr, error, sizeof(error));
  if (run == nullptr) return std::fprintf(stderr, "%s: %s\n", model.name, error), -1;
  hlokit_aot_set_threads(run, 1);
  for (int64_t device = 0; device < hlokit_aot_device_count(run); ++device)
    for (int64_t a = 0; a < model.argument_count; ++a)
      Fill(model.arguments[a], static_cast<uint32_t>(100 * device + a + 1),
           hlokit_aot_device_argument(run, device, a));
  if (hlokit_aot_run(run) != 0)
    return std::fprintf(stderr, "%s: %s\n", model.name, hlokit_aot_error(run)), -1;
  int64_t different = 0;
  for (int64_t r = 0; r < model.result_count; ++r) {
    const std::string type = TypeOf(model.results[r]);
    for (int64_t i = 0; i < model.results[r].bytes / WidthOf(type); ++i, ++values) {
      const Value ours = Element(type, hlokit_aot_result(run, r), i);
      if (against == nullptr) {
        std::printf("%s %lld %lld %.17g %llx\n", model.name, static_cast<long long>(r),
                    static_cast<long long>(i), ours.number,
                    static_cast<unsigned long long>(ours.bits));
        continue;
      }
      Value theirs;
      unsigned long long bits = 0;
      if (std::fscanf(against, "%*s %*d %*d %lg %llx", &theirs.number, &bits) != 2) return -1;
      theirs.bits = bits;
      if (Agree(type, ours, theirs)) continue;
      if (++different == 1)
        std::fprintf(stderr, "%s, result %lld, element %lld: %.9g (%llx) here, %.9g (%llx) there\n",
                     model.name, static_cast<long long>(r), static_cast<long long>(i), ours.number,
                     static_cast<unsigned long long>(ours.bits), theirs.number, bits);
    }
  }
  hlokit_aot_destroy(run);
  return different;
}

}  // namespace

int main(int argc, char** argv) {
  std::FILE* against = argc == 3 ? std::fopen(argv[2], "r") : nullptr;
  if (argc == 3 && against == nullptr) return 1;
  int failed = 0, models = 0;
  int64_t values = 0;
  for (const HlokitAotModel* model : kModels) {
    ++models;
    if (Visit(*model, against, values) != 0) failed = 1;
  }
  std::fprintf(stderr, "%d models, %lld values\n", models, static_cast<long long>(values));
  return failed;
}
// SPDX-License-Identifier: Apache-2.0
