// Programs compiled ahead of time give the bits that the JIT gives; headers, formats and refusals.
#include <cstdlib>
#include <filesystem>

#include "aot/generate_header.h"
#include "aot/loaded_internal.h"
#include "backends/cpu/cpu_backend.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "parser/parser.h"
#include "runtime/aot.h"
#include "support/file.h"
#include "support/scratch_folder.h"
#include "support/status.h"
#include "types/random_literal.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;

constexpr char kNetwork[] = R"(
HloModule network
max { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] maximum(a, b) }
body { s = (s32[], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  j = s32[] add(i, one)
  v = f32[8,16] get-tuple-element(s), index=1
  u = f32[8,16] tanh(v)
  ROOT t = (s32[], f32[8,16]) tuple(j, u) }
condition { s = (s32[], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT }
ENTRY e {
  x = f32[8,32] parameter(0)
  w = f32[32,16] parameter(1)
  bias = f32[16] constant({1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16})
  biases = f32[8,16] broadcast(bias), dimensions={1}
  product = f32[8,16] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  sum = f32[8,16] add(product, biases)
  zero = s32[] constant(0)
  init = (s32[], f32[8,16]) tuple(zero, sum)
  loop = (s32[], f32[8,16]) while(init), condition=condition, body=body
  y = f32[8,16] get-tuple-element(loop), index=1
  low = f32[] constant(-inf)
  best = f32[8] reduce(y, low), dimensions={1}, to_apply=max
  columns = f32[16,8]{0,1} transpose(y), dimensions={1,0}
  ROOT t = (f32[8], f32[16,8]{0,1}) tuple(best, columns)
})";

std::vector<Literal> RandomArguments(const Module& module) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    arguments.push_back(Literal::Unset(parameter->shape()));
    FillRandom(arguments.back(), arguments.size(), {});
  }
  return arguments;
}

void ExpectSameBits(absl::string_view text, bool weights_in_object) {
  AotOptions options;
  options.weights_in_object = weights_in_object;
  const AotObject object = Compile(text, options).value();
  EXPECT_EQ(object.weights.empty(), weights_in_object);
  const Loaded loaded(object);
  std::unique_ptr<Module> module = ParseModule(text).value();
  const std::vector<Literal> arguments = RandomArguments(*module);
  const auto jit = MakeCpuBackend()->Compile(std::move(module), {}).value();
  const Literal expected = jit->Run(arguments).value();
  char error[HLOKIT_ERROR_SIZE] = "";
  HlokitAotRun* run =
      hlokit_aot_create(loaded.model(), loaded.weights_path().c_str(), error, sizeof(error));
  ASSERT_NE(run, nullptr) << error;
  for (size_t i = 0; i < arguments.size(); ++i)
    ToLayout(arguments[i], object.arguments[i].shape,
             static_cast<uint8_t*>(hlokit_aot_argument(run, static_cast<int64_t>(i))));
  for (int time = 0; time < 2; ++time) {
    ASSERT_EQ(hlokit_aot_run(run), 0) << hlokit_aot_error(run);
    for (size_t i = 0; i < object.results.size(); ++i) {
      Literal found(object.results[i].shape);
      FromLayout(static_cast<const uint8_t*>(hlokit_aot_result(run, static_cast<int64_t>(i))),
                 object.results[i].shape, found);
      EXPECT_TRUE(found == expected.elements()[i]) << "result " << i;
    }
  }
  hlokit_aot_destroy(run);
}

TEST(AotTest, GivesTheBitsOfTheJit) { ExpectSameBits(kNetwork, true); }

TEST(AotTest, WeightsMayLieInAFile) { ExpectSameBits(kNetwork, false); }

TEST(AotTest, MissingWeightsAreExplained) {
  AotOptions options;
  options.weights_in_object = false;
  const Loaded loaded(Compile(kNetwork, options).value());
  char error[HLOKIT_ERROR_SIZE] = "";
  EXPECT_EQ(hlokit_aot_create(loaded.model(), nullptr, error, sizeof(error)), nullptr);
  EXPECT_THAT(error, HasSubstr("no file was named"));
  EXPECT_EQ(hlokit_aot_create(loaded.model(), "/proc/self/exe", error, sizeof(error)), nullptr);
  EXPECT_THAT(error, HasSubstr("another size"));
}

TEST(AotTest, MemoryMayBeTheCallers) {
  const Loaded loaded(Compile(kNetwork).value());
  HlokitAotRun* run = hlokit_aot_create(loaded.model(), nullptr, nullptr, 0);
  ASSERT_NE(run, nullptr);
  alignas(HLOKIT_AOT_ALIGNMENT) float memory[8 * 32] = {};
  EXPECT_EQ(hlokit_aot_set_argument(run, 0, memory), 0);
  EXPECT_EQ(hlokit_aot_argument(run, 0), memory);
  EXPECT_EQ(hlokit_aot_set_argument(run, 0, memory + 1), 1);
  EXPECT_EQ(hlokit_aot_set_argument(run, 2, memory), 1);
  EXPECT_EQ(hlokit_aot_result(run, -1), nullptr);
  EXPECT_EQ(hlokit_aot_run(run), 0);
  hlokit_aot_destroy(run);
}

TEST(AotTest, ArgumentsThatAreResultsAreNotCopied) {
  const Loaded loaded(
      Compile("ENTRY e { x = f32[4] parameter(0)\n y = f32[4] parameter(1)\n"
              " n = f32[4] negate(x)\n ROOT t = (f32[4], f32[4], f32[4]) tuple(y, n, x) }")
          .value());
  HlokitAotRun* run = hlokit_aot_create(loaded.model(), nullptr, nullptr, 0);
  ASSERT_NE(run, nullptr);
  EXPECT_EQ(hlokit_aot_result(run, 0), hlokit_aot_argument(run, 1));
  EXPECT_EQ(hlokit_aot_result(run, 2), hlokit_aot_argument(run, 0));
  alignas(HLOKIT_AOT_ALIGNMENT) float copy[4] = {};
  EXPECT_EQ(hlokit_aot_set_result(run, 2, copy), 0);
  static_cast<float*>(hlokit_aot_argument(run, 0))[3] = 7;
  ASSERT_EQ(hlokit_aot_run(run), 0);
  EXPECT_EQ(copy[3], 7);
  EXPECT_EQ(static_cast<const float*>(hlokit_aot_result(run, 1))[3], -7);
  hlokit_aot_destroy(run);
}

TEST(AotTest, DonatedArgumentsBecomeResults) {
  AotOptions options;
  options.donate = true;
  const AotObject object = Compile(R"(
HloModule step, input_output_alias={ {1}: (0, {}, may-alias) }
ENTRY e {
  state = f32[4]{0} parameter(0)
  by = f32[4]{0} parameter(1)
  sum = f32[4]{0} add(state, by)
  ROOT r = (f32[4]{0}, f32[4]{0}) tuple(by, sum)
})",
                                   options)
                               .value();
  EXPECT_THAT(object.donated, testing::ElementsAre(-1, 0));
  const std::string header = GenerateHeader(object, "model", "step.hlo");
  EXPECT_THAT(header, HasSubstr("model_set_state(model_run* run, float* data)"));
  EXPECT_THAT(header, HasSubstr("a run leaves result 1 in"));
  EXPECT_THAT(header, HasSubstr("model_set_by(model_run* run, const float* data)"));
  const Loaded loaded(object);
  HlokitAotRun* run = hlokit_aot_create(loaded.model(), nullptr, nullptr, 0);
  ASSERT_NE(run, nullptr);
  auto* state = static_cast<float*>(hlokit_aot_argument(run, 0));
  EXPECT_EQ(hlokit_aot_result(run, 1), state);
  static_cast<float*>(hlokit_aot_argument(run, 1))[3] = 2;
  for (int i = 0; i < 3; ++i) ASSERT_EQ(hlokit_aot_run(run), 0);
  EXPECT_EQ(state[3], 6);
  // A result with memory of its own leaves the argument as it is.
  alignas(HLOKIT_AOT_ALIGNMENT) float apart[4] = {};
  ASSERT_EQ(hlokit_aot_set_result(run, 1, apart), 0);
  for (int i = 0; i < 2; ++i) ASSERT_EQ(hlokit_aot_run(run), 0);
  EXPECT_EQ(apart[3], 8);
  EXPECT_EQ(state[3], 6);
  hlokit_aot_destroy(run);
}

TEST(AotTest, CustomCallsAreFunctionsOfTheProgram) {
  const AotObject object = Compile(R"(
ENTRY e {
  x = f32[3] parameter(0)
  y = f32[3] parameter(1)
  both = (f32[3], f32[2]) custom-call(x, y), custom_call_target="mix_in_host"
  mixed = f32[3] get-tuple-element(both), index=0
  twice = f32[3] add(mixed, mixed)
  ends = f32[2] get-tuple-element(both), index=1
  one = f32[3] custom-call(twice), custom_call_target="negate_in_host"
  ROOT r = (f32[3], f32[2]) tuple(one, ends)
})")
                               .value();
  EXPECT_THAT(object.custom_calls, testing::ElementsAre("mix_in_host", "negate_in_host"));
  const ScratchFolder folder;
  ASSERT_TRUE(AtomicWriteFile(folder.path() + "/host.cc", R"(
extern "C" void mix_in_host(void* out, const void** in) {
  const float *x = (const float*)in[0], *y = (const float*)in[1];
  float *sum = ((float**)out)[0], *ends = ((float**)out)[1];
  for (int i = 0; i < 3; ++i) sum[i] = x[i] + y[i];
  ends[0] = x[0];
  ends[1] = y[2];
}
extern "C" void negate_in_host(void* out, const void** in) {
  for (int i = 0; i < 3; ++i) ((float*)out)[i] = -((const float*)in[0])[i];
}
)")
                  .ok());
  const char* compiler = std::getenv("CXX");
  const std::string host = folder.path() + "/host.o";
  const std::string command = absl::StrCat(compiler != nullptr ? compiler : "c++", " -fPIC -c -o ",
                                           host, " ", folder.path(), "/host.cc");
  ASSERT_EQ(std::system(command.c_str()), 0) << command;
  const std::string linker = folder.path() + "/link";
  ASSERT_TRUE(AtomicWriteFile(
                  linker, absl::StrCat("#!/bin/sh\nexec ", compiler != nullptr ? compiler : "c++",
                                       " ", host, " \"$@\"\n"))
                  .ok());
  std::filesystem::permissions(linker, std::filesystem::perms::owner_all);
  const Loaded loaded(object, linker);
  HlokitAotRun* run = hlokit_aot_create(loaded.model(), nullptr, nullptr, 0);
  ASSERT_NE(run, nullptr);
  auto* x = static_cast<float*>(hlokit_aot_argument(run, 0));
  auto* y = static_cast<float*>(hlokit_aot_argument(run, 1));
  x[0] = 1, x[2] = 3, y[2] = 4;
  ASSERT_EQ(hlokit_aot_run(run), 0) << hlokit_aot_error(run);
  EXPECT_EQ(static_cast<const float*>(hlokit_aot_result(run, 0))[2], -14);
  EXPECT_EQ(static_cast<const float*>(hlokit_aot_result(run, 1))[0], 1);
  EXPECT_EQ(static_cast<const float*>(hlokit_aot_result(run, 1))[1], 4);
  hlokit_aot_destroy(run);
}

TEST(AotTest, HeadersNameWhatThereIs) {
  const AotObject object = Compile(kNetwork).value();
  const std::string header = GenerateHeader(object, "model", "network.hlo");
  EXPECT_THAT(header, HasSubstr("/* model, compiled by hlo-aot from network.hlo"));
  EXPECT_THAT(header, HasSubstr("Argument 1: f32[32,16]{1,0}, 512 elements"));
  EXPECT_THAT(header, HasSubstr("static inline float* model_x(model_run* run)"));
  EXPECT_THAT(header, HasSubstr("std::span<const float, 128> output_1()"));
  EXPECT_THAT(header, HasSubstr("class model {"));
}

AotOptions Named(std::string name) {
  AotOptions options;
  options.name = std::move(name);
  return options;
}

TEST(AotTest, NamesThatNoProgramCanUseAreRefused) {
  for (const char* name : {"", "2 words", "a-b", "class", "int", "main", "std", "hlokit_aot"})
    EXPECT_EQ(Compile(kNetwork, Named(name[0] == 0 ? " " : name)).status().code(),
              absl::StatusCode::kInvalidArgument)
        << name;
  for (const char* target : {"two words", "end*/", "model_entry"})
    EXPECT_EQ(Compile(absl::StrCat("ENTRY e { x = f32[4] parameter(0)\n ROOT c = f32[4] "
                                   "custom-call(x), custom_call_target=\"",
                                   target, "\" }"))
                  .status()
                  .code(),
              absl::StatusCode::kInvalidArgument)
        << target;
}

TEST(AotTest, DynamicArraysLieAtTheirBounds) {
  const AotObject object = Compile(R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  first = (f32[], f32[]) parameter(0)
  x = f32[<=4,2] parameter(1)
  n = s32[] parameter(2)
  y = f32[<=4,2] negate(x)
  zero = f32[] constant(0)
  sum = f32[2] reduce(x, zero), dimensions={0}, to_apply=add
  vector = f32[2] parameter(3)
  part = f32[<=2] set-dimension-size(vector, n), dimensions={0}
  ROOT r = (f32[<=4,2], f32[2], f32[<=2]) tuple(y, sum, part)
})")
                               .value();
  ASSERT_EQ(object.argument_sizes.size(), 1u);
  ASSERT_EQ(object.result_sizes.size(), 2u);
  EXPECT_EQ(object.arguments[5].name, "x_size_0");
  const std::string header = GenerateHeader(object, "model", "dynamic.hlo");
  EXPECT_THAT(header, HasSubstr("Argument 2: f32[<=4,2]{1,0}, 8 elements of this type, 32 bytes"));
  EXPECT_THAT(header, HasSubstr("How much there is of dimension 0 of x, 0 to 4."));
  EXPECT_THAT(header, HasSubstr("model_output_2_size_0"));
  const Loaded loaded(object);
  HlokitAotRun* run = hlokit_aot_create(loaded.model(), nullptr, nullptr, 0);
  ASSERT_NE(run, nullptr);
  auto* x = static_cast<float*>(hlokit_aot_argument(run, 2));
  for (int i = 0; i < 8; ++i) x[i] = static_cast<float>(i + 1);
  auto* size = static_cast<int32_t*>(hlokit_aot_argument(run, 5));
  auto* n = static_cast<int32_t*>(hlokit_aot_argument(run, 3));
  const auto sum = [&] {
    EXPECT_EQ(hlokit_aot_run(run), 0) << hlokit_aot_error(run);
    return static_cast<const float*>(hlokit_aot_result(run, 1))[0];
  };
  *n = 1;
  EXPECT_EQ(sum(), 1 + 3 + 5 + 7);  // the bound at first
  *size = 2;
  EXPECT_EQ(sum(), 1 + 3);
  const auto size_of = [&](size_t i) {
    return *static_cast<const int32_t*>(hlokit_aot_result(run, object.result_sizes[i].place));
  };
  EXPECT_EQ(size_of(0), 2);
  EXPECT_EQ(size_of(1), 1);
  *size = 5;
  EXPECT_EQ(hlokit_aot_run(run), 1);
  EXPECT_THAT(hlokit_aot_error(run), HasSubstr("x_size_0 is 5"));
  *size = 4;
  *n = 3;
  EXPECT_EQ(hlokit_aot_run(run), 1);
  EXPECT_THAT(hlokit_aot_error(run), HasSubstr("out of range"));
  hlokit_aot_destroy(run);
}

constexpr char kSoftFloats[] = R"(
HloModule small_types_and_doubles
ENTRY e {
  a = f64[1000] parameter(0)
  b = bf16[1000] parameter(1)
  c = f64[1000] convert(b)
  m = f64[1000] maximum(a, c)
  s = f64[1000] sine(m)
  ROOT r = f32[1000] convert(s)
})";

TEST(AotTest, OtherMachines) {
  AotOptions options;
  options.triple = "aarch64-linux-gnu";
  const AotObject arm = Compile(kNetwork, options).value();
  EXPECT_EQ(arm.code.substr(0, 4),
            "\x7f"
            "ELF");
  EXPECT_EQ(static_cast<uint8_t>(arm.code[18]), 183);
  options.triple = "x86_64-linux-gnu";
  for (const char* level : {"x86-64", "x86-64-v2", "x86-64-v3", "x86-64-v4"}) {
    options.cpu = level;
    EXPECT_TRUE(Compile(kNetwork, options).ok()) << level;
  }
  options.cpu = "x86-64-v9";
  EXPECT_EQ(Compile(kNetwork, options).status().code(), absl::StatusCode::kInvalidArgument);
  options.cpu = "";
  for (const char* features : {"+avx9", "avx2", "+avx2,-nonsense"}) {
    options.features = features;
    EXPECT_EQ(Compile(kNetwork, options).status().code(), absl::StatusCode::kInvalidArgument)
        << features;
  }
  options.features = "+avx2,-fma";
  EXPECT_TRUE(Compile(kNetwork, options).ok());
  options.features = "";
  // Without registers for vectors, and with elements wider than a register.
  for (const char* triple : {"riscv64-linux-gnu", "loongarch64-linux-gnu", "powerpc64le-linux-gnu",
                             "mips64el-linux-gnuabi64"}) {
    options.triple = triple;
    EXPECT_EQ(Compile(kNetwork, options).status(), absl::OkStatus()) << triple;
    EXPECT_EQ(Compile(kSoftFloats, options).status(), absl::OkStatus()) << triple;
  }
  // No such machine; the other order of bytes; too narrow.
  for (const char* triple :
       {"abacus-linux", "s390x-linux-gnu", "armv7-linux-gnueabihf", "wasm32"}) {
    options.triple = triple;
    EXPECT_EQ(Compile(kNetwork, options).status().code(), absl::StatusCode::kUnimplemented)
        << triple;
  }
}

TEST(AotTest, FeedsGoThroughTheQueuesOfARun) {
  const AotObject object = Compile(R"(
ENTRY e {
  t = token[] after-all()
  first = ((f32[2], s32[]), token[]) infeed(t)
  pair = (f32[2], s32[]) get-tuple-element(first), index=0
  between = token[] get-tuple-element(first), index=1
  second = (f32[2], token[]) infeed(between)
  x = f32[2] get-tuple-element(pair), index=0
  y = f32[2] get-tuple-element(second), index=0
  after = token[] get-tuple-element(second), index=1
  sum = f32[2] add(x, y)
  o = token[] outfeed(sum, after), outfeed_shape=f32[2]
  ROOT n = s32[] get-tuple-element(pair), index=1
})")
                               .value();
  EXPECT_EQ(object.infeeds.size(), 2u);
  const std::string header = GenerateHeader(object, "model", "feeds.hlo");
  EXPECT_THAT(header, HasSubstr("infeed (see hlokit_aot_queues):\n *   (f32[2]{0}, s32[])"));
  const Loaded loaded(object);
  HlokitAotRun* run = hlokit_aot_create(loaded.model(), nullptr, nullptr, 0);
  ASSERT_NE(run, nullptr);
  // The functions of the model's own runtime, as this program has one too.
  const auto push = loaded.Find<decltype(hlokit_infeed_push)>("hlokit_infeed_push");
  const auto pop = loaded.Find<decltype(hlokit_outfeed_pop)>("hlokit_outfeed_pop");
  const auto execute = loaded.Find<decltype(hlokit_aot_run)>("hlokit_aot_run");
  const float x[] = {1, 2}, y[] = {10, 20};
  const int32_t n = 7;
  const void* pair[] = {x, &n};
  const void* single[] = {y};
  const int64_t pair_sizes[] = {8, 4}, sizes[] = {8};
  push(hlokit_aot_queues(run), 2, pair, pair_sizes);
  push(hlokit_aot_queues(run), 1, single, sizes);
  ASSERT_EQ(execute(run), 0) << hlokit_aot_error(run);
  float sum[2] = {};
  void* into[] = {sum};
  ASSERT_EQ(pop(hlokit_aot_queues(run), 1, into, sizes, 0), 1);
  EXPECT_EQ(sum[1], 22);
  EXPECT_EQ(*static_cast<const int32_t*>(hlokit_aot_result(run, 0)), 7);
  push(hlokit_aot_queues(run), 1, single, sizes);  // not what the program takes
  EXPECT_EQ(execute(run), 1);
  EXPECT_THAT(hlokit_aot_error(run), HasSubstr("infeed"));
  hlokit_aot_destroy(run);
}

TEST(AotTest, CollectivesOfOneDevice) {
  ExpectSameBits(R"(
add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT r = f32[] add(a, b) }
ENTRY e {
  x = f32[2,3] parameter(0)
  y = f32[2,3] parameter(1)
  sums = (f32[2,3], f32[2,3]) all-reduce(x, y), replica_groups={}, to_apply=add
  gathered = f32[2,3] all-gather(x), dimensions={0}, replica_groups={{0}}
  scattered = f32[2,3] reduce-scatter(y), dimensions={0}, to_apply=add, replica_groups={{0}}
  swapped = f32[2,3] all-to-all(x), dimensions={0}, replica_groups={{0}}
  moved = f32[2,3] collective-permute(y), source_target_pairs={{0,0}}
  nothing = f32[2,3] collective-permute(y), source_target_pairs={}
  start = (f32[2,3], f32[2,3]) all-gather-start(y), dimensions={0}, replica_groups={{0}}
  done = f32[2,3] all-gather-done(start)
  reducing = f32[2,3] all-reduce-start(x), replica_groups={}, to_apply=add
  reduced = f32[2,3] all-reduce-done(reducing)
  sum = f32[2,3] get-tuple-element(sums), index=1
  device = u32[] replica-id()
  ROOT t = (f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3], f32[2,3], u32[]) tuple(sum, gathered, scattered, swapped, moved, nothing, done, reduced, device)
})",
                 true);
}

TEST(AotTest, RefusesByName) {
  const auto refusal = [](absl::string_view text) {
    const auto object = Compile(text);
    EXPECT_EQ(object.status().code(), absl::StatusCode::kUnimplemented) << text;
    return std::string(object.status().message());
  };
  EXPECT_THAT(refusal("ENTRY e { x = (f32[<=4], f32[]) parameter(0)\n"
                      " ROOT d = f32[<=4] get-tuple-element(x), index=0 }"),
              HasSubstr("dynamic dimensions"));
  EXPECT_THAT(refusal("HloModule m, num_partitions=2\nENTRY e { x = f32[4] parameter(0)\n"
                      " p = f32[2] custom-call(x), custom_call_target=\"SPMDFullToShardShape\"\n"
                      " ROOT w = f32[4] custom-call(p), "
                      "custom_call_target=\"SPMDShardToFullShape\" }"),
              HasSubstr("manual region"));
  EXPECT_THAT(refusal("ENTRY e { x = (f32[4], f32[]) parameter(0)\n"
                      " ROOT c = f32[4] custom-call(x), custom_call_target=\"mine\" }"),
              HasSubstr("only arrays"));
}

TEST(AotTest, ArchivesHoldTheObject) {
  const AotObject object = Compile(kNetwork).value();
  const ScratchFolder folder;
  PackageOptions options;
  options.format = AotFormat::kStatic;
  options.path = folder.path() + "/libmodel.a";
  options.name = "model";
  ASSERT_TRUE(WritePackage(object, options).ok());
  const std::string archive = ReadFile(options.path).value();
  EXPECT_EQ(archive.substr(0, 8), "!<arch>\n");
  EXPECT_NE(archive.find(object.code), std::string::npos);
  options.format = AotFormat::kShared;
  options.linker = "no-such-linker";
  EXPECT_EQ(WritePackage(object, options).code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
