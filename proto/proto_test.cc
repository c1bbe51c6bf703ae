// Modules and literals through their messages: round trips, unknown fields, broken files.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ir/sanitized_name.h"
#include "parser/parser.h"
#include "printer/printer.h"
#include "proto/attributes_internal.h"
#include "proto/encoding_internal.h"
#include "proto/instructions_internal.h"
#include "proto/modules_internal.h"
#include "proto/proto_file.h"
#include "support/file.h"

namespace hlokit {
namespace {

using ::testing::HasSubstr;

constexpr ProtoEncoding kEncodings[] = {ProtoEncoding::kBinary, ProtoEncoding::kText,
                                        ProtoEncoding::kJson};

std::unique_ptr<Module> Parse(const std::string& text) {
  Diagnostics diagnostics;
  auto source = std::make_shared<const SourceFile>("test", text);
  auto module = ParseModule(source, {true}, diagnostics);
  EXPECT_TRUE(module.ok()) << diagnostics.Render(*source);
  return module.ok() ? *std::move(module) : nullptr;
}

std::string Written(const Module& module, ProtoEncoding encoding = ProtoEncoding::kBinary) {
  auto bytes = WriteModuleProto(module, encoding);
  EXPECT_TRUE(bytes.ok()) << bytes.status();
  return bytes.ok() ? *bytes : "";
}

pb::HloModuleProto MessageOf(const std::string& text) {
  pb::HloModuleProto message;
  EXPECT_TRUE(WriteModule(*Parse(text), UnknownFields(), &message).ok());
  return message;
}

ModuleFile ReadBack(const pb::HloModuleProto& message) {
  auto file = ReadModuleFile(message.SerializeAsString(), ProtoEncoding::kBinary);
  EXPECT_TRUE(file.ok()) << file.status();
  return file.ok() ? *std::move(file) : ModuleFile();
}

// With what the module could not hold.
pb::HloModuleProto WriteBack(const ModuleFile& file) {
  pb::HloModuleProto message;
  EXPECT_TRUE(WriteModule(*file.module, *file.unknown_fields, &message).ok());
  return message;
}

std::string ErrorOf(const pb::HloModuleProto& message) {
  return std::string(ReadModuleProto(message.SerializeAsString()).status().message());
}

constexpr char kSmall[] = R"(HloModule m, entry_computation_layout={(f32[2,3]{1,0})->f32[2,3]{0,1}}

%f (a: f32[2,3]) -> f32[2,3] {
  %a = f32[2,3]{1,0} parameter(0)
  ROOT %n = f32[2,3]{0,1} negate(%a)
}

ENTRY %e (p: f32[2,3]) -> f32[2,3] {
  %p = f32[2,3]{1,0} parameter(0)
  ROOT %c = f32[2,3]{0,1} call(%p), to_apply=%f, metadata={op_name="x"}
}

)";

TEST(Attributes, HaveARowEach) { EXPECT_THAT(AttributesWithoutRow(), ::testing::IsEmpty()); }

TEST(Module, ComesBackFromEveryEncoding) {
  const auto module = Parse(kSmall);
  for (const ProtoEncoding encoding : kEncodings) {
    const std::string bytes = Written(*module, encoding);
    EXPECT_EQ(SniffProto(bytes), encoding);
    const auto read = ReadModuleFile(bytes, encoding);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(Print(*read->module), kSmall);
    EXPECT_FALSE(read->is_snapshot);
  }
}

TEST(Module, KeepsWhatOnlyTextKnows) {
  const std::string text =
      absl::StrReplaceAll(kSmall, {{"f32[2,3]{0,1}}",
                                    "f32[2,3]{0,1}}, "
                                    "allow_spmd_sharding_propagation_to_output={true}, "
                                    "replica_count=2, num_partitions=4"}});
  const auto module = Parse(text);
  for (const ProtoEncoding encoding : kEncodings) {
    const auto read = ReadModuleFile(Written(*module, encoding), encoding);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_EQ(Print(*read->module), text);
  }
  // A text file stays readable for XLA, whose reader refuses unknown names.
  EXPECT_THAT(Written(*module, ProtoEncoding::kText), ::testing::StartsWith("# hlokit: "));
}

TEST(Module, TakesCountsFromTheDeviceAssignment) {
  pb::HloModuleProto message = MessageOf(kSmall);
  message.mutable_device_assignment()->set_replica_count(2);
  message.mutable_device_assignment()->set_computation_count(4);
  const ModuleFile file = ReadBack(message);
  ASSERT_NE(file.module, nullptr);
  EXPECT_EQ(file.module->header().replica_count, 2);
  EXPECT_EQ(file.module->header().num_partitions, 4);
  EXPECT_TRUE(WriteBack(file).has_device_assignment());
  EXPECT_FALSE(WriteBack(file).has_hlokit());
  file.module->header().num_partitions = 1;
  EXPECT_FALSE(WriteBack(file).has_device_assignment());
}

TEST(Module, KeepsIds) {
  pb::HloModuleProto message = MessageOf(kSmall);
  for (auto& computation : *message.mutable_computations()) {
    computation.set_id(computation.id() + 7);
    computation.set_root_id(computation.root_id() + 5);
    for (auto& instruction : *computation.mutable_instructions()) {
      instruction.set_id(instruction.id() + 5);
      for (auto& id : *instruction.mutable_operand_ids()) id += 5;
      for (auto& id : *instruction.mutable_called_computation_ids()) id += 7;
    }
  }
  message.set_entry_computation_id(message.entry_computation_id() + 7);
  const ModuleFile file = ReadBack(message);
  ASSERT_NE(file.module, nullptr);
  EXPECT_EQ(Print(*file.module), kSmall);
  file.module->entry()->Add(Opcode::kNegate, file.module->entry()->root()->shape(),
                            {file.module->entry()->root()}, "more");
  const pb::HloModuleProto again = WriteBack(file);
  EXPECT_EQ(again.computations(0).id(), 7);
  EXPECT_EQ(again.computations(1).instructions(1).id(), (int64_t{8} << 32) + 6);
  EXPECT_EQ(again.computations(1).instructions(2).id(), (int64_t{8} << 32) + 7);
  EXPECT_EQ(again.computations(1).root_id(), (int64_t{8} << 32) + 6);
  EXPECT_EQ(again.entry_computation_id(), 8);
}

TEST(Module, KeepsNamesThatTextSpellsOtherwise) {
  pb::HloModuleProto message = MessageOf(kSmall);
  message.mutable_computations(0)->mutable_instructions(0)->set_name("x.0");
  message.mutable_computations(0)->mutable_instructions(1)->set_name("x");
  const ModuleFile file = ReadBack(message);
  ASSERT_NE(file.module, nullptr);
  EXPECT_THAT(Print(*file.module), HasSubstr("negate(%x.0)"));
}

// Adds an unknown field to each message inside of `message`.
int AddUnknown(google::protobuf::Message* message) {
  const auto* r = message->GetReflection();
  int count = 1;
  std::vector<const google::protobuf::FieldDescriptor*> fields;
  r->ListFields(*message, &fields);
  r->MutableUnknownFields(message)->AddVarint(9999, 17);
  for (const auto* field : fields) {
    if (field->cpp_type() != google::protobuf::FieldDescriptor::CPPTYPE_MESSAGE || field->is_map())
      continue;
    if (field->name() == "stack_frame_index" || field->name() == "schedule") continue;
    if (!field->is_repeated()) {
      count += AddUnknown(r->MutableMessage(message, field));
      continue;
    }
    for (int i = 0; i < r->FieldSize(*message, field); ++i)
      count += AddUnknown(r->MutableRepeatedMessage(message, field, i));
  }
  return count;
}

constexpr char kManyMessages[] =
    R"(HloModule many, input_output_alias={ {}: (0, {}, may-alias) }, buffer_donor={ (1, {}) }, origin_recovery_table={
  {"lost" {1}} : {"from"}, "HloModule f ENTRY e { ROOT p = f32[2] parameter(0) }"
}
ENTRY e {
  p = f32[2,3,4,4]{3,2,1,0:T(8,128)E(32)S(1)} parameter(0), sharding={devices=[2,1,1,1]<=[2] metadata={op_name="s"}}
  q = f32[3,3,3,3]{3,2,1,0:SC(1:2)} parameter(1), parameter_replication={true}, sharding={{replicated}}
  c = f32[2,3,2,2] convolution(p, q), window={size=3x3}, dim_labels=bf01_oi01->bf01, convolution_kind=fprop, sparsity_config={lhs={sparsity=2x4 dimension=1 stride=1} rhs={}}, metadata={op_name="n" metadata_payload="m"}
  d = f32[2,2]{1,0} constant({{1,2},{3,4}}), origin={{"o" {0}}}, statistics={visualizing_index=0,a=1}
  s = f32[1,2] slice(d), slice={[0:1],[0:2]}
  z = f32[] constant(0)
  pad = f32[3,3] pad(d, z), padding=0_1x0_1
  dot = f32[2,2] dot(d, d), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  i = s32[1,2] constant({{0,0}})
  g = f32[1,1,1] gather(d, i), offset_dims={1,2}, collapsed_slice_dims={}, start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}
  t = f32[2,2] triangular-solve(d, d), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
  ch = f32[2,2] cholesky(d), lower=true
  ex = f32[2,2] exponential(d), result_accuracy={tolerance={atol=1,rtol=0,ulps=2}}
  ag = f32[4,2] all-gather(d), replica_groups=mesh['a'=2] {'a'}, dimensions={0}, sharding={mesh['a'=4], [{'a':(1)2}, {'a':(2)2}], metadata={{op_name="w"}}}
  ar = f32[4,2] all-gather(d), replica_groups=[1,2]<=[2], dimensions={0}
  al = f32[4,2] all-gather(d), replica_groups={{0,1}}, dimensions={0}
  cp = f32[2,2] collective-permute(d), source_target_pairs={{0,1}}
  dm = f32[2,2] domain(d), domain={kind="sharding", entry={replicated}, exit={maximal device=0}}
  cc = f32[2,2] custom-call(d), custom_call_target="t", operand_layout_constraints={f32[2,2]{1,0}}, output_to_operand_aliasing={{}: (0, {})}
  tok = token[] after-all()
  out = token[] outfeed(d, tok), outfeed_shape=f32[2,2]{1,0}
  ROOT r = (f32[2,2], s32[1,2]) tuple(d, i)
}
)";

TEST(UnknownFields, SurviveInEveryMessage) {
  pb::HloModuleProto message = MessageOf(kManyMessages);
  EXPECT_GT(AddUnknown(&message), 200);
  const ModuleFile file = ReadBack(message);
  ASSERT_NE(file.module, nullptr);
  EXPECT_EQ(WriteBack(file).DebugString(), message.DebugString());
}

TEST(UnknownFields, AreLostWithWhatAPassChanged) {
  pb::HloModuleProto message = MessageOf(kManyMessages);
  AddUnknown(&message);
  const ModuleFile file = ReadBack(message);
  ASSERT_NE(file.module, nullptr);
  for (Instruction* i : file.module->entry()->Instructions())
    if (i->opcode() == Opcode::kTuple) i->mutable_shape().elements.pop_back();
  const pb::HloModuleProto again = WriteBack(file);
  for (const auto& i : again.computations(0).instructions())
    if (i.opcode() == "tuple") {
      EXPECT_EQ(i.shape().tuple_shapes_size(), 1);
    }
}

TEST(KnownFields, WithoutAPlaceSurvive) {
  pb::HloModuleProto message = MessageOf(kSmall);
  message.set_device_type("tpu");
  message.set_is_dynamic(true);
  message.add_profile_info()->set_relative_speedup(1.5);
  message.add_cross_program_prefetches()->set_offset(3);
  auto* root = message.mutable_computations(1)->mutable_instructions(1);
  root->set_conv_kind(pb::CONVOLUTION_KIND_FPROP);
  root->mutable_backend_config_payload()->set_value("config");
  root->mutable_metadata()->mutable_profile_info()->set_relative_speedup(2);
  root->mutable_shape()->mutable_layout()->add_dim_level_types(pb::DIM_DENSE);
  const ModuleFile file = ReadBack(message);
  ASSERT_NE(file.module, nullptr);
  EXPECT_THAT(Print(*file.module), HasSubstr("backend_config=\"config\""));
  root->set_backend_config("config");
  EXPECT_EQ(WriteBack(file).DebugString(), message.DebugString());
}

TEST(FormerFields, AreRead) {
  pb::HloModuleProto message = MessageOf(
      "HloModule m\nadd { a = f32[] parameter(0)\n b = f32[] parameter(1)\n"
      " ROOT c = f32[] add(a, b)\n}\nENTRY e { p = f32[4] parameter(0)\n"
      " ROOT r = f32[4] all-reduce(p), replica_groups={{0,1}}, to_apply=add\n}\n");
  auto* reduce = message.mutable_computations(1)->mutable_instructions(1);
  reduce->clear_replica_group_list();
  reduce->add_replica_groups()->add_replica_ids(3);
  reduce->set_all_reduce_id(7);
  message.clear_host_program_shape();
  message.clear_entry_computation_id();
  const auto module = ReadModuleProto(message.SerializeAsString());
  ASSERT_TRUE(module.ok()) << module.status();
  EXPECT_THAT(Print(**module), HasSubstr("channel_id=7, replica_groups={{3}}, to_apply=%add"));
  auto* iota = reduce->mutable_collective_device_list()->mutable_iota_replica_group_list();
  iota->set_num_replica_groups(1);
  iota->set_num_devices_per_group(2);
  iota->add_iota_reshape_dims(2);
  iota->add_iota_transpose_perm(0);
  const auto newer = ReadModuleProto(message.SerializeAsString());
  ASSERT_TRUE(newer.ok()) << newer.status();
  EXPECT_THAT(Print(**newer), HasSubstr("replica_groups=[1,2]<=[2]"));
}

struct Damage {
  const char* name;
  void (*damage)(pb::HloModuleProto&);
  const char* error;
};

TEST(Errors, NameThePath) {
  const auto first = [](pb::HloModuleProto& m) -> pb::HloInstructionProto& {
    return *m.mutable_computations(0)->mutable_instructions(1);
  };
  static auto at = first;
  const Damage kDamages[] = {
      {"opcode", [](auto& m) { at(m).set_opcode("negte"); },
       "computations[0] (%f): instructions[1] (%n): opcode: 'negte' is not known (did you mean "
       "negate?)"},
      {"operand", [](auto& m) { at(m).set_operand_ids(0, 5); },
       "operand_ids: no instruction before this one has the id 5"},
      {"itself", [](auto& m) { at(m).set_operand_ids(0, 1); },
       "operand_ids: no instruction before this one has the id 1"},
      {"count", [](auto& m) { at(m).add_operand_ids(0); },
       "operand_ids: negate takes 1 operand, found 2"},
      {"name", [](auto& m) { at(m).set_name("a"); }, "name: another instruction has it"},
      {"no name", [](auto& m) { at(m).clear_name(); }, "name: is missing"},
      {"id", [](auto& m) { at(m).set_id(0); }, "id: another instruction has 0"},
      {"type", [](auto& m) { at(m).mutable_shape()->set_element_type(pb::PrimitiveType(77)); },
       "shape: element type 77 is not known"},
      {"size", [](auto& m) { at(m).mutable_shape()->set_dimensions(0, -4); },
       "shape: dimension 0 has the negative size -4"},
      {"bytes", [](auto& m) { at(m).mutable_shape()->set_dimensions(0, int64_t{1} << 62); },
       "shape: the array has more bytes than 64 bits can count"},
      {"layout", [](auto& m) { at(m).mutable_shape()->mutable_layout()->set_minor_to_major(0, 1); },
       "shape: the layout must name each of the dimensions 0 to 1 once, and names 1"},
      {"root", [](auto& m) { m.mutable_computations(0)->set_root_id(9); },
       "computations[0] (%f): root_id: no instruction has the id 9"},
      {"entry", [](auto& m) { m.clear_entry_computation_name(), m.set_entry_computation_id(9); },
       "entry_computation_id: no computation has the id 9"},
      {"called",
       [](auto& m) {
         m.mutable_computations(1)->mutable_instructions(1)->set_called_computation_ids(0, 1);
       },
       "called_computation_ids: no computation before this one has the id 1"},
      {"uncalled",
       [](auto& m) {
         m.mutable_computations(1)->mutable_instructions(1)->clear_called_computation_ids();
       },
       "called_computation_ids: call calls 1 computation, found 0"},
      {"parameter",
       [](auto& m) {
         m.mutable_computations(0)->mutable_instructions(0)->set_parameter_number(1 << 30);
       },
       "parameter_number: 1073741824 is not one of 0 to 0"},
      {"empty", [](auto& m) { m.mutable_computations(0)->clear_instructions(); },
       "a computation cannot be empty"},
      {"schedule",
       [](auto& m) { (*m.mutable_schedule()->mutable_sequences())[0].add_instruction_ids(0); },
       "schedule: sequences[0]: %f has 2 instructions, not 1"},
      {"partitions", [](auto& m) { m.mutable_hlokit()->set_num_partitions(int64_t{1} << 40); },
       "the number of partitions is 1099511627776, not 1 to 1048576"},
  };
  for (const Damage& damage : kDamages) {
    pb::HloModuleProto message = MessageOf(kSmall);
    damage.damage(message);
    EXPECT_THAT(ErrorOf(message), HasSubstr(damage.error)) << damage.name;
  }
}

TEST(Errors, NameTheByte) {
  const std::string bytes = Written(*Parse(kSmall));
  EXPECT_THAT(std::string(ReadModuleProto(bytes.substr(0, 60)).status().message()),
              HasSubstr("byte 9: the field is longer than what holds it"));
  std::string text = bytes;
  text[text.find("negate")] = '\xff';
  EXPECT_THAT(std::string(ReadModuleProto(text).status().message()),
              HasSubstr("in computations[0].instructions[1].opcode: text is not UTF-8"));
  EXPECT_FALSE(ReadModuleProto("").ok());
}

TEST(Errors, EveryPrefixAndFlipIsAnswered) {
  const std::string bytes = Written(*Parse(kManyMessages));
  for (size_t size = 0; size < bytes.size(); size += 7)
    ReadModuleProto(bytes.substr(0, size)).status().IgnoreError();
  for (size_t at = 0; at < bytes.size(); ++at) {
    std::string flipped = bytes;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << at % 8));
    const auto module = ReadModuleProto(flipped);
    if (module.ok()) Written(**module);
  }
}

TEST(Errors, NestingIsLimited) {
  pb::HloModuleProto message = MessageOf(kSmall);
  auto* shape = message.mutable_computations(0)->mutable_instructions(1)->mutable_shape();
  for (int i = 0; i < 200; ++i) {
    shape->set_element_type(pb::TUPLE);
    shape = shape->add_tuple_shapes();
  }
  EXPECT_THAT(ErrorOf(message), HasSubstr("messages nest too deeply"));
}

TEST(Errors, OfTextFilesHaveAPlace) {
  const auto read = ReadModuleFile("name: \"m\"\nfoo: 1\n", ProtoEncoding::kText);
  EXPECT_THAT(std::string(read.status().message()), HasSubstr("no field named \"foo\""));
  EXPECT_EQ(PlaceOf(read.status()).offset, 13u);
  ProtoOptions options;
  options.allow_unknown_fields = true;
  const std::string text = absl::StrCat("foo: 1\n", Written(*Parse(kSmall), ProtoEncoding::kText));
  EXPECT_TRUE(ReadModuleFile(text, ProtoEncoding::kText, options).ok());
}

TEST(Names, AreSanitizedAsXlaDoes) {
  const std::pair<const char*, const char*> kNames[] = {
      {"a%b", "a_b"}, {"3c", "_c"},       {"__a", "a_a"},   {"__xla_b", "__xla_b"}, {"f32", "f32_"},
      {"-x", "_x"},   {"tuple", "tuple"}, {"\u00e9", "a_"}, {"a.b-c_1", "a.b-c_1"}};
  for (const auto& [name, sanitized] : kNames) EXPECT_EQ(SanitizedName(name), sanitized);
}

TEST(Packed, FilesAreRefusedByName) {
  EXPECT_THAT(std::string(CheckNotPacked("\x1f\x8b\x08").message()), HasSubstr("gzip"));
  EXPECT_THAT(std::string(CheckNotPacked("\x83\xaf\x70\xd1\x0d\x88\x4a\x3f").message()),
              HasSubstr("Riegeli"));
  EXPECT_TRUE(CheckNotPacked("HloModule m").ok());
}

TEST(Sniff, TellsTextFromProtobuf) {
  EXPECT_EQ(SniffProto("HloModule m\n"), std::nullopt);
  EXPECT_EQ(SniffProto("\nHloModule m\n"), std::nullopt);
  EXPECT_EQ(SniffProto("name {\n  p = f32[] parameter(0)\n}\n"), std::nullopt);
  EXPECT_EQ(SniffProto("computations (p: f32[]) -> f32[] {\n"), std::nullopt);
  EXPECT_EQ(SniffProto("# comment\nhlo_module {\n  name: \"m\"\n}\n"), ProtoEncoding::kText);
  EXPECT_EQ(SniffProto("{\n \"name\": \"m\"}"), ProtoEncoding::kJson);
  EXPECT_EQ(SniffProto(""), std::nullopt);
}

TEST(Kinds, AreToldApart) {
  const Literal literal = Literal::R1<float>({1, 2});
  const pb::HloModuleProto module = MessageOf(kSmall);
  pb::HloProto hlo;
  *hlo.mutable_hlo_module() = module;
  hlo.mutable_buffer_assignment()->add_buffer_aliases()->mutable_location()->set_instruction_id(3);
  pb::HloSnapshot snapshot;
  *snapshot.mutable_hlo() = hlo;
  pb::HloUnoptimizedSnapshot unoptimized;
  *unoptimized.mutable_hlo_module() = module;
  pb::LiteralProto argument;
  argument.mutable_shape()->set_element_type(pb::F32);
  argument.add_f32s(5);
  *snapshot.add_arguments() = argument;
  *snapshot.mutable_result() = argument;
  *unoptimized.add_partitions()->add_arguments() = argument;
  for (const ProtoEncoding encoding : kEncodings) {
    auto read = ReadModuleFile(*Encode(hlo, encoding), encoding);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_FALSE(read->is_snapshot);
    read = ReadModuleFile(*Encode(snapshot, encoding), encoding);
    ASSERT_TRUE(read.ok()) << read.status();
    ASSERT_EQ(read->arguments.size(), 1u);
    EXPECT_EQ(read->arguments[0][0].GetDouble(0), 5);
    EXPECT_TRUE(read->result.has_value());
    read = ReadModuleFile(*Encode(unoptimized, encoding), encoding);
    ASSERT_TRUE(read.ok()) << read.status();
    EXPECT_TRUE(read->is_snapshot);
    EXPECT_EQ(read->arguments.size(), 1u);
    auto literals = ReadLiteralFile(*Encode(snapshot, encoding), encoding);
    ASSERT_TRUE(literals.ok()) << literals.status();
    EXPECT_EQ(literals->arguments.size(), 1u);
    literals = ReadLiteralFile(*WriteLiteralProto(literal, encoding), encoding);
    ASSERT_TRUE(literals.ok()) << literals.status();
    EXPECT_EQ(literals->arguments[0], literal);
    literals =
        ReadLiteralFile(*WriteLiteralsProto({{literal, literal}, literal}, encoding), encoding);
    ASSERT_TRUE(literals.ok()) << literals.status();
    EXPECT_EQ(literals->arguments.size(), 2u);
    EXPECT_EQ(*literals->result, literal);
  }
}

TEST(Literals, OfEveryTypeComeBack) {
  for (const char* text :
       {"pred[3] {true,false,true}", "s4[3] {-8,7,-1}", "u4[2] {15,0}", "s2[4] {-2,-1,0,1}",
        "s8[2] {-128,127}", "u16[2] {65535,1}", "s64[1] {-9223372036854775808}",
        "f8e4m3fn[2] {1,-2}", "f4e2m1fn[2] {0.5,-6}", "bf16[2,2]{0,1} {{1,2},{3,4}}",
        "c64[1] {(1,-2)}", "c128[2] {(1,2),(3,4)}", "f32[0] {}", "f64[] 3.5",
        "(s32[] 1, (f32[2] {1,2}, pred[] true))"}) {
    const auto literal = ParseLiteral(text);
    ASSERT_TRUE(literal.ok()) << literal.status();
    for (const ProtoEncoding encoding : kEncodings) {
      const auto read = ReadLiteralFile(*WriteLiteralProto(*literal, encoding), encoding);
      ASSERT_TRUE(read.ok()) << text << ": " << read.status();
      EXPECT_EQ(read->arguments[0], *literal) << text;
      EXPECT_EQ(read->arguments[0].shape(), literal->shape()) << text;
    }
  }
}

TEST(Literals, MustHoldWhatTheirShapeSays) {
  pb::LiteralProto literal;
  literal.mutable_shape()->set_element_type(pb::F32);
  literal.mutable_shape()->add_dimensions(int64_t{1} << 40);
  EXPECT_THAT(
      std::string(
          ReadLiteralFile(literal.SerializeAsString(), ProtoEncoding::kBinary).status().message()),
      HasSubstr("expected 1099511627776 elements"));
}

// Every module of the tests comes back from its message as it went in.
TEST(TestData, ComesBackFromBinaryAndText) {
  const std::filesystem::path root = std::filesystem::path(HLOKIT_SOURCE_DIR) / "testdata";
  int count = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(root)) {
    if (entry.path().extension() != ".hlo") continue;
    Diagnostics diagnostics;
    auto source = std::make_shared<const SourceFile>("test", *ReadFile(entry.path().string()));
    const auto module = ParseModule(source, {}, diagnostics);
    if (!module.ok()) continue;
    const std::string text = Print(**module);
    for (const ProtoEncoding encoding : {ProtoEncoding::kBinary, ProtoEncoding::kText}) {
      const auto bytes = WriteModuleProto(**module, encoding);
      ASSERT_TRUE(bytes.ok()) << entry.path() << ": " << bytes.status();
      const auto read = ReadModuleFile(*bytes, encoding);
      ASSERT_TRUE(read.ok()) << entry.path() << ": " << read.status();
      EXPECT_EQ(Print(*read->module), text) << entry.path();
    }
    ++count;
  }
  EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
