// Tests of the status helpers and of CHECK.
#include "support/status.h"

#include "gtest/gtest.h"

namespace hlokit {
namespace {

absl::StatusOr<int> Half(int n) {
  if (n % 2 != 0) return InvalidArgument(n, " is odd");
  return n / 2;
}

absl::StatusOr<int> Quarter(int n) {
  ASSIGN_OR_RETURN(int half, Half(n));
  ASSIGN_OR_RETURN(half, Half(half));
  return half;
}

absl::Status CheckEighth(int n) {
  RETURN_IF_ERROR(Quarter(n).status());
  return Quarter(n / 2).status();
}

TEST(Status, MacrosPassErrorsOn) {
  EXPECT_EQ(*Quarter(12), 3);
  EXPECT_EQ(Quarter(6).status(), absl::InvalidArgumentError("3 is odd"));
  EXPECT_TRUE(CheckEighth(8).ok());
  EXPECT_EQ(CheckEighth(12).message(), "3 is odd");
}

TEST(Status, AnnotateKeepsCodeAndPayload) {
  absl::Status status = Unimplemented("op ", 7);
  status.SetPayload("key", absl::Cord("value"));
  absl::Status annotated = Annotate(status, "reading m.hlo");
  EXPECT_EQ(annotated.code(), absl::StatusCode::kUnimplemented);
  EXPECT_EQ(annotated.message(), "reading m.hlo: op 7");
  EXPECT_EQ(annotated.GetPayload("key"), absl::Cord("value"));
  EXPECT_TRUE(Annotate(absl::OkStatus(), "x").ok());
}

TEST(Check, PassesSilently) {
  CHECK(true) << "unused";
  CHECK_EQ(1 + 1, 2);
  CHECK_OK(absl::OkStatus());
  DCHECK(true);
  if (true)
    CHECK(true);
  else
    FAIL() << "CHECK took the else branch";
}

TEST(CheckDeathTest, FailuresNameTheConditionAndValues) {
  enum class Kind { kA = 3, kB };
  EXPECT_DEATH(CHECK(1 > 2) << "because " << 5, "status_test.cc.*1 > 2 because 5");
  EXPECT_DEATH(CHECK_EQ(2, 3) << "sizes", "2 against 3.*sizes");
  EXPECT_DEATH(CHECK_EQ(Kind::kA, Kind::kB), "3 against 4");
  EXPECT_DEATH(CHECK_OK(Internal("broken")), "broken");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
