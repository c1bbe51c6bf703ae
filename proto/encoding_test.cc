// What protobuf cannot hold must be refused when it is read and when it is written.
#include "proto/encoding_internal.h"

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
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

Shape ShapeOf(absl::string_view text) { return *ParseShape(text); }

constexpr int64_t kGiB = int64_t{1} << 30;

// Addresses without memory behind them; what is touched reads as zeros.
class Reserved {
 public:
  explicit Reserved(int64_t bytes)
      : bytes_(bytes),
        data_(mmap(nullptr, bytes, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
  }
  ~Reserved() { munmap(data_, bytes_); }
  bool ok() const { return data_ != MAP_FAILED; }
  absl::string_view view() const {
    return {static_cast<const char*>(data_), static_cast<size_t>(bytes_)};
  }

 private:
  int64_t bytes_;
  void* data_;
};

void ExpectTooLarge(const absl::Status& status) {
  EXPECT_TRUE(absl::IsInvalidArgument(status)) << status;
  EXPECT_TRUE(absl::StrContains(status.message(), "2 GiB")) << status;
}

TEST(Reading, RefusesFilesOver2GiB) {
  const Reserved file(2 * kGiB);
  ASSERT_TRUE(file.ok());
  for (const ProtoEncoding encoding :
       {ProtoEncoding::kBinary, ProtoEncoding::kText, ProtoEncoding::kJson}) {
    ExpectTooLarge(ReadModuleFile(file.view(), encoding).status());
    ExpectTooLarge(ReadLiteralFile(file.view(), encoding).status());
  }
  EXPECT_TRUE(CheckSize(file.view().substr(1)).ok());  // the last size that fits
}

TEST(Writing, RefusesArraysOver2GiB) {
  const Shape bytes = ShapeOf("u8[2147483648]"), fits = ShapeOf("u8[2147483647]");
  ExpectTooLarge(WriteLiteralProto(Literal::Unset(bytes), ProtoEncoding::kBinary).status());
  const auto module = ParseModule("ENTRY e { ROOT c = u8[2147483648] constant({...}) }");
  ASSERT_TRUE(module.ok()) << module.status();
  (*module)->entry()->root()->mutable_attr<ConstantAttrs>().literal =
      std::make_shared<const Literal>(Literal::Unset(bytes));
  ExpectTooLarge(WriteModuleProto(**module, ProtoEncoding::kBinary).status());
  EXPECT_TRUE(CheckWrittenSize(fits.ByteSize()).ok());
}

// Five constants of half a GiB each, which share one literal.
TEST(WritingSlow, RefusesModulesOver2GiB) {
  if (sysconf(_SC_PHYS_PAGES) * sysconf(_SC_PAGE_SIZE) < 12 * kGiB)
    GTEST_SKIP() << "needs 6 GiB of memory";
  std::string text = "ENTRY e {\n";
  for (int i = 0; i < 5; ++i) absl::StrAppend(&text, "c", i, " = u8[536870912] constant({...})\n");
  const auto module = ParseModule(text + "ROOT t = () tuple()\n}\n");
  ASSERT_TRUE(module.ok()) << module.status();
  const auto half = std::make_shared<const Literal>(ShapeOf("u8[536870912]"));
  for (Instruction* i : (*module)->entry()->Instructions())
    if (i->IsConstant()) i->mutable_attr<ConstantAttrs>().literal = half;
  ExpectTooLarge(WriteModuleProto(**module, ProtoEncoding::kBinary).status());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
