// npy and npz files: what numpy writes is read, what is written numpy reads, and no damage crashes.
#include "types/npy.h"

#include <unistd.h>
#include <zlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "support/file.h"
#include "types/literal_text.h"
#include "types/npz.h"

namespace hlokit {
namespace {

using T = ElementType;
using testing::TempDir;

// A .npy file of version 1 around a header's text.
std::string Npy(absl::string_view header, absl::string_view elements) {
  const auto size = static_cast<uint16_t>(header.size());
  return absl::StrCat(absl::string_view("\x93NUMPY\x01\0", 8),
                      absl::string_view(reinterpret_cast<const char*>(&size), 2), header, elements);
}
std::string Npy(absl::string_view descr, absl::string_view dims, absl::string_view elements,
                bool fortran = false) {
  return Npy(absl::StrCat("{'descr': '", descr, "', 'fortran_order': ", fortran ? "True" : "False",
                          ", 'shape': (", dims, "), }"),
             elements);
}

template <typename Value>
std::string Bytes(const std::vector<Value>& values) {
  return std::string(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(Value));
}

std::string Encode(const Literal& literal) {
  NpyPieces pieces;
  EncodeNpy(literal, pieces);
  return absl::StrCat(pieces.header, pieces.elements);
}

// The literal's text, or the error's.
std::string Read(const std::string& file, const Shape& shape) {
  const absl::StatusOr<NumpyArray> array = ParseNpy(file);
  if (!array.ok()) return std::string(array.status().message());
  const absl::StatusOr<Literal> literal = ToLiteral(*array, shape, "x");
  return literal.ok() ? Text(*literal) : std::string(literal.status().message());
}

TEST(Npy, Headers) {
  const std::string six = Bytes<float>({0, 1, 2, 3, 4, 5});
  const Shape shape = Shape::Array(T::kF32, {2, 3});
  const char* const good = "{ { 0, 1, 2 }, { 3, 4, 5 } }";
  struct Case {
    const char *header, *want;
  };
  for (const Case& c : {
           Case{"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", good},
           {"{\"shape\":(2L,3L),\"descr\":\"<f4\",\"fortran_order\":False}", good},
           {"{'descr': u'=f4', 'fortran_order': True, 'shape': (2,3,)}",
            "{ { 0, 2, 4 }, { 1, 3, 5 } }"},
           {"{'descr': '>f4', 'fortran_order': False, 'shape': (2, 3), }",
            "npy dtype '>f4' is big-endian, which is not supported"},
           {"{'descr': '|O', 'fortran_order': False, 'shape': (2, 3), }",
            "npy dtype '|O' is not supported"},
           {"{'descr': '', 'fortran_order': False, 'shape': (2, 3), }",
            "npy dtype '' is not supported"},
           {"{'descr': '<f99999999999', 'fortran_order': False, 'shape': (2, 3), }",
            "npy dtype '<f99999999999' is not supported"},
           {"{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (2, 3), }",
            "npy array has a structured dtype"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 4), }",
            "npy array is truncated: 8 elements of 4 bytes expected, 24 bytes given"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (-2, 3), }",
            "npy header: bad shape"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
            "npy header: bad shape"},
           {"{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3", "npy header: expected ')'"},
           {"{'descr': '<f4', 'fortran_order': 1, 'shape': (2, 3), }",
            "npy header: expected True or False"},
           {"{'descr': '<f4', 'shape': (2, 3), }",
            "npy header lacks descr, fortran_order or shape"},
           {"{'descr': '<f4", "npy header: a string has no end"},
           {"{'x': '<f4'}", "npy header has an unknown key 'x'"},
           {"", "npy header: expected '{'"},
       }) {
    EXPECT_EQ(Read(Npy(c.header, six), shape), c.want) << c.header;
  }
  EXPECT_TRUE(absl::StartsWith(Read(Npy("<f4", "9000000000000000000, 9", six), shape),
                               "npy array is truncated"));
  std::string second = Npy("<f4", "2, 3", six);
  second[6] = 2;  // its length has four bytes
  second.insert(10, 2, '\0');
  EXPECT_EQ(Read(second, shape), good);
  second[6] = 4;
  EXPECT_EQ(Read(second, shape), "npy format version 4 is not supported");
}

// An array of no elements costs nothing, however long its other dimensions.
TEST(Npy, NoElementsInColumns) {
  const std::string file = Npy("<f4", "99999999999, 0, 7", "", /*fortran=*/true);
  EXPECT_EQ(Read(file, Shape::Array(T::kF32, {99999999999, 0, 7})), "{...}");
}

TEST(Npy, WhatFitsWhichShape) {
  const std::string four = Bytes<uint8_t>({0x38, 0x0f, 0xb8, 0x01}),
                    eight = Bytes<uint16_t>({0x3f80, 0xc000, 0, 0x4040});
  struct Case {
    std::string file;
    Shape shape;
    const char* want;
  };
  for (const Case& c : {
           Case{Npy("|b1", "4,", four), Shape::Array(T::kPred, {4}), "{1, 1, 1, 1}"},
           {Npy("|u1", "4,", Bytes<uint8_t>({0, 1, 2, 0})), Shape::Array(T::kPred, {4}),
            "{0, 1, 1, 0}"},
           {Npy("|i1", "4,", four), Shape::Array(T::kPred, {4}),
            "x: expected pred[4], given s8[4]"},
           {Npy("|u1", "4,", four), Shape::Array(T::kS4, {4}), "{-8, -1, -8, 1}"},
           {Npy("|i1", "2, 2", four), Shape::Array(T::kU4, {4}), "{8, 15, 8, 1}"},
           {Npy("<V1", "4,", four), Shape::Array(T::kS1, {4}), "{0, -1, 0, -1}"},
           {Npy("|u1", "4,", four), Shape::Array(T::kF8E4M3FN, {4}), "{1, 0.0293, -1, 0.00195}"},
           {Npy("<f1", "4,", four), Shape::Array(T::kF8E5M2, {4}), "{0.5, 0.00043, -0.5, 1.5e-05}"},
           {Npy("|V1", "4,", four), Shape::Array(T::kF4E2M1FN, {2, 2}),
            "{ { -0, -6 }, { -0, 0.5 } }"},
           {Npy("<u2", "4,", eight), Shape::Array(T::kBF16, {4}), "{1, -2, 0, 3}"},
           {Npy("<V2", "2, 2", eight), Shape::Array(T::kBF16, {4}), "{1, -2, 0, 3}"},
           {Npy("<V2", "2, 2", eight), Shape::Array(T::kBF16, {3}),
            "x: expected bf16[3], given <V2[2,2]"},
           {Npy("<f2", "4,", eight), Shape::Array(T::kBF16, {4}),
            "x: expected bf16[4], given f16[4]"},
           {Npy("<u2", "4,", eight), Shape::Array(T::kF16, {4}),
            "x: expected f16[4], given u16[4]"},
           {Npy("<u2", "4,", eight), Shape::Array(T::kU16, {2, 2}),
            "x: expected u16[2,2], given u16[4]"},
           {Npy("<u2", "4,", eight), Shape::Array(T::kS16, {4}),
            "x: expected s16[4], given u16[4]"},
           {Npy("<u4", "2,", eight), Shape::Array(T::kU16, {4}),
            "x: expected u16[4], given u32[2]"},
           {Npy("<c8", "1,", eight), Shape::Scalar(T::kF64), "x: expected f64[], given c64[1]"},
           {Npy("<u2", "", eight), Shape::Scalar(T::kU16), "16256"},
           {Npy("<U1", "2,", eight), Shape::Array(T::kU32, {2}),
            "x: expected u32[2], given <U1[2]"},
           {Npy("<u2", "4,", eight), Shape::Tuple({}), "x: expected (), given u16[4]"},
       }) {
    EXPECT_EQ(Read(c.file, c.shape), c.want);
  }
}

TEST(Npy, DynamicDimensions) {
  Shape shape = Shape::Array(T::kS32, {2, 4});
  shape.SetDynamic(1, true);
  const std::string file = Npy("<i4", "2, 3", Bytes<int32_t>({1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(Read(file, shape), "{ { 1, 2, 3 }, { 4, 5, 6 } }");
  EXPECT_EQ(Encode(*ToLiteral(*ParseNpy(file), shape, "x")), Encode(*ToLiteral(*ParseNpy(file))));
  EXPECT_EQ(Read(Npy("<i4", "2, 5", std::string(40, '\0')), shape),
            "x: expected s32[2,<=4], given s32[2,5]");
}

TEST(Npy, Texts) {
  const auto texts = [](const std::string& file) { return *ToStrings(*ParseNpy(file)); };
  EXPECT_EQ(texts(Npy("<U2", "2,", Bytes<uint32_t>({'a', 0, 0xe9, 0x1f600}))),
            (std::vector<std::string>{"a", "\u00e9\U0001f600"}));
  EXPECT_EQ(texts(Npy("|S3", "2,", absl::string_view("ab\0cde", 6))),
            (std::vector<std::string>{"ab", "cde"}));
  EXPECT_FALSE(ToStrings(*ParseNpy(Npy("<U1", "1,", Bytes<uint32_t>({0xd800})))).ok());
  EXPECT_FALSE(ToStrings(*ParseNpy(Npy("<u4", "1,", Bytes<uint32_t>({1})))).ok());
}

// A literal of `type` with varied, valid bits.
Literal Patterns(T type, absl::Span<const int64_t> dims) {
  Literal literal(Shape::Array(type, dims));
  for (int64_t i = 0; i < literal.byte_size(); ++i)
    literal.data()[i] = static_cast<uint8_t>(i * 37);
  for (int64_t i = 0; i < literal.element_count(); ++i) {
    if (type == T::kF4E2M1FN) literal.data()[i] = static_cast<uint8_t>(i % 16);
    if (IsPred(type) || (IsSubByte(type) && IsInteger(type))) literal.SetInt(i, i);
  }
  return literal;
}

TEST(Npy, EveryTypeComesBack) {
  for (int i = 1; i < kElementTypeCount; ++i) {
    const auto type = static_cast<T>(i);
    if (!IsArrayType(type)) continue;
    for (const DimVector& dims : {DimVector{}, DimVector{5}, DimVector{0, 3}, DimVector{4, 2, 3}}) {
      const Literal literal = Patterns(type, dims);
      const std::string file = Encode(literal);
      ASSERT_EQ((file.size() - literal.byte_size()) % 64, 0u);
      const absl::StatusOr<NumpyArray> array = ParseNpy(file);
      ASSERT_TRUE(array.ok()) << Text(literal.shape()) << array.status();
      EXPECT_EQ(array->shape, literal.shape().dims);
      const absl::StatusOr<Literal> back = ToLiteral(*array, literal.shape(), "x");
      ASSERT_TRUE(back.ok()) << back.status();
      EXPECT_EQ(*back, literal) << Text(type);
    }
  }
  Literal minus{Shape::Scalar(T::kS4)};
  minus.SetInt(0, -1);
  EXPECT_EQ(Encode(minus).back(), 15) << "numpy's view of int4 has the low bits alone";
  EXPECT_EQ(Encode(Literal::R1<float>({1})).substr(10, 60),
            "{'descr': '<f4', 'fortran_order': False, 'shape': (1,), }   ");
}

class NpzTest : public testing::Test {
 protected:
  NpzTest() : path_(absl::StrCat(TempDir(), "/hlokit_npz_test_", getpid(), ".npz")) {}
  ~NpzTest() override { std::filesystem::remove(path_); }

  absl::StatusOr<NpzFile> Open(absl::string_view bytes) {
    std::filesystem::remove(path_);  // some file systems flush a file that replaces another: slow
    std::ofstream(path_, std::ios::binary).write(bytes.data(), bytes.size());
    return NpzFile::Open(path_);
  }
  // Every array of the archive in text, or the error.
  std::string ReadAll(absl::string_view bytes) {
    absl::StatusOr<NpzFile> file = Open(bytes);
    if (!file.ok()) return std::string(file.status().message());
    std::string out;
    for (const std::string& name : file->names()) {
      absl::StatusOr<NumpyArray> array = file->Read(name);
      absl::StatusOr<Literal> literal = array.ok() ? ToLiteral(*array) : array.status();
      absl::StrAppend(&out, name, "=", literal.ok() ? Text(*literal) : literal.status().message(),
                      " ");
    }
    return out;
  }
  std::string path_;
};

void Append(std::string& out, uint64_t value, int bytes) {
  out.append(reinterpret_cast<const char*>(&value), bytes);
}

// A zip archive of one deflated entry "a.npy", written independently of npz_write.cc, plain or with
// zip64 fields.
std::string Zip(const std::string& file, bool zip64, uint64_t claimed_size) {
  std::string packed(file.size() + 100, '\0');
  z_stream stream{};
  deflateInit2(&stream, 6, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(file.data()));
  stream.avail_in = file.size();
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = packed.size();
  deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  const uint64_t none = 0xffffffff;
  const auto fields = [&](std::string& out) {
    for (int value : {20, 0, 8, 0, 0x21}) Append(out, value, 2);
    Append(out, crc32(0, reinterpret_cast<const Bytef*>(file.data()), file.size()), 4);
    Append(out, zip64 ? none : packed.size(), 4);
    Append(out, zip64 ? none : claimed_size, 4);
    Append(out, 5, 2);
  };
  std::string out = "PK\3\4";
  fields(out);
  Append(out, 0, 2);
  out += "a.npy" + packed;
  const uint64_t directory = out.size();
  out += "PK\1\2";
  Append(out, 20, 2);
  fields(out);
  Append(out, zip64 ? 28 : 0, 2);
  out.append(10, '\0');
  Append(out, zip64 ? none : 0, 4);
  out += "a.npy";
  if (zip64)
    for (uint64_t value :
         {uint64_t{1} | 24 << 16, claimed_size, uint64_t{packed.size()}, uint64_t{0}})
      Append(out, value, value == (1 | 24 << 16) ? 4 : 8);
  const uint64_t end = out.size();
  if (zip64) {
    out += "PK\6\6";
    Append(out, 44, 8);
    out.append(12, '\0');
    for (uint64_t value : {uint64_t{1}, uint64_t{1}, end - directory, directory})
      Append(out, value, 8);
    out += std::string("PK\6\7\0\0\0\0", 8);
    Append(out, end, 8);
    Append(out, 1, 4);
  }
  out += std::string("PK\5\6\0\0\0\0", 8);
  for (int i = 0; i < 2; ++i) Append(out, zip64 ? 0xffff : 1, 2);
  Append(out, zip64 ? none : end - directory, 4);
  Append(out, zip64 ? none : directory, 4);
  Append(out, 0, 2);
  return out;
}

TEST_F(NpzTest, WritesAndReads) {
  const Literal result = Literal::Tuple(
      {Literal::R1<float>({1, 2}), Literal::Tuple({Literal::Token(), Literal::R0<int8_t>(-3)}),
       Literal::R0(true)});
  ASSERT_TRUE(WriteNpz(path_, NameLeaves(result, "out")).ok());
  const std::string bytes = *ReadFile(path_);
  EXPECT_EQ(ReadAll(bytes), "out0={1, 2} out1=-3 out2=true ");
  EXPECT_EQ(ReadAll(bytes + "a comment"), "out0={1, 2} out1=-3 out2=true ");
  const absl::StatusOr<NpzFile> file = NpzFile::Open(path_);
  EXPECT_TRUE(file->Contains("out2"));
  EXPECT_EQ(file->Read("in0").status().message(), path_ + ": it holds no array in0");
  EXPECT_FALSE(WriteNpz(path_, {{"x", &result}}).ok());
  EXPECT_TRUE(WriteNpz(path_, {}).ok());
  EXPECT_EQ(ReadAll(*ReadFile(path_)), "");
}

TEST_F(NpzTest, ReadsDeflatedAndZip64) {
  const std::string file = Npy("<i4", "300,", std::string(1200, '\0')),
                    small = Npy("<i4", "2,", Bytes<int32_t>({7, -1}));
  for (bool zip64 : {false, true}) {
    EXPECT_EQ(ReadAll(Zip(small, zip64, small.size())), "a={7, -1} ");
    EXPECT_TRUE(absl::StartsWith(ReadAll(Zip(file, zip64, file.size())), "a={0, 0, 0"));
    for (uint64_t lie : {file.size() - 1, file.size() + 1, size_t{0}})
      EXPECT_TRUE(
          absl::EndsWith(ReadAll(Zip(file, zip64, lie)), "an entry does not unpack to its size "))
          << lie;
  }
  EXPECT_TRUE(absl::EndsWith(ReadAll(Zip(file, true, uint64_t{1} << 62)),
                             "an entry claims an impossible size "));
}

// Every truncation fails; every changed byte is noticed or harmless, and nothing crashes.
TEST_F(NpzTest, DamageIsAnError) {
  const Literal a = Literal::R1<float>({1, 2});
  ASSERT_TRUE(WriteNpz(path_, {{"a", &a}}).ok());
  const std::string stored = *ReadFile(path_),
                    zipped = Zip(Npy("<f4", "2,", Bytes<float>({1, 2})), true, 66);
  for (const std::string& good : {stored, zipped}) {
    for (size_t size = 0; size < good.size(); ++size)
      EXPECT_FALSE(Open(good.substr(0, size)).ok()) << size;
    for (size_t at = 0; at < good.size(); ++at) {
      for (int value : {0x00, 0x81, 0xff}) {
        std::string bad = good;
        bad[at] = static_cast<char>(value);
        ReadAll(bad);
      }
    }
  }
  std::string flipped = stored;
  flipped[flipped.find("PK\1\2") - 1] ^= 1;
  EXPECT_TRUE(
      absl::EndsWith(ReadAll(flipped), "a: damaged npz archive: an entry fails its checksum "));
  EXPECT_TRUE(absl::EndsWith(ReadAll("no zip at all, but longer than an end record"),
                             "it has no end record"));
  const std::string npy = Npy("<f4", "2,", Bytes<float>({1, 2}));
  for (size_t size = 0; size < npy.size(); ++size)
    EXPECT_FALSE(ParseNpy(absl::string_view(npy).substr(0, size)).ok()) << size;
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
