// Safetensors written and read back, one written by hand, and headers that are refused.
#include "types/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>

#include "absl/strings/str_cat.h"
#include "support/file.h"
#include "support/scratch_folder.h"

namespace hlokit {
namespace {

std::string File(const ScratchFolder& folder, const std::string& header, const std::string& data) {
  const std::string path = absl::StrCat(folder.path(), "/x.safetensors");
  const uint64_t length = header.size();
  std::string bytes(8, '\0');
  std::memcpy(bytes.data(), &length, 8);
  EXPECT_TRUE(AtomicWriteFile(path, absl::StrCat(bytes, header, data)).ok());
  return path;
}

TEST(SafetensorsTest, ReadsWhatItWrote) {
  const ScratchFolder folder;
  Literal a(Shape::Array(ElementType::kF32, {2, 3}).WithDefaultLayout());
  Literal b(Shape::Array(ElementType::kBF16, {4}).WithDefaultLayout());
  for (int64_t i = 0; i < 6; ++i) a.SetDouble(i, 0.5 * static_cast<double>(i));
  for (int64_t i = 0; i < 4; ++i) b.SetDouble(i, static_cast<double>(i) - 2);
  const std::string path = absl::StrCat(folder.path(), "/w.safetensors");
  ASSERT_TRUE(WriteSafetensors(path, {{"z", &a}, {"layers.0.b", &b}}).ok());
  const auto file = SafetensorsFile::Open(path);
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_EQ(file->names(), (std::vector<std::string>{"layers.0.b", "z"}));
  const auto read = file->Read("layers.0.b", ElementType::kBF16, "x");
  ASSERT_TRUE(read.ok()) << read.status();
  const auto literal = ToLiteral(*read, b.shape(), "x");
  ASSERT_TRUE(literal.ok()) << literal.status();
  EXPECT_EQ(literal->GetDouble(3), 1);
  const auto whole = ToLiteral(*file->Read("z", ElementType::kF32, "x"), a.shape(), "x");
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(whole->GetDouble(5), 2.5);
  EXPECT_EQ(file->Read("z", ElementType::kF16, "parameter 1 (w)").status().message(),
            "parameter 1 (w): expected f16, given f32[2,3]");
  EXPECT_FALSE(file->Read("y", ElementType::kF32, "x").ok());
}

TEST(SafetensorsTest, RefusesComplexArrays) {
  const ScratchFolder folder;
  const Literal c(Shape::Array(ElementType::kC64, {2}).WithDefaultLayout());
  EXPECT_FALSE(WriteSafetensors(absl::StrCat(folder.path(), "/c.safetensors"), {{"c", &c}}).ok());
}

TEST(SafetensorsTest, RefusesWrongHeaders) {
  const ScratchFolder folder;
  const struct {
    const char *header, *message;
  } kCases[] = {
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]})", "header byte 53: expected ','"},
      {R"([])", "header byte 0: expected an object"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", "header byte 5: a has no dtype, shape"},
      {R"({"a":{"dtype":"C64","shape":[1],"data_offsets":[0,8]}})", "does not read: C64"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,12]}})", "ends beyond the file"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,8]}})", "has 8 bytes, its shape wants"},
      {R"({"a":{"dtype":"F32","shape":[-1],"data_offsets":[0,8]}})", "no whole number"},
      {R"({"a":{"dtype":"F32","shape":[1.5],"data_offsets":[0,6]}})", "no whole number"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "bytes, its shape wants"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", "has no two offsets"},
      {R"({"a":{"dtype":"U8","shape":[4],"data_offsets":[0,4]},"b":{"dtype":"U8","shape":[4],"data_offsets":[2,6]}})",
       "a and b overlap"},
  };
  for (const auto& c : kCases) {
    const auto file = SafetensorsFile::Open(File(folder, c.header, "12345678"));
    ASSERT_FALSE(file.ok()) << c.header;
    EXPECT_NE(file.status().message().find(c.message), absl::string_view::npos) << file.status();
  }
  const std::string path = absl::StrCat(folder.path(), "/short");
  ASSERT_TRUE(AtomicWriteFile(path, "1234567").ok());
  EXPECT_FALSE(SafetensorsFile::Open(path).ok());
  ASSERT_TRUE(AtomicWriteFile(path, "\xff\xff\xff\xff\xff\xff\xff\xff{}").ok());
  EXPECT_FALSE(SafetensorsFile::Open(path).ok());
  EXPECT_TRUE(SafetensorsFile::Open(File(folder, R"({"__metadata__":{"k":"v"}})", "")).ok());
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
