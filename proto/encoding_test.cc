// What protobuf cannot hold must be refused when it is written.
#include "proto/encoding_internal.h"

#include <gtest/gtest.h>

#include "absl/strings/match.h"
#include "parser/parser.h"
#include "proto/proto_file.h"

namespace hlokit {
namespace {

absl::Status WriteStatus(absl::string_view attribute) {
  const auto module =
      ParseModule(absl::StrCat("ENTRY e { ROOT p = f32[] parameter(0), ", attribute, " }"));
  EXPECT_TRUE(module.ok()) << module.status();
  return WriteModuleProto(**module, ProtoEncoding::kBinary).status();
}

TEST(Writing, RefusesTextThatIsNotUtf8) {
  for (const char* attribute :
       {"metadata={op_name=\"\xe8\"}", "frontend_attributes={a=\"\xe8\"}"}) {
    const absl::Status status = WriteStatus(attribute);
    EXPECT_TRUE(absl::StrContains(status.message(), "not UTF-8")) << attribute << status;
    EXPECT_TRUE(WriteStatus("metadata={op_name=\"\xc3\xa8\"}").ok());
  }
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
