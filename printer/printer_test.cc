// The printer on modules made by hand; expected texts are XLA's.
#include "printer/printer.h"

#include <gtest/gtest.h>

namespace hlokit {
namespace {

const Shape kVector = Shape::ArrayWithLayout(ElementType::kF32, {4}, {0});

// A module with an entry computation of one parameter.
struct Sample {
  Module module{"m"};
  Computation* entry = module.AddComputation("e");
  Instruction* p = entry->AddParameter(0, kVector, "p");
  Sample() { module.set_entry(entry); }
  template <typename A>
  Instruction* Add(Opcode opcode, std::vector<Instruction*> operands, A attributes) {
    return entry->Add(opcode, kVector, operands, std::move(attributes));
  }
};

TEST(Printer, PrintsAModule) {
  Sample s;
  s.entry->set_root(s.entry->Add(Opcode::kNegate, kVector, {s.p}));
  s.module.header().num_partitions = 2;
  InputOutputAlias alias;
  alias.must_alias = true;
  s.module.header().aliases.push_back(alias);
  EXPECT_EQ(Print(s.module),
            "HloModule m, input_output_alias={ {}: (0, {}, must-alias) }, "
            "entry_computation_layout={(f32[4]{0})->f32[4]{0}}, num_partitions=2\n\n"
            "ENTRY %e (p: f32[4]) -> f32[4] {\n"
            "  %p = f32[4]{0} parameter(0)\n"
            "  ROOT %negate = f32[4]{0} negate(%p)\n"
            "}\n\n");
  EXPECT_EQ(Print(*s.entry, PrintOptions::Fingerprint()),
            "ENTRY {\n"
            "  tmp_0 = f32[4]{0} parameter(0)\n"
            "  ROOT tmp_1 = f32[4]{0} negate(f32[4]{0} tmp_0)\n"
            "}");
}

TEST(Printer, PrintsAttributes) {
  Sample s;
  WindowDim window;
  window.size = 3;
  window.pad_low = 1;
  CustomCallAttrs call;
  call.target = "x\"y";
  call.window = {window};
  call.output_to_operand_aliasing = {{{0}, 0, {1, 2}}};
  DotAttrs dot;
  dot.operand_precision = {Precision::kHigh, Precision::kDefault};
  dot.algorithm.text = "dot_f32_f32_f32";
  SliceAttrs dense, strided;
  dense.slice = {{0, 4, 1}};
  strided.slice = {{0, 4, 2}, {1, 3, 1}};
  PadAttrs pad;
  pad.padding = {{-1, 0, 0}, {1, 2, 2}};
  AllReduceAttrs iota;
  iota.channel_id = 1;
  iota.replica_groups.form = ReplicaGroups::Form::kIota;
  iota.replica_groups.iota_dims = {2, 2};
  iota.replica_groups.reshape_dims = {2, 2};
  iota.replica_groups.transpose_perm = {1, 0};
  BatchNormAttrs norm;
  norm.epsilon = 1e-5;

  Instruction* p = s.p;
  const std::pair<Instruction*, const char*> cases[] = {
      {s.Add(Opcode::kCustomCall, {p}, call),
       "custom-call(%p), window={size=3 pad=1_0}, custom_call_target=\"x\\\"y\", "
       "output_to_operand_aliasing={{0}: (0, {1,2})}"},
      {s.Add(Opcode::kDot, {p, p}, dot),
       "dot(%p, %p), lhs_contracting_dims={}, rhs_contracting_dims={}, "
       "operand_precision={high,default}, "
       "algorithm=dot_f32_f32_f32"},
      {s.Add(Opcode::kSlice, {p}, dense), "slice(%p), slice={[0:4]}"},
      {s.Add(Opcode::kSlice, {p}, strided), "slice(%p), slice={[0:4:2], [1:3:1]}"},
      {s.Add(Opcode::kPad, {p, p}, pad), "pad(%p, %p), padding=-1_0_0x1_2_2"},
      {s.Add(Opcode::kAllReduce, {p}, iota),
       "all-reduce(%p), channel_id=1, replica_groups=[2,2]<=[2,2]T(1,0)"},
      {s.Add(Opcode::kBatchNormTraining, {p, p, p}, norm),
       "batch-norm-training(%p, %p, %p), epsilon=1e-05, feature_index=0"},
      {s.Add(Opcode::kCompare, {p, p},
             CompareAttrs{ComparisonDirection::kLt, ComparisonType::kTotalOrder}),
       "compare(%p, %p), direction=LT, type=TOTALORDER"},
      {s.entry->Add(Opcode::kTuple, kVector, {p, p, p, p, p, p}),
       "tuple(%p, %p, %p, %p, %p, /*index=5*/%p)"},
  };
  for (const auto& [instruction, expected] : cases)
    EXPECT_EQ(Print(*instruction),
              absl::StrCat("%", instruction->name(), " = f32[4]{0} ", expected));
}

TEST(Printer, OrdersWhatEveryInstructionMayHave) {
  Sample s;
  Instruction* i =
      s.Add(Opcode::kExponential, {s.p}, AccuracyAttrs{{ResultAccuracy::Kind::kHighest}});
  i->AddControlPredecessor(s.p);
  InstructionExtras& extras = i->mutable_extras();
  extras.sharding = std::make_unique<Sharding>();
  extras.frontend_attributes = {{"c", "{d=e}"}, {"a", "b"}};
  extras.statistics = "{visualizing_index=0,s=1}";
  extras.origin = "{{\"a\"}}";
  i->mutable_metadata().op_name = "n";
  i->mutable_metadata().source_line = 3;
  extras.backend_config = "{\"a\":1}";
  EXPECT_EQ(Print(*i),
            "%exponential = f32[4]{0} exponential(%p), sharding={replicated}, "
            "frontend_attributes={a=\"b\",c={d=e}}, "
            "control-predecessors={%p}, statistics={visualizing_index=0,s=1}, "
            "result_accuracy={mode=highest}, "
            "origin={{\"a\"}}, metadata={op_name=\"n\" source_line=3}, backend_config={\"a\":1}");
}

TEST(Printer, SugarsAsyncOperationsOfOneInstruction) {
  Sample s;
  Computation* wrapped = s.module.AddComputation("w");
  wrapped->set_root(wrapped->Add(Opcode::kNegate, kVector, {wrapped->AddParameter(0, kVector)}));
  AsyncAttrs other;
  other.async_execution_thread = "other";
  Instruction* start = s.Add(Opcode::kAsyncStart, {s.p}, other);
  start->set_called({wrapped});
  Instruction* done = s.Add(Opcode::kAsyncDone, {start}, AsyncAttrs());
  s.entry->set_root(done);
  EXPECT_EQ(Print(*start),
            "%async-start = f32[4]{0} negate-start(%p), async_execution_thread=\"other\"");
  EXPECT_EQ(Print(*done), "%async-done = f32[4]{0} negate-done(%async-start)");
  EXPECT_EQ(Print(s.module).find("%w"), std::string::npos);
  wrapped->set_root(wrapped->Add(Opcode::kNegate, kVector, {wrapped->root()}));
  EXPECT_EQ(Print(*start),
            "%async-start = f32[4]{0} async-start(%p), async_execution_thread=\"other\", calls=%w");
}

TEST(Printer, NumbersStackFramesAsTheyComeUp) {
  Sample s;
  StackFrameTables& tables = s.module.header().stack_frames;
  tables.file_names = {"unused.py", "a.py"};
  tables.function_names = {"f", "g"};
  tables.locations = {{2, 2, 3, 3, 1, 9}, {2, 1, 5, 5, 2, 8}};
  tables.frames = {
      {1, 4}, {2, 1}, {1, 3}, {2, 9}};  // 1 called by 3 by 2; 4 by one that is not there
  s.p->mutable_metadata().stack_frame_id = 1;
  Instruction* root = s.entry->Add(Opcode::kNegate, kVector, {s.p});
  root->mutable_metadata().stack_frame_id = 4;
  s.entry->set_root(root);
  const std::string text = Print(s.module);
  EXPECT_EQ(text.substr(text.find("FileNames")),
            "FileNames\n1 \"a.py\"\n\nFunctionNames\n1 \"f\"\n2 \"g\"\n\nFileLocations\n"
            "1 {file_name_id=1 function_name_id=1 line=5 end_line=5 column=2 end_column=8}\n"
            "2 {file_name_id=1 function_name_id=2 line=3 end_line=3 column=1 "
            "end_column=9}\n\nStackFrames\n"
            "1 {file_location_id=1 parent_frame_id=1}\n"
            "2 {file_location_id=2 parent_frame_id=2}\n"
            "3 {file_location_id=2 parent_frame_id=3}\n\n\n"
            "ENTRY %e (p: f32[4]) -> f32[4] {\n"
            "  %p = f32[4]{0} parameter(0), metadata={stack_frame_id=3}\n"
            "  ROOT %negate = f32[4]{0} negate(%p)\n}\n\n");
}

TEST(Printer, OrdersComputations) {
  Sample s;
  Computation* unused = s.module.AddComputation("unused");
  Computation* condition = s.module.AddComputation("condition");
  Computation* body = s.module.AddComputation("body");
  Instruction* loop = s.entry->Add(Opcode::kWhile, kVector, {s.p});
  loop->set_called({condition, body});
  EXPECT_EQ(PrintingOrder(s.module), (std::vector<Computation*>{body, condition, s.entry, unused}));
}

TEST(Printer, KnowsDictionaries) {
  for (const char* yes : {"{}", "{\"a\":{\"b\":\"}\"}}", "{a = 1 : i64}"})
    EXPECT_TRUE(IsDictionary(yes)) << yes;
  for (const char* no : {"", "a", "[1]", "{", "{} ", "{}{}", "{\"}"})
    EXPECT_FALSE(IsDictionary(no)) << no;
}

TEST(Printer, PrintsShardings) {
  Sharding tiled;
  tiled.kind = Sharding::Kind::kTiled;
  tiled.tile_dims = {2, 2};
  tiled.iota = true;
  tiled.reshape_dims = {2, 2};
  tiled.transpose_perm = {1, 0};
  tiled.last_tile_dim_replicate = true;
  tiled.shard_group = "shard_as 3";
  Sharding listed;
  listed.kind = Sharding::Kind::kTiled;
  listed.tile_dims = {2, 1, 1};
  listed.devices = {1, 0};
  listed.last_tile_dims = {"manual", "replicated"};
  Sharding tuple;
  tuple.kind = Sharding::Kind::kTuple;
  tuple.elements = {Sharding(), listed};
  EXPECT_EQ(Text(tiled), "{devices=[2,2]<=[2,2]T(1,0) last_tile_dim_replicate shard_as 3}");
  EXPECT_EQ(Text(tuple),
            "{{replicated}, {devices=[2,1,1]1,0 last_tile_dims={manual, replicated}}}");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
