// Messages of instructions taken apart by hand must say what libprotobuf reads in them.
#include "proto/recurring_internal.h"

#include <gtest/gtest.h>

#include "proto/wire_internal.h"

namespace hlokit {
namespace {

using Message = pb::HloInstructionProto;

Message Slice() {
  Message message;
  message.set_name("slice.1");
  message.set_opcode("slice");
  message.mutable_shape()->set_element_type(pb::F32);
  message.mutable_shape()->add_dimensions(3);
  message.set_id((int64_t{7} << 32) | 300);
  message.add_operand_ids((int64_t{7} << 32) | 1);
  message.add_operand_ids(2);
  message.add_control_predecessor_ids(5);
  message.add_called_computation_ids(9);
  message.mutable_metadata()->set_op_name("f");
  message.add_slice_dimensions()->set_limit(3);
  return message;
}

std::vector<int64_t> NumbersIn(const WireField& packed) {
  std::vector<int64_t> numbers;
  EXPECT_TRUE(AppendNumbers(packed, numbers));
  return numbers;
}

std::vector<int64_t> NumbersIn(const google::protobuf::RepeatedField<int64_t>& repeated) {
  return {repeated.begin(), repeated.end()};
}

TEST(RecurringParts, SplitWhatLibprotobufReads) {
  const Message message = Slice();
  const std::string bytes = message.SerializeAsString();
  RecurringParts parts;
  ASSERT_TRUE(parts.Split(bytes));
  EXPECT_EQ(parts.name(), "slice.1");
  const InstructionLinks& links = parts.links();
  EXPECT_EQ(links.id, message.id());
  EXPECT_EQ(NumbersIn(links.operands), NumbersIn(message.operand_ids()));
  EXPECT_EQ(NumbersIn(links.predecessors), std::vector<int64_t>({5}));
  EXPECT_EQ(NumbersIn(links.called), std::vector<int64_t>({9}));
  Message others;
  ASSERT_TRUE(others.ParseFromString(std::string(parts.others())));
  EXPECT_EQ(others.opcode(), "slice");
  EXPECT_EQ(others.slice_dimensions(0).limit(), 3);
  EXPECT_FALSE(others.has_shape() || others.has_metadata());
  EXPECT_EQ(others.id(), 0);
}

// Of a name, id, number or index given twice the last one counts; lists and messages are joined.
TEST(RecurringParts, JoinWhatMessagesGiveInPieces) {
  std::string bytes = Slice().SerializeAsString();
  Message more;
  more.set_name("\xc3\xa4");
  more.set_id(5);
  more.mutable_shape()->add_dimensions(4);
  more.add_operand_ids(10);
  for (int i = 0; i < 3; ++i) bytes += more.SerializeAsString();
  for (const int number :
       {Message::kOperandIdsFieldNumber, Message::kCalledComputationIdsFieldNumber}) {
    AppendVarint(bytes, static_cast<uint64_t>(number) << 3);  // not packed
    AppendVarint(bytes, 1000);
  }
  Message message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  RecurringParts parts;
  ASSERT_TRUE(parts.Split(bytes));
  EXPECT_EQ(parts.name(), message.name());
  EXPECT_EQ(parts.links().id, message.id());
  EXPECT_EQ(NumbersIn(parts.links().operands), NumbersIn(message.operand_ids()));
  EXPECT_EQ(NumbersIn(parts.links().called), NumbersIn(message.called_computation_ids()));
  Seen seen;
  const auto shape = parts.ReadShape(seen);
  ASSERT_TRUE(shape.ok()) << shape.status();
  EXPECT_EQ(Text(**shape), "f32[3,4,4,4]");
  Message others;
  ASSERT_TRUE(others.ParseFromString(std::string(parts.others())));
  EXPECT_EQ(others.slice_dimensions_size(), 1);
}

TEST(RecurringParts, KnowBrokenMessages) {
  RecurringParts parts;
  const std::string usual = Slice().SerializeAsString();
  EXPECT_FALSE(parts.Split(usual.substr(0, usual.size() - 1)));
  std::string no_text = usual;
  AppendField(no_text, Message::kNameFieldNumber, "\xc3");
  EXPECT_FALSE(parts.Split(no_text));
  EXPECT_TRUE(parts.Split(usual));
}

// A field of another wire type is an unknown one.
TEST(RecurringParts, LeaveFieldsOfOtherTypes) {
  std::string bytes = Slice().SerializeAsString();
  AppendField(bytes, Message::kIdFieldNumber, "x");
  AppendVarint(bytes, Message::kNameFieldNumber << 3);
  AppendVarint(bytes, 7);
  RecurringParts parts;
  ASSERT_TRUE(parts.Split(bytes));
  EXPECT_EQ(parts.name(), "slice.1");
  Message others;
  ASSERT_TRUE(others.ParseFromString(std::string(parts.others())));
  EXPECT_TRUE(UnknownFieldProbe::In(others));
}

TEST(RecurringParts, MakeWhatWasKeptInAnyShape) {
  const std::string bytes = Slice().SerializeAsString();
  RecurringParts parts;
  ASSERT_TRUE(parts.Split(bytes));
  const Shared<Shape> shape = Shape::Array(ElementType::kF32, {4});
  EXPECT_EQ(parts.MakeKnown(shape, {}), nullptr);
  Instruction read(Opcode::kSlice, Shape::Array(ElementType::kF32, {3}), {});
  read.mutable_attr<SliceAttrs>().slice = {{0, 3, 1}};
  read.mutable_extras().backend_config = "x";
  parts.Keep(read);
  const std::unique_ptr<Instruction> made = parts.MakeKnown(shape, {});
  ASSERT_NE(made, nullptr);
  EXPECT_TRUE(made->SameAttributes(read));
  EXPECT_EQ(made->backend_config(), "x");
  EXPECT_EQ(made->shape(), *shape);
}

// Otherwise equal parameters, and get-tuple-elements, differ in a number alone.
TEST(RecurringParts, TakeNumbersOutOfWhatIsKept) {
  RecurringParts parts;
  Message message = Slice();
  message.set_parameter_number(7);
  const std::string first = message.SerializeAsString();
  ASSERT_TRUE(parts.Split(first));
  EXPECT_EQ(parts.links().parameter_number, 7);
  EXPECT_EQ(parts.links().tuple_index, 0);
  const std::string others(parts.others());
  message.set_parameter_number(8);
  const std::string second = message.SerializeAsString();
  ASSERT_TRUE(parts.Split(second));
  EXPECT_EQ(parts.links().parameter_number, 8);
  EXPECT_EQ(parts.others(), others);
}

TEST(RecurringParts, ReadProgramShapes) {
  pb::ProgramShapeProto program;
  *program.add_parameters() = Slice().shape();
  const std::string without_result = program.SerializeAsString();
  *program.mutable_result() = Slice().shape();
  const std::string bytes = program.SerializeAsString();
  RecurringParts parts;
  EntryLayout layout;
  EXPECT_FALSE(parts.ReadProgramShape(without_result, layout));
  layout = {};
  ASSERT_TRUE(parts.ReadProgramShape(bytes, layout));
  ASSERT_EQ(layout.parameters.size(), 1);
  EXPECT_EQ(layout.parameters[0], Shape::Array(ElementType::kF32, {3}));
  EXPECT_EQ(layout.result, layout.parameters[0]);
  layout = {};
  EXPECT_FALSE(parts.ReadProgramShape(bytes + bytes, layout));  // two results
}

TEST(RecurringParts, KnowProgramShapesOfShapesThatWereRead) {
  const Message message = Slice();
  pb::ProgramShapeProto program;
  *program.mutable_result() = message.shape();
  program.add_parameter_names("p");
  const std::string bytes = message.SerializeAsString();
  RecurringParts parts;
  Seen seen;
  EXPECT_FALSE(parts.Knows(program.SerializeAsString()));
  ASSERT_TRUE(parts.Split(bytes));
  ASSERT_TRUE(parts.ReadShape(seen).ok());
  EXPECT_TRUE(parts.Knows(program.SerializeAsString()));
  std::string unknown = program.SerializeAsString();
  AppendField(unknown, 77, "?");
  EXPECT_FALSE(parts.Knows(unknown));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
