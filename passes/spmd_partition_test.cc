// Partitioned programs against the whole one: equal results, part by part.
#include <cstdlib>
#include <filesystem>
#include <random>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "interpreter/interpreter.h"
#include "ops/collective/shards.h"
#include "parser/parser.h"
#include "passes/manager.h"
#include "passes/spmd/tilings.h"
#include "printer/printer.h"
#include "support/file.h"
#include "support/status.h"
#include "types/compare.h"
#include "types/random_literal.h"

namespace hlokit {
namespace {

std::unique_ptr<Module> Read(const std::string& text) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test.hlo", text);
  auto module = ParseModule(source, {}, diagnostics);
  EXPECT_TRUE(module.ok()) << diagnostics.Render(*source);
  return module.ok() ? *std::move(module) : nullptr;
}

std::vector<Literal> RandomArguments(const Module& module) {
  std::vector<Literal> arguments;
  for (const Instruction* parameter : module.entry()->parameters()) {
    arguments.emplace_back(parameter->shape());
    FillRandom(arguments.back(), arguments.size(), RandomRanges());
  }
  return arguments;
}

// Each device's parts of the arguments.
std::vector<std::vector<Literal>> Cut(const std::vector<Literal>& wholes,
                                      const std::vector<Tiling>& tilings, int64_t devices) {
  std::vector<std::vector<Literal>> parts(devices);
  for (int64_t device = 0; device < devices; ++device)
    for (size_t k = 0; k < wholes.size(); ++k)
      parts[device].push_back(ShardOf(wholes[k], tilings[k], device));
  return parts;
}

std::vector<Literal> PartsOf(Literal literal) {
  if (!literal.shape().IsTuple()) {
    std::vector<Literal> one;
    one.push_back(std::move(literal));
    return one;
  }
  return std::move(literal.elements());
}

// Runs the module as it is on one device with whole arrays, and partitioned on all of them.
void ExpectSameParts(std::unique_ptr<Module> module) {
  ASSERT_NE(module, nullptr);
  const int64_t devices = module->header().num_partitions;
  const std::vector<Literal> arguments = RandomArguments(*module);
  std::vector<Tiling> cuts;
  for (const Instruction* parameter : module->entry()->parameters()) {
    const auto tilings = ParameterTilings(*parameter, devices);
    ASSERT_TRUE(tilings.ok()) << tilings.status();
    cuts.push_back((*tilings)[0]);
  }
  const auto results = ResultTilings(*module->entry(), devices);
  ASSERT_TRUE(results.ok()) << results.status();

  auto whole_module = module->Clone();
  whole_module->header().num_partitions = 1;
  auto whole = Interpret(*whole_module, arguments);
  ASSERT_TRUE(whole.ok()) << whole.status();
  const std::vector<Literal> expected = PartsOf(std::move((*whole)[0]));

  PassOptions options;
  options.verify_each = true;
  CHECK_OK(RunPasses(*module, "sharding-propagation,spmd-partitioning,dce", options));
  SCOPED_TRACE(Print(*module));
  const auto parts = Cut(arguments, cuts, devices);
  std::vector<std::vector<const Literal*>> pointers(devices);
  for (int64_t device = 0; device < devices; ++device)
    for (const Literal& part : parts[device]) pointers[device].push_back(&part);
  auto made = InterpretDevices(*module, pointers);
  ASSERT_TRUE(made.ok()) << made.status();
  for (int64_t device = 0; device < devices; ++device) {
    const std::vector<Literal> actual = PartsOf(std::move((*made)[device]));
    ASSERT_EQ(actual.size(), expected.size());
    for (size_t k = 0; k < expected.size(); ++k) {
      CompareOptions bounds;
      // Partial sums of narrow types are rounded on each device.
      const bool narrow = BitWidth(actual[k].type()) < 32;
      bounds.abs_error = bounds.rel_error = narrow ? 2e-2 : 1e-4;
      const CompareResult result =
          Compare(ShardOf(expected[k], (*results)[k], device), actual[k], bounds);
      EXPECT_TRUE(result.equal) << "device " << device << ", result " << k << ": "
                                << result.shape_mismatch << result.Report();
    }
  }
}

struct Case {
  const char* name;
  const char* entry;
};

std::string Text(const char* entry) {
  return std::string(
             "HloModule m, num_partitions=4\n"
             "add { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
             "max { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] maximum(x, y) }\n"
             "lt { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = pred[] compare(x, y), "
             "direction=LT }\n"
             "cond { s = (s32[], f32[8,6]{1,0}, f32[6,6]{1,0}) parameter(0)\n"
             "  i = s32[] get-tuple-element(s), index=0\n  n = s32[] constant(3)\n"
             "  ROOT c = pred[] compare(i, n), direction=LT }\n"
             "body { s = (s32[], f32[8,6]{1,0}, f32[6,6]{1,0}) parameter(0)\n"
             "  i = s32[] get-tuple-element(s), index=0\n  one = s32[] constant(1)\n"
             "  j = s32[] add(i, one)\n  x = f32[8,6]{1,0} get-tuple-element(s), index=1\n"
             "  w = f32[6,6]{1,0} get-tuple-element(s), index=2\n"
             "  y = f32[8,6]{1,0} dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}\n"
             "  ROOT t = (s32[], f32[8,6]{1,0}, f32[6,6]{1,0}) tuple(j, y, w) }\n"
             "ENTRY e {\n") +
         entry + "\n}\n";
}

class Partition : public testing::TestWithParam<Case> {};

TEST_P(Partition, GivesThePartsOfTheWhole) { ExpectSameParts(Read(Text(GetParam().entry))); }

// One of the ways to cut an array over four devices, evenly or not.
Sharding RandomSharding(const Shape& shape, std::mt19937& random) {
  Sharding sharding;
  const int64_t way = random() % 5;
  if (shape.rank() == 0 || way == 0) return sharding;  // replicated
  sharding.kind = Sharding::Kind::kTiled;
  sharding.tile_dims.assign(shape.rank(), 1);
  const int64_t a = random() % shape.rank(), b = random() % shape.rank();
  if (way == 1 && a != b) {
    sharding.tile_dims[a] = sharding.tile_dims[b] = 2;
  } else if (way == 2) {
    sharding.tile_dims[a] = 2;
    sharding.tile_dims.push_back(2);
    sharding.last_tile_dim_replicate = true;
  } else {
    sharding.tile_dims[a] = 4;
  }
  sharding.iota = true;
  sharding.reshape_dims = {4};
  if (random() % 2 == 0) {
    sharding.reshape_dims = {2, 2};
    sharding.transpose_perm = {1, 0};
  }
  return sharding;
}

// Parameters and results are cut, and every other instruction or so in between.
void ShardAtRandom(Module& module, std::mt19937& random) {
  for (Instruction* i : module.entry()->Instructions()) {
    const bool chosen = i->IsParameter() || i->IsRoot() || random() % 2 == 0;
    if (!chosen || !i->shape().IsArray() || i->IsConstant()) continue;
    i->mutable_extras().sharding = std::make_unique<Sharding>(RandomSharding(i->shape(), random));
  }
}

constexpr const char* kUnsharded[] = {
    // elementwise, broadcast, transpose, reshape
    "p = f32[8,12]{1,0} parameter(0)\nq = f32[12]{0} parameter(1)\n"
    "b = f32[8,12]{1,0} broadcast(q), dimensions={1}\na = f32[8,12]{1,0} add(p, b)\n"
    "t = f32[12,8]{1,0} transpose(a), dimensions={1,0}\nr = f32[3,4,8]{2,1,0} reshape(t)\n"
    "ROOT n = f32[3,4,8]{2,1,0} negate(r)",
    // dots, batched and not
    "p = f32[4,8,6]{2,1,0} parameter(0)\nq = f32[4,6,8]{2,1,0} parameter(1)\n"
    "d = f32[4,8,8]{2,1,0} dot(p, q), lhs_batch_dims={0}, rhs_batch_dims={0}, "
    "lhs_contracting_dims={2}, rhs_contracting_dims={1}\nw = f32[8,5]{1,0} parameter(2)\n"
    "ROOT e = f32[4,8,5]{2,1,0} dot(d, w), lhs_contracting_dims={2}, rhs_contracting_dims={0}",
    // reduces
    "p = f32[8,12,4]{2,1,0} parameter(0)\nz = f32[] constant(0)\nm = f32[] constant(-inf)\n"
    "s = f32[8,4]{1,0} reduce(p, z), dimensions={1}, to_apply=add\n"
    "ROOT h = f32[4]{0} reduce(s, m), dimensions={0}, to_apply=max",
    // slice, pad, reverse, concatenate
    "p = f32[8,12]{1,0} parameter(0)\nz = f32[] constant(2)\n"
    "s = f32[4,12]{1,0} slice(p), slice={[2:6], [0:12]}\n"
    "d = f32[8,14]{1,0} pad(p, z), padding=0_0x1_1\n"
    "e = f32[8,12]{1,0} slice(d), slice={[0:8], [1:13]}\n"
    "c = f32[12,12]{1,0} concatenate(s, e), dimensions={0}\n"
    "ROOT r = f32[12,12]{1,0} reverse(c), dimensions={1}",
    // gather and scatter
    "p = f32[8,12]{1,0} parameter(0)\ni = s32[8]{0} parameter(1)\n"
    "g = f32[8,12]{1,0} gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, "
    "start_index_map={0}, index_vector_dim=1, slice_sizes={1,12}\n"
    "ROOT s = f32[8,12]{1,0} scatter(p, i, g), update_window_dims={1}, inserted_window_dims={0}, "
    "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add",
    // convolution, reduce-window
    "p = f32[8,6,4]{2,1,0} parameter(0)\nk = f32[3,4,8]{2,1,0} parameter(1)\n"
    "c = f32[8,6,8]{2,1,0} convolution(p, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f\n"
    "z = f32[] constant(0)\n"
    "ROOT w = f32[8,4,8]{2,1,0} reduce-window(c, z), window={size=1x3x1}, to_apply=add",
    // sort, iota, select, dynamic updates
    "p = f32[8,12]{1,0} parameter(0)\ni = s32[] parameter(1)\nz = s32[] constant(0)\n"
    "s = f32[8,12]{1,0} sort(p), dimensions={1}, to_apply=lt\n"
    "o = f32[8,12]{1,0} iota(), iota_dimension=0\nc = pred[8,12]{1,0} compare(s, o), "
    "direction=LT\nx = f32[8,12]{1,0} select(c, s, o)\n"
    "u = f32[8,3]{1,0} dynamic-slice(x, z, i), dynamic_slice_sizes={8,3}\n"
    "ROOT d = f32[8,12]{1,0} dynamic-update-slice(x, u, z, i)",
    // windows that reach over several neighbours, one of them beyond both ends
    "p = f32[8,12]{1,0} parameter(0)\nz = f32[] constant(0)\n"
    "w = f32[8,12]{1,0} reduce-window(p, z), window={size=5x9 pad=2_2x5_3}, to_apply=add\n"
    "ROOT v = f32[4,17]{1,0} reduce-window(w, z), window={size=3x4 stride=2x1 pad=0_1x4_4}, "
    "to_apply=add",
    // pads and slices by more than a shard
    "p = f32[8,12]{1,0} parameter(0)\nz = f32[] constant(1)\n"
    "q = f32[16,12]{1,0} pad(p, z), padding=5_3x-4_4\n"
    "s = f32[8,4]{1,0} slice(q), slice={[3:11], [7:11]}\n"
    "ROOT r = f32[8,8]{1,0} pad(s, z), padding=0_0x1_3",
};

// However arrays are cut, the parts are those of the whole.
TEST(PartitionAtRandom, GivesThePartsOfTheWhole) {
  for (const char* entry : kUnsharded)
    for (uint32_t seed = 0; seed < 8; ++seed) {
      SCOPED_TRACE(seed);
      auto module = Read(Text(entry));
      ASSERT_NE(module, nullptr);
      std::mt19937 random(seed);
      ShardAtRandom(*module, random);
      ExpectSameParts(std::move(module));
    }
}

// A line of 2 to 25 elements cut over 2 to 8 devices, the instruction that moves its rows among them (pads, slices, windows,
// dilated ones) and its result cut in the same way: rows come from neighbours, from far away, from nowhere. The result is made
// whole at the end, since nobody asks what an uneven shard holds behind its rows.
std::string LineMoved(std::mt19937& random) {
  const auto within = [&random](int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  };
  const int64_t devices = std::vector<int64_t>{2, 3, 4, 8}[random() % 4], n = within(2, 25);
  int64_t m = 0;
  std::string moved;
  while (m < 1) {
    const int64_t low = within(-n / 2, n), high = within(-n / 2, n);
    const int64_t size = within(1, n), dilation = within(1, 2), stride = within(1, 3);
    const int64_t reach = (size - 1) * dilation + 1;
    switch (random() % 4) {
      case 0: {
        const int64_t interior = within(0, 2);
        m = low + n + (n - 1) * interior + high;
        moved = absl::StrCat("pad(p, z), padding=", low, "_", high, "_", interior);
        break;
      }
      case 1: {
        const int64_t start = within(0, n - 1), limit = within(start + 1, n);
        m = (limit - start + stride - 1) / stride;
        moved = absl::StrCat("slice(p), slice={[", start, ":", limit, ":", stride, "]}");
        break;
      }
      case 2:
        if (low < 0 || high < 0 || low + n + high < reach) break;
        m = (low + n + high - reach) / stride + 1;
        moved = absl::StrCat("reduce-window(p, z), window={size=", size, " stride=", stride,
                             " pad=", low, "_", high, " rhs_dilate=", dilation, "}, to_apply=add");
        break;
      default:
        if (low < 0 || high < 0 || low + 2 * n - 1 + high < size) break;
        m = (low + 2 * n - 1 + high - size) / stride + 1;
        moved = absl::StrCat("reduce-window(p, z), window={size=", size, " stride=", stride,
                             " pad=", low, "_", high, " lhs_dilate=2}, to_apply=add");
    }
  }
  const std::string cut = absl::StrCat(", sharding={devices=[", devices, "]<=[", devices, "]}\n");
  return absl::StrCat(
      "HloModule m, num_partitions=", devices,
      "\nadd { x = f32[] parameter(0) y = f32[] parameter(1) ROOT s = f32[] add(x, y) }\n"
      "ENTRY e {\np = f32[", n, "]{0} parameter(0)", cut, "z = f32[] constant(",
      absl::StartsWith(moved, "pad") ? "1.5" : "0", ")\nr = f32[", m, "]{0} ", moved, cut,
      "ROOT n = f32[", m, "]{0} negate(r), sharding={replicated}\n}\n");
}

TEST(PartitionOfLines, GivesThePartsOfTheWhole) {
  const char* count = std::getenv("HLOKIT_PARTITIONED_LINES");
  const uint32_t seeds = count == nullptr ? 300 : static_cast<uint32_t>(std::stoul(count));
  for (uint32_t k = 0; k <= seeds; ++k) {
    // The last one: what one place needs ends behind what all the others bring.
    const uint32_t seed = k < seeds ? k : 704;
    std::mt19937 random(seed);
    const std::string text = LineMoved(random);
    SCOPED_TRACE(absl::StrCat("seed ", seed, "\n", text));
    ExpectSameParts(Read(text));
    if (testing::Test::HasFailure()) return;
  }
}

#define ROWS ", sharding={devices=[4,1]<=[4]}\n"
#define COLUMNS ", sharding={devices=[1,4]<=[4]}\n"
#define MESH ", sharding={devices=[2,2]<=[4]}\n"

INSTANTIATE_TEST_SUITE_P(
    All, Partition,
    testing::Values(
        Case{"Contracted",
             "p = f32[8,12]{1,0} parameter(0)" COLUMNS "q = f32[12,5]{1,0} parameter(1)" ROWS
             "ROOT d = f32[8,5]{1,0} dot(p, q), lhs_contracting_dims={1}, "
             "rhs_contracting_dims={0}"},
        Case{"Mesh", "p = f32[8,12]{1,0} parameter(0)" MESH "q = f32[12,4]{1,0} parameter(1)" MESH
                     "ROOT d = f32[8,4]{1,0} dot(p, q), lhs_contracting_dims={1}, "
                     "rhs_contracting_dims={0}" MESH},
        Case{"Softmax", "p = f32[3,16]{1,0} parameter(0)" COLUMNS
                        "m = f32[] constant(-inf)\nz = f32[] constant(0)\n"
                        "h = f32[3]{0} reduce(p, m), dimensions={1}, to_apply=max\n"
                        "b = f32[3,16]{1,0} broadcast(h), dimensions={0}\n"
                        "s = f32[3,16]{1,0} subtract(p, b)\ne = f32[3,16]{1,0} exponential(s)\n"
                        "r = f32[3]{0} reduce(e, z), dimensions={1}, to_apply=add\n"
                        "c = f32[3,16]{1,0} broadcast(r), dimensions={0}\n"
                        "ROOT d = f32[3,16]{1,0} divide(e, c)" COLUMNS},
        Case{"Uneven", "p = f32[6,5]{1,0} parameter(0)" ROWS "n = f32[6,5]{1,0} negate(p)\n"
                       "ROOT r = f32[6,5]{1,0} reverse(n), dimensions={0}" ROWS},
        Case{"Moved",
             "p = f32[8,12]{1,0} parameter(0)" ROWS
             "t = f32[12,8]{1,0} transpose(p), dimensions={1,0}\n"
             "r = f32[3,4,8]{2,1,0} reshape(t)\ns = f32[2,4,8]{2,1,0} slice(r), slice={[1:3], "
             "[0:4], [0:8]}\nz = f32[] constant(1)\n"
             "ROOT q = f32[3,4,9]{2,1,0} pad(s, z), padding=0_1x0_0x1_0"},
        Case{"Concatenated",
             "p = f32[8,4]{1,0} parameter(0)" ROWS "q = f32[8,4]{1,0} parameter(1)" COLUMNS
             "a = f32[16,4]{1,0} concatenate(p, q), dimensions={0}\n"
             "b = f32[8,8]{1,0} concatenate(p, q), dimensions={1}\n"
             "ROOT t = (f32[16,4]{1,0}, f32[8,8]{1,0}) tuple(a, b), "
             "sharding={{devices=[4,1]<=[4]}, {devices=[1,4]<=[4]}}"},
        Case{"Gathered",
             "p = f32[8,12]{1,0} parameter(0)" ROWS
             "i = s32[8]{0} parameter(1), sharding={devices=[4]<=[4]}\n"
             "ROOT g = f32[8,12]{1,0} gather(p, i), offset_dims={1}, collapsed_slice_dims={0}, "
             "start_index_map={0}, index_vector_dim=1, slice_sizes={1,12}" COLUMNS},
        Case{"Sorted", "p = f32[8,12]{1,0} parameter(0)" ROWS
                       "s = f32[8,12]{1,0} sort(p), dimensions={1}, to_apply=lt\n"
                       "ROOT q = f32[8,12]{1,0} sort(s), dimensions={0}, to_apply=lt"},
        Case{"Convolved",
             "p = f32[8,6,4]{2,1,0} parameter(0), sharding={devices=[4,1,1]<=[4]}\n"
             "k = f32[3,4,8]{2,1,0} parameter(1), sharding={devices=[1,1,4]<=[4]}\n"
             "ROOT c = f32[8,4,8]{2,1,0} convolution(p, k), window={size=3}, "
             "dim_labels=b0f_0io->b0f, sharding={devices=[1,1,4]<=[4]}"},
        Case{"Updated",
             "p = f32[8,12]{1,0} parameter(0)" ROWS "u = f32[8,2]{1,0} parameter(1)" ROWS
             "z = s32[] constant(0)\ni = s32[] constant(7)\n"
             "a = f32[8,12]{1,0} dynamic-update-slice(p, u, z, i)\n"
             "ROOT b = f32[8,3]{1,0} dynamic-slice(a, z, i), dynamic_slice_sizes={8,3}" ROWS},
        Case{"SortedAcross", "p = f32[8,12]{1,0} parameter(0)" COLUMNS
                             "s = f32[8,12]{1,0} sort(p), dimensions={1}, to_apply=lt" COLUMNS
                             "ROOT q = f32[8,12]{1,0} negate(s)" COLUMNS},
        Case{"SortedWhole", "p = f32[6,12]{1,0} parameter(0)" COLUMNS
                            "s = f32[6,12]{1,0} sort(p), dimensions={1}, to_apply=lt" COLUMNS
                            "ROOT q = f32[6,12]{1,0} negate(s)" COLUMNS},
        Case{"WideWindows",
             "p = f32[8,12]{1,0} parameter(0)" COLUMNS
             "z = f32[] constant(0)\n"
             "w = f32[8,12]{1,0} reduce-window(p, z), window={size=1x9 pad=0_0x5_3}, "
             "to_apply=add" COLUMNS "ROOT q = f32[8,12]{1,0} negate(w)" COLUMNS},
        Case{"CutAndDilated", "p = f32[8,7]{1,0} parameter(0)" COLUMNS
                              "z = f32[] constant(1.5)\n"
                              "r = f32[8,25]{1,0} pad(p, z), padding=0_0x-1_7_2" COLUMNS
                              "ROOT q = f32[8,25]{1,0} negate(r), sharding={replicated}"},
        Case{"Marked", "p = f32[8,12]{1,0} parameter(0)" ROWS
                       "s = f32[8,12]{1,0} custom-call(p), custom_call_target=\"Sharding\"" COLUMNS
                       "ROOT q = f32[8,12]{1,0} reverse(s), dimensions={0}" COLUMNS},
        Case{"Looped",
             "z = s32[] constant(0)\np = f32[8,6]{1,0} parameter(0)" ROWS
             "w = f32[6,6]{1,0} parameter(1), sharding={devices=[2,1,2]<=[4] "
             "last_tile_dim_replicate}\n"
             "t = (s32[], f32[8,6]{1,0}, f32[6,6]{1,0}) tuple(z, p, w)\n"
             "l = (s32[], f32[8,6]{1,0}, f32[6,6]{1,0}) while(t), condition=cond, body=body\n"
             "ROOT g = f32[8,6]{1,0} get-tuple-element(l), index=1" ROWS}),
    [](const auto& info) { return std::string(info.param.name); });

// Modules of a folder that HLOKIT_PARTITION names: whole programs of JAX's.
std::vector<std::string> FilesGiven() {
  std::vector<std::string> paths;
  const char* folder = std::getenv("HLOKIT_PARTITION");
  if (folder == nullptr) return paths;
  for (const auto& file : std::filesystem::directory_iterator(folder)) {
    const std::string path = file.path().string();
    if (absl::EndsWith(path, ".after.hlo") && !absl::StrContains(ReadFile(path).value(), "manual"))
      paths.push_back(path);
  }
  return paths;
}

class PartitionSlow : public testing::TestWithParam<std::string> {};
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(PartitionSlow);

TEST_P(PartitionSlow, FileGiven) {
  SCOPED_TRACE(GetParam());
  ExpectSameParts(Read(ReadFile(GetParam()).value()));
}

INSTANTIATE_TEST_SUITE_P(Folder, PartitionSlow, testing::ValuesIn(FilesGiven()));

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
