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

TEST(RecurringParts, SplitWhatLibprotobufReads) {
  const Message message = Slice();
  const std::string bytes = message.SerializeAsString();
  RecurringParts parts;
  ASSERT_TRUE(parts.Split(bytes));
  EXPECT_EQ(parts.name(), "slice.1");
  const InstructionLinks& links = parts.links();
  EXPECT_EQ(links.id, message.id());
  EXPECT_EQ(links.operands, decltype(links.operands)({message.operand_ids(0), 2}));
  EXPECT_EQ(links.predecessors, decltype(links.predecessors)({5}));
  EXPECT_EQ(links.called, decltype(links.called)({9}));
  Message others;
  ASSERT_TRUE(others.ParseFromString(parts.others()));
  EXPECT_EQ(others.opcode(), "slice");
  EXPECT_EQ(others.slice_dimensions(0).limit(), 3);
  EXPECT_FALSE(others.has_shape() || others.has_metadata());
  EXPECT_EQ(others.id(), 0);
}

TEST(RecurringParts, TakeNumbersThatAreNotPacked) {
  std::string bytes = Slice().SerializeAsString();
  AppendVarint(bytes, Message::kOperandIdsFieldNumber << 3);
  AppendVarint(bytes, 11);
  Message message;
  ASSERT_TRUE(message.ParseFromString(bytes));
  RecurringParts parts;
  ASSERT_TRUE(parts.Split(bytes));
  ASSERT_EQ(parts.links().operands.size(), 3);
  EXPECT_EQ(parts.links().operands[2], message.operand_ids(2));
}

TEST(RecurringParts, LeaveUnusualMessagesToLibprotobuf) {
  RecurringParts parts;
  const std::string usual = Slice().SerializeAsString();
  std::string twice = usual;
  AppendVarint(twice, Message::kIdFieldNumber << 3);
  AppendVarint(twice, 1);
  EXPECT_FALSE(parts.Split(twice));
  std::string renamed = usual;
  AppendField(renamed, Message::kNameFieldNumber, "b");
  EXPECT_FALSE(parts.Split(renamed));
  Message beyond_ascii = Slice();
  beyond_ascii.set_name("\xc3\xa4");
  EXPECT_FALSE(parts.Split(beyond_ascii.SerializeAsString()));
  std::string broken = usual;
  AppendField(broken, Message::kOperandIdsFieldNumber, "\x80");  // a number goes on after its end
  EXPECT_FALSE(parts.Split(broken));
  EXPECT_FALSE(parts.Split(usual.substr(0, usual.size() - 1)));
  EXPECT_TRUE(parts.Split(usual));
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
  ASSERT_TRUE(parts.Split(message.SerializeAsString()));
  EXPECT_EQ(parts.links().parameter_number, 7);
  EXPECT_EQ(parts.links().tuple_index, 0);
  const std::string others = parts.others();
  message.set_parameter_number(8);
  ASSERT_TRUE(parts.Split(message.SerializeAsString()));
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
