// What is read from bytes must be what is read from the messages in them, or left to those.
#include "proto/wire_values_internal.h"

#include <gtest/gtest.h>

#include "parser/parser.h"
#include "proto/metadata_internal.h"
#include "proto/shapes_internal.h"
#include "proto/wire_internal.h"

namespace hlokit {
namespace {

std::string Bytes(absl::string_view shape) {
  pb::ShapeProto message;
  Write(*ParseShape(shape), &message);
  return message.SerializeAsString();
}

TEST(WireShapes, AreThoseOfMessages) {
  for (const char* text : {"f32[]", "f32[2,3]{1,0}", "s32[0,1099511627776]{0,1}", "pred[<=5,2]",
                           "token[]", "()", "(f32[2]{0}, (s8[], u4[3,<=4]{0,1}), token[])"}) {
    Shape shape;
    ASSERT_TRUE(ReadFromWire(Bytes(text), shape)) << text;
    EXPECT_EQ(shape, *ParseShape(text)) << text;
  }
}

TEST(WireShapes, LeaveWhatIsRareToMessages) {
  Shape shape;
  for (const char* text : {"f32[2,3]{1,0:T(8,128)}", "f32[2]{0:S(1)}", "s4[2]{0:E(4)}", "f32[?]",
                           "opaque[]", "b(f32[2])"})
    EXPECT_FALSE(ReadFromWire(Bytes(text), shape = {})) << text;
}

TEST(WireShapes, LeaveWhatIsWrongToMessages) {
  const std::string good = Bytes("f32[2,3]{1,0}");
  Shape shape;
  EXPECT_FALSE(ReadFromWire("", shape));
  for (size_t size = 1; size < good.size(); ++size) {
    pb::ShapeProto message;
    Seen seen;
    Shape expected;
    const bool fits =
        message.ParseFromString(good.substr(0, size)) && Read(message, seen, expected).ok();
    EXPECT_EQ(ReadFromWire(absl::string_view(good).substr(0, size), shape = {}), fits) << size;
    if (fits) {
      EXPECT_EQ(shape, expected);
    }
  }
  std::string unknown = good;
  AppendField(unknown, 77, "?");
  EXPECT_FALSE(ReadFromWire(unknown, shape = {}));
  std::string huge = good;
  AppendField(huge, pb::ShapeProto::kDimensionsFieldNumber, "\xff\xff\xff\xff\xff\xff\xff\xff\x7f");
  EXPECT_FALSE(ReadFromWire(huge, shape = {}));
  std::string deep = Bytes("f32[]");
  for (int i = 0; i < 40; ++i) {
    std::string outer("\x10\x0d");  // element_type: TUPLE
    AppendField(outer, pb::ShapeProto::kTupleShapesFieldNumber, deep);
    deep = outer;
  }
  EXPECT_FALSE(ReadFromWire(deep, shape = {}));
}

TEST(WireMetadata, IsThatOfMessages) {
  const OpMetadata expected = *ParseMetadata(
      R"({op_type="a" op_name="jit(f)/b" source_file="c.py" source_line=3 source_end_line=4
          source_column=-1 deduplicated_name="d" scheduling_name="e" stack_frame_id=300})");
  pb::OpMetadata message;
  Write(expected, expected.stack_frame_id, &message);
  OpMetadata metadata;
  SharedTextCache texts;
  ASSERT_TRUE(ReadFromWire(message.SerializeAsString(), texts, metadata));
  EXPECT_EQ(metadata, expected);
}

TEST(WireMetadata, LeavesWhatIsRareToMessages) {
  SharedTextCache texts;
  OpMetadata metadata;
  pb::OpMetadata beyond_ascii, with_size, with_profile;
  beyond_ascii.set_op_name("\xc3\xa4");
  with_size.set_size_of_generated_code_in_bytes(int64_t{1} << 40);
  with_profile.mutable_profile_info();
  for (const pb::OpMetadata& message : {beyond_ascii, with_size, with_profile})
    EXPECT_FALSE(ReadFromWire(message.SerializeAsString(), texts, metadata));
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
