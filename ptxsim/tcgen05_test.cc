// tcgen05: tensor memory by every shape of load and store, products of each kind out of shared and
// tensor memory, copies, and what is refused or found out. Also b1 and sparse wgmma, multimem and
// clusterlaunchcontrol.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "ptxsim/rounding.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

using testing::HasSubstr;
using Words32 = std::vector<uint32_t>;

// A block of 128 threads: thread t in `t`, the base of 64 columns of tensor memory in `tm`, `in`
// words copied to shared memory from its first byte on, `out` the result's address.
std::string BlockKernel(const std::string& body) {
  return absl::StrCat(".version 8.7\n.target sm_100a\n.address_size 64\n",
                      R"(
.visible .entry k(.param .u64 pin, .param .u64 pout) {
  .shared .align 1024 .b8 s[16384];
  .shared .align 16 .b8 extra[64];
  .reg .b64 in, out, q<8>; .reg .b32 t, tm, mine, i, x, to, w<16>; .reg .pred p, z, one;
  ld.param.u64 in, [pin]; ld.param.u64 out, [pout];
  mov.u32 t, %tid.x; mov.u32 i, t; mov.u32 to, s;
  mad.wide.u32 in, t, 4, in; mad.lo.u32 to, t, 4, to;
copy:
  ld.global.u32 x, [in]; st.shared.u32 [to], x;
  add.u64 in, in, 512; add.u32 to, to, 512; add.u32 i, i, 128;
  setp.lt.u32 p, i, 4096; @p bra copy;
  setp.ge.u32 p, t, 32; @p bra made;
  tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [extra], 64;
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
made:
  bar.sync 0;
  ld.shared.u32 tm, [extra];
  and.b32 mine, t, 0x60; shl.b32 mine, mine, 16; add.u32 mine, mine, tm;
  setp.eq.u32 one, t, 0;
)",
                      body, "\nret;\n}\n");
}

absl::Status RunBlock(const std::string& body, Words32& in, Words32& out) {
  in.resize(4096);
  LaunchOptions options;
  options.block[0] = 128;
  return RunWords<uint32_t>(BlockKernel(body), {&in, &out}, options);
}

// Every thread stores its own numbers by `shape` and loads rows by 32x32b: word (lane, column).
Words32 StoredBy(const std::string& shape, int registers) {
  std::string list = "{w0", numbers = "mov.u32 w0, t;\n";
  for (int j = 1; j < registers; ++j) {
    absl::StrAppend(&list, ",w", j);
    absl::StrAppend(&numbers, "add.u32 w", j, ", t, ", 1000 * j, ";\n");
  }
  Words32 in, out(128 * 8, 0);
  const absl::Status status = RunBlock(
      absl::StrCat(
          numbers, "tcgen05.st.sync.aligned.", shape, list,
          "};\ntcgen05.wait::st.sync.aligned;\n"
          "tcgen05.ld.sync.aligned.32x32b.x8.b32 {w8,w9,w10,w11,w12,w13,w14,w15}, [mine];\n"
          "tcgen05.wait::ld.sync.aligned;\nmad.wide.u32 out, t, 32, out;\n"
          "st.global.v4.b32 [out], {w8,w9,w10,w11}; st.global.v4.b32 [out+16], "
          "{w12,w13,w14,w15};"),
      in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}

// Of warp 1: where thread 32 + t put register j.
TEST(TensorMemoryTest, ShapesOfStores) {
  const auto at = [](const Words32& words, int row, int column) {
    return words[static_cast<size_t>((32 + row) * 8 + column)];
  };
  const Words32 rows = StoredBy("32x32b.x2.b32 [mine], ", 2);
  EXPECT_EQ(at(rows, 5, 0), 37u);
  EXPECT_EQ(at(rows, 5, 1), 1037u);
  const Words32 pairs = StoredBy("16x64b.x2.b32 [mine], ", 2);
  EXPECT_EQ(at(pairs, 9, 1), 32u + 7);          // row 8 + 1, column 1: thread 4 * 1 + 2 + 1
  EXPECT_EQ(at(pairs, 1, 2), 1000u + 32u + 4);  // register 1: two columns on
  const Words32 quads = StoredBy("16x128b.x1.b32 [mine], ", 2);
  EXPECT_EQ(at(quads, 3, 2), 32u + 14);
  EXPECT_EQ(at(quads, 11, 2), 1000u + 32u + 14);
  const Words32 eights = StoredBy("16x256b.x1.b32 [mine], ", 4);
  EXPECT_EQ(at(eights, 2, 5), 1000u + 32u + 10);
  EXPECT_EQ(at(eights, 10, 4), 2000u + 32u + 10);
  const Words32 split = StoredBy("16x32bx2.x1.b32 [mine], 4, ", 1);
  EXPECT_EQ(at(split, 3, 0), 32u + 3);
  EXPECT_EQ(at(split, 3, 4), 32u + 19);
  const Words32 halves = StoredBy("32x32b.x1.unpack::16b.b32 [mine], ", 1);
  EXPECT_EQ(at(halves, 7, 0), 39u);
  EXPECT_EQ(at(halves, 7, 1), 0u);
}

// Core matrices of 8 rows of 16 bytes: along k at 128 bytes, along rows at 256.
uint64_t PlainDescriptor(uint64_t start) {
  return start >> 4 | uint64_t{128 >> 4} << 16 | uint64_t{256 >> 4} << 32 | uint64_t{1} << 46;
}
size_t PlainByte(int row, int byte) {
  return static_cast<size_t>((row / 8 * 2 + byte / 16) * 128 + row % 8 * 16 + byte % 16);
}

int ValueA(int i, int k) { return (3 * i + 5 * k) % 7 - 3; }
int ValueB(int j, int k) { return (7 * j + 2 * k) % 5 - 2; }

struct KindCase {
  const char* kind;
  int type_a, type_b, type_d, bytes, k;  // numbers of the descriptor
  bool integer;
};

uint32_t BitsOfKind(const KindCase& kind, int value) {
  if (kind.integer) return static_cast<uint8_t>(value);
  if (kind.bytes == 4) return std::bit_cast<uint32_t>(static_cast<float>(value));
  if (kind.bytes == 2) return RoundToF16(value);
  return RoundToFormat(value, kFormatE4M3, Rounding::kNearest, true);
}

uint32_t InstructionDescriptor(const KindCase& kind, int m, int n) {
  return static_cast<uint32_t>(kind.type_d << 4 | kind.type_a << 7 | kind.type_b << 10 |
                               n / 8 << 17 | m / 16 << 24);
}

class TensorProductTest : public testing::TestWithParam<KindCase> {};

TEST_P(TensorProductTest, SumsOfBothHeights) {
  const KindCase& kind = GetParam();
  constexpr int kN = 16, kBStart = 8192;
  for (const int m : {64, 128}) {
    Words32 in(4096), out(128 * kN, 0);
    auto* bytes = reinterpret_cast<char*>(in.data());
    for (int k = 0; k < kind.k; ++k) {
      for (int i = 0; i < m; ++i) {
        const uint32_t bits = BitsOfKind(kind, ValueA(i, k));
        std::memcpy(bytes + PlainByte(i, k * kind.bytes), &bits, static_cast<size_t>(kind.bytes));
      }
      for (int j = 0; j < kN; ++j) {
        const uint32_t bits = BitsOfKind(kind, ValueB(j, k));
        std::memcpy(bytes + kBStart + PlainByte(j, k * kind.bytes), &bits,
                    static_cast<size_t>(kind.bytes));
      }
    }
    // Twice, the second time on top: d = 2 a b. An mbarrier tells when.
    const std::string product =
        absl::StrCat("@one tcgen05.mma.cta_group::1.", kind.kind, " [tm], q0, q1, w0, ");
    const absl::Status status = RunBlock(
        absl::StrCat("mov.u32 w0, ", InstructionDescriptor(kind, m, kN), "; mov.u64 q0, ",
                     PlainDescriptor(0), "; mov.u64 q1, ", PlainDescriptor(kBStart),
                     ";\nsetp.ne.u32 z, t, t; setp.eq.u32 p, t, t;\n"
                     "mov.u32 w1, 1; @one mbarrier.init.shared.b64 [extra+8], w1; bar.sync 0;\n",
                     product, "z;\n", product, "p;\n", R"(
  @one tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [extra+8];
wait: mbarrier.try_wait.parity.shared.b64 z, [extra+8], 0; @!z bra wait;
  tcgen05.fence::after_thread_sync;
  tcgen05.ld.sync.aligned.32x32b.x16.b32 {w0,w1,w2,w3,w4,w5,w6,w7,w8,w9,w10,w11,w12,w13,w14,w15}, [mine];
  mad.wide.u32 out, t, 64, out;
  st.global.v4.b32 [out], {w0,w1,w2,w3}; st.global.v4.b32 [out+16], {w4,w5,w6,w7};
  st.global.v4.b32 [out+32], {w8,w9,w10,w11}; st.global.v4.b32 [out+48], {w12,w13,w14,w15};
  bar.sync 0;
  setp.ge.u32 p, t, 32; @p bra end;
  tcgen05.dealloc.cta_group::1.sync.aligned.b32 tm, 64;
end:)"),
        in, out);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int i = 0; i < m; ++i)
      for (int j = 0; j < kN; ++j) {
        int sum = 0;
        for (int k = 0; k < kind.k; ++k) sum += 2 * ValueA(i, k) * ValueB(j, k);
        const int lane = m == 128 ? i : i / 16 * 32 + i % 16;
        const uint32_t expected = kind.integer ? static_cast<uint32_t>(sum)
                                  : kind.type_d == 0
                                      ? RoundToF16(sum)
                                      : std::bit_cast<uint32_t>(static_cast<float>(sum));
        ASSERT_EQ(out[static_cast<size_t>(lane * kN + j)], expected)
            << kind.kind << " m " << m << " at " << i << "," << j;
      }
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, TensorProductTest,
                         testing::Values(KindCase{"kind::f16", 0, 0, 1, 2, 16, false},
                                         KindCase{"kind::f16", 0, 0, 0, 2, 16, false},
                                         KindCase{"kind::tf32", 2, 2, 1, 4, 8, false},
                                         KindCase{"kind::f8f6f4", 0, 0, 1, 1, 32, false},
                                         KindCase{"kind::i8", 1, 1, 2, 1, 32, true}));

// Products that `one` starts into [tm]: 16 columns of every lane's sums.
Words32 Sums(const std::string& setup, uint32_t descriptor, const std::string& product,
             Words32& in) {
  Words32 out(128 * 16, 0);
  const absl::Status status = RunBlock(
      absl::StrCat(
          "mov.u64 q0, ", PlainDescriptor(0), "; mov.u64 q1, ", PlainDescriptor(8192),
          "; setp.ne.u32 z, t, t;\nadd.u32 mine, mine, 32; add.u32 i, tm, 32; add.u32 x, tm, 40;\n",
          setup, "sub.u32 mine, mine, 32; bar.sync 0; mov.u32 w0, ", descriptor, ";\n@one ",
          product, R"(
  bar.sync 0;
  tcgen05.ld.sync.aligned.32x32b.x16.b32 {w0,w1,w2,w3,w4,w5,w6,w7,w8,w9,w10,w11,w12,w13,w14,w15}, [mine];
  mad.wide.u32 out, t, 64, out;
  st.global.v4.b32 [out], {w0,w1,w2,w3}; st.global.v4.b32 [out+16], {w4,w5,w6,w7};
  st.global.v4.b32 [out+32], {w8,w9,w10,w11}; st.global.v4.b32 [out+48], {w12,w13,w14,w15};)"),
      in, out);
  EXPECT_TRUE(status.ok()) << status.message();
  return out;
}
float FloatAt(const Words32& words, int lane, int column) {
  return std::bit_cast<float>(words[static_cast<size_t>(lane * 16 + column)]);
}
Words32 ByteOperands(int k_count) {
  const KindCase kind{"", 0, 0, 1, 1, 32, false};
  Words32 in(4096);
  auto* bytes = reinterpret_cast<char*>(in.data());
  for (int k = 0; k < k_count; ++k)
    for (int i = 0; i < 256; ++i) {
      const uint32_t bits = BitsOfKind(kind, i < 128 ? ValueA(i, k) : ValueB(i - 128, k));
      bytes[(i < 128 ? 0 : 8192) + PlainByte(i % 128, k)] = static_cast<char>(bits);
    }
  return in;
}

// Scales of rows 2^(r % 3), in lane r % 32 and column r / 32; of columns 2^(j % 2), in the second
// byte.
TEST(TensorMemoryTest, BlockScalesOfBytes) {
  std::string setup = "and.b32 w10, t, 31;\n";
  for (int c = 0; c < 4; ++c)
    absl::StrAppend(&setup, "add.u32 w11, w10, ", 32 * c, "; rem.u32 w", c + 1,
                    ", w11, 3; add.u32 w", c + 1, ", w", c + 1, ", 127;\n");
  absl::StrAppend(
      &setup,
      "tcgen05.st.sync.aligned.32x32b.x4.b32 [mine], {w1,w2,w3,w4};\n"
      "and.b32 w5, t, 1; add.u32 w5, w5, 127; shl.b32 w5, w5, 8; add.u32 mine, mine, 8;\n"
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [mine], {w5}; sub.u32 mine, mine, 8;\n");
  Words32 in = ByteOperands(32);
  const uint32_t descriptor = 1u << 4 | 2u << 17 | 1u << 23 | 1u << 27;  // b's scales in byte 1
  const Words32 out = Sums(setup, descriptor,
                           "tcgen05.mma.cta_group::1.kind::mxf8f6f4.block_scale.scale_vec::1X "
                           "[tm], q0, q1, w0, [i], [x], z;",
                           in);
  for (int r = 0; r < 128; ++r)
    for (int j = 0; j < 16; ++j) {
      int sum = 0;
      for (int k = 0; k < 32; ++k) sum += ValueA(r, k) * ValueB(j, k);
      ASSERT_EQ(FloatAt(out, r, j), static_cast<float>(sum * (1 << r % 3) * (1 << j % 2)))
          << r << "," << j;
    }
}

// Four scales along 64 values of four bits: 1, 2, 4 and a half.
TEST(TensorMemoryTest, BlockScalesOfNibbles) {
  Words32 in(4096);
  auto* bytes = reinterpret_cast<unsigned char*>(in.data());
  constexpr double kValues[] = {0, 0.5, 1, 1.5, 2, 3, 4, 6};
  const auto code = [](int i, int k) { return (3 * i + 5 * k) % 16; };
  const auto value = [&](int i, int k) {
    return kValues[code(i, k) % 8] * (code(i, k) < 8 ? 1 : -1);
  };
  for (int i = 0; i < 128; ++i)
    for (int k = 0; k < 64; ++k) {
      bytes[PlainByte(i, k / 2)] |= static_cast<unsigned char>(code(i, k) << k % 2 * 4);
      bytes[8192 + PlainByte(i, k / 2)] |= static_cast<unsigned char>(code(i + 7, k) << k % 2 * 4);
    }
  const std::string setup =
      "mov.u32 w1, 0x30484038; mov.u32 w2, 0x38383838;\n"
      "tcgen05.st.sync.aligned.32x32b.x4.b32 [mine], {w1,w1,w1,w1};\nadd.u32 mine, mine, 8;\n"
      "tcgen05.st.sync.aligned.32x32b.x1.b32 [mine], {w2}; sub.u32 mine, mine, 8;\n";
  const uint32_t descriptor = 1u << 7 | 1u << 10 | 2u << 17 | 1u << 27;  // ue4m3
  const Words32 out = Sums(setup, descriptor,
                           "tcgen05.mma.cta_group::1.kind::mxf4nvf4.block_scale.scale_vec::4X "
                           "[tm], q0, q1, w0, [i], [x], z;",
                           in);
  constexpr double kScales[] = {1, 2, 4, 0.5};
  for (int r = 0; r < 128; ++r)
    for (int j = 0; j < 16; ++j) {
      double sum = 0;
      for (int k = 0; k < 64; ++k) sum += value(r, k) * value(j + 7, k) * kScales[k / 16];
      ASSERT_EQ(FloatAt(out, r, j), static_cast<float>(sum)) << r << "," << j;
    }
}

// A sparse a: each kind's places for metadata, of all that chunks of four (of e2m1: eight) may
// have.
struct SparseCase {
  const char* product;
  KindCase kind;
  int m;
};
class SparseProductTest : public testing::TestWithParam<SparseCase> {};

TEST_P(SparseProductTest, IsTheProductOfTheExpandedMatrix) {
  const auto& [product, kind, m] = GetParam();
  constexpr uint32_t kNibbles[] = {0x4, 0x8, 0xc, 0x9, 0xd, 0xe};
  constexpr int kN = 16, kB = 8192, kMetadata = 12288;
  const bool wide = kind.bytes == 2;
  const int chunks = kind.k / 4;
  Words32 in(4096);
  auto* bytes = reinterpret_cast<char*>(in.data());
  const auto put = [&](int at, int value) {
    const uint32_t bits = BitsOfKind(kind, value);
    std::memcpy(bytes + at, &bits, static_cast<size_t>(kind.bytes));
  };
  const auto nibble = [&](int r, int j) { return kNibbles[(r * 5 + j * 7 + r / 8) % 6]; };
  std::vector<std::vector<int>> dense(static_cast<size_t>(m), std::vector<int>(kind.k, 0));
  for (int r = 0; r < m; ++r)
    for (int j = 0; j < chunks; ++j) {
      for (int i = 0; i < 2; ++i) {
        const int value = ValueA(r, 2 * j + i);
        put(static_cast<int>(PlainByte(r, (2 * j + i) * kind.bytes)), value);
        dense[r][4 * j + (nibble(r, j) >> 2 * i & 3)] = value;
      }
      // f16: rows 8 apart share a word; the second half of k is 8 lanes below the first.
      const int row = wide ? r / 16 * 16 + j / 4 * 8 + r % 8 : r;
      const int lane = m == 64 ? row / 16 * 32 + row % 16 : row;
      const int bit = wide ? 32 + r / 8 % 2 * 16 + j % 4 * 4 : 4 * j;  // f16: column 1, selector 1
      in[static_cast<size_t>(kMetadata / 4 + lane * 2 + bit / 32)] |= nibble(r, j) << bit % 32;
    }
  for (int j = 0; j < kN; ++j)
    for (int k = 0; k < kind.k; ++k) {
      const int byte = k * kind.bytes;
      put(kB + (j / 8 * 4 + byte / 16) * 128 + j % 8 * 16 + byte % 16, ValueB(j, k));
    }
  const std::string setup = absl::StrCat(
      "mov.u32 w10, s; mad.lo.u32 w10, t, 8, w10; ld.shared.v2.u32 {w1,w2}, [w10+", kMetadata,
      "];\ntcgen05.st.sync.aligned.32x32b.x2.b32 [mine], {w1,w2};\nmov.u64 q1, ",
      kB >> 4 | uint64_t{128 >> 4} << 16 | uint64_t{512 >> 4} << 32 | uint64_t{1} << 46, ";\n");
  const Words32 out =
      Sums(setup, InstructionDescriptor(kind, m, kN) | 4 | (wide ? 1 : 0), product, in);
  for (int r = 0; r < m; ++r)
    for (int j = 0; j < kN; ++j) {
      int sum = 0;
      for (int k = 0; k < kind.k; ++k) sum += dense[r][k] * ValueB(j, k);
      const uint32_t expected = kind.integer ? static_cast<uint32_t>(sum)
                                             : std::bit_cast<uint32_t>(static_cast<float>(sum));
      const int lane = m == 64 ? r / 16 * 32 + r % 16 : r;
      ASSERT_EQ(out[static_cast<size_t>(lane * 16 + j)], expected) << r << "," << j;
    }
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, SparseProductTest,
    testing::Values(SparseCase{"tcgen05.mma.sp.cta_group::1.kind::f16 [tm], q0, q1, [i], w0, z;",
                               {"", 0, 0, 1, 2, 32, false},
                               128},
                    SparseCase{"tcgen05.mma.sp.cta_group::1.kind::f16 [tm], q0, q1, [i], w0, z;",
                               {"", 0, 0, 1, 2, 32, false},
                               64},
                    SparseCase{"tcgen05.mma.sp.cta_group::1.kind::i8 [tm], q0, q1, [i], w0, z;",
                               {"", 1, 1, 2, 1, 64, true},
                               128},
                    SparseCase{"tcgen05.mma.sp.cta_group::1.kind::f8f6f4 [tm], q0, q1, [i], w0, z;",
                               {"", 0, 0, 1, 1, 64, false},
                               64}));

// .ws: 32 rows in four quarters of 64 columns, 64 in two halves; masked columns are zeros.
TEST(TensorMemoryTest, StationaryWeights) {
  Words32 in = ByteOperands(32);
  for (const int m : {32, 64}) {
    const uint32_t descriptor = 1u << 4 | 8u << 17 | static_cast<uint32_t>(m / 16) << 24;
    const Words32 out =
        Sums("mov.u64 q2, 4;\n", descriptor,
             "tcgen05.mma.ws.cta_group::1.kind::f8f6f4 [tm], q0, q1, w0, z, q2;", in);
    for (int lane = 0; lane < 128; ++lane)
      for (int column = 0; column < 16; ++column) {
        const int r = lane % m, j = lane / m * (64 * m / 128) + column;
        int sum = 0;
        for (int k = 0; k < 32 && j != 2; ++k) sum += ValueA(r, k) * ValueB(j, k);
        ASSERT_EQ(FloatAt(out, lane, column), static_cast<float>(sum))
            << m << " at " << lane << "," << column;
      }
  }
}

// Nibbles and six bits become bytes; rows move down by one.
TEST(TensorMemoryTest, CopiesThatWidenAndShifts) {
  Words32 in(4096);
  for (int row = 0; row < 128; ++row)
    in[PlainByte(row, 0) / 4] = 0x76543210u + static_cast<uint32_t>(row % 8) * 0x10000000u;
  const auto run = [&](const std::string& body) {
    return Sums("", 0, "mov.u32 w1, 0;\n" + body, in);
  };
  const Words32 four = run("@one tcgen05.cp.cta_group::1.128x256b.b8x16.b4x16_p64 [tm], q0;");
  EXPECT_EQ(four[16 * 3], 0x0c080400u);
  EXPECT_EQ(four[16 * 8 + 1], 0x1c181410u);
  const Words32 six = run("@one tcgen05.cp.cta_group::1.128x256b.b8x16.b6x16_p32 [tm], q0;");
  EXPECT_EQ(six[16 * 8], 0x15030810u);  // 0x543210 six bits at a time: 10, 08, 03, 15
  const Words32 moved =
      run("@one tcgen05.cp.cta_group::1.128x128b [tm], q0;\n@one tcgen05.shift.cta_group::1.down "
          "[tm];");
  EXPECT_EQ(moved[0], in[0]);
  EXPECT_EQ(moved[16 * 1], in[0]);
  EXPECT_EQ(moved[16 * 5], in[PlainByte(4, 0) / 4]);
}

// Two blocks of a cluster: each has half of a's rows and of b's columns, and gets its rows of the
// sums.
TEST(TensorMemoryTest, PairsOfBlocks) {
  for (const int m : {128, 256}) {
    Words32 in = ByteOperands(32), out(2 * 128 * 16, 0);
    LaunchOptions options;
    options.block[0] = 128;
    options.grid[0] = options.cluster[0] = 2;
    const uint32_t descriptor = 1u << 4 | 4u << 17 | static_cast<uint32_t>(m / 16) << 24;
    std::string kernel = BlockKernel(absl::StrCat(
        "mov.u64 q0, ", PlainDescriptor(0), "; mov.u64 q1, ", PlainDescriptor(8192),
        "; mov.u32 w0, ", descriptor,
        "; setp.ne.u32 z, t, t; mov.u32 w1, %cluster_ctarank; setp.eq.and.u32 p, w1, 0, one;\n"
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n"
        "@p tcgen05.mma.cta_group::2.kind::f8f6f4 [tm], q0, q1, w0, z;\n"
        "barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;\n",
        R"(
  mad.wide.u32 out, w1, 8192, out;
  tcgen05.ld.sync.aligned.32x32b.x16.b32 {w0,w1,w2,w3,w4,w5,w6,w7,w8,w9,w10,w11,w12,w13,w14,w15}, [mine];
  mad.wide.u32 out, t, 64, out;
  st.global.v4.b32 [out], {w0,w1,w2,w3}; st.global.v4.b32 [out+16], {w4,w5,w6,w7};
  st.global.v4.b32 [out+32], {w8,w9,w10,w11}; st.global.v4.b32 [out+48], {w12,w13,w14,w15};)"));
    const absl::Status status = RunWords<uint32_t>(kernel, {&in, &out}, options);
    ASSERT_TRUE(status.ok()) << status.message();
    for (int block = 0; block < 2; ++block)
      for (int lane = 0; lane < 128; ++lane)
        for (int column = 0; column < 16; ++column) {
          // Both blocks have the same bytes: rows r and r + m / 2, columns j and j + 16 are alike.
          const int r = lane % (m / 2);
          int sum = 0;
          for (int k = 0; k < 32; ++k) sum += ValueA(r, k) * ValueB(column, k);
          ASSERT_EQ(FloatAt(out, 128 * block + lane, column), static_cast<float>(sum))
              << m << " at " << block << "," << lane;
        }
  }
}

TEST(TensorMemoryTest, CopiesOutOfSharedMemory) {
  Words32 in(4096), out(128, 0);
  for (int row = 0; row < 128; ++row)
    for (int word = 0; word < 4; ++word)
      in[PlainByte(row, word * 4) / 4] = static_cast<uint32_t>(1000 * row + word);
  const auto column = [&](const std::string& shape) {
    const absl::Status status = RunBlock(
        absl::StrCat("mov.u64 q0, ", PlainDescriptor(0), ";\n@one tcgen05.cp.cta_group::1.", shape,
                     " [tm], q0; bar.sync 0;\n"
                     "tcgen05.ld.sync.aligned.32x32b.x4.b32 {w0,w1,w2,w3}, [mine];\n"
                     "mad.wide.u32 out, t, 4, out; st.global.b32 [out], w2;"),
        in, out);
    EXPECT_TRUE(status.ok()) << status.message();
    return out;
  };
  EXPECT_EQ(column("128x128b")[77], 77002u);
  EXPECT_EQ(column("32x128b.warpx4")[77], 13002u);
  EXPECT_EQ(column("64x128b.warpx2::02_13")[77], 13002u);
  EXPECT_EQ(column("64x128b.warpx2::02_13")[40], 40002u);
  EXPECT_EQ(column("64x128b.warpx2::01_23")[77], 45002u);
  EXPECT_EQ(column("64x128b.warpx2::01_23")[40], 8002u);
}

TEST(TensorMemoryTest, FaultsAreNamed) {
  Words32 in, out(4);
  const auto fault = [&](const std::string& body) {
    return std::string(RunBlock(body, in, out).message());
  };
  EXPECT_THAT(fault("tcgen05.ld.sync.aligned.32x32b.x1.b32 {w0}, [tm];"),
              HasSubstr("lane 0 of tensor memory from warp "));
  EXPECT_THAT(fault("add.u32 mine, mine, 64; tcgen05.ld.sync.aligned.32x32b.x1.b32 {w0}, [mine];"),
              HasSubstr("column 64 of tensor memory, which is not allocated"));
  EXPECT_THAT(fault("tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [extra], 512;"),
              HasSubstr("448 are free"));
  EXPECT_THAT(fault("tcgen05.dealloc.cta_group::1.sync.aligned.b32 tm, 32;"),
              HasSubstr("which tcgen05.alloc did not give"));
  EXPECT_THAT(fault("mov.u32 w0, 0; @one tcgen05.mma.cta_group::1.kind::f16 [tm], q0, q1, w0, p;"),
              HasSubstr("an instruction descriptor 0x0 that has no meaning"));
  EXPECT_THAT(fault("mov.u32 w0, 0x8040010;\n"
                    "@one tcgen05.mma.sp.cta_group::1.kind::f16 [tm], q0, q1, [tm], w0, p;"),
              HasSubstr("an instruction descriptor 0x8040010 that has no meaning"));
}

// Of four neighbours in a row of the sparse a, the second and third are there (0b1001).
TEST(WgmmaSparse, IsTheProductOfTheExpandedMatrix) {
  Words32 in(4096), out(64 * 8, 0);
  auto* bytes = reinterpret_cast<char*>(in.data());
  constexpr int kBStart = 8192;
  for (int k = 0; k < 32; ++k)
    for (int j = 0; j < 8; ++j) {
      const uint16_t bits = RoundToF16(ValueB(j, k));
      const int core = k / 8 * 128;  // one row of core matrices
      std::memcpy(bytes + kBStart + core + j * 16 + k % 8 * 2, &bits, 2);
    }
  for (int i = 0; i < 64; ++i)
    for (int k = 0; k < 16; ++k) {
      const uint16_t bits = RoundToF16(ValueA(i, k));
      std::memcpy(bytes + PlainByte(i, 2 * k), &bits, 2);
    }
  const absl::Status status =
      RunBlock(absl::StrCat("mov.u64 q0, ", PlainDescriptor(0) & ~(uint64_t{1} << 46),
                            "; mov.u64 q1, ", PlainDescriptor(kBStart) & ~(uint64_t{1} << 46), R"(;
  .reg .f32 d<4>; mov.u32 w0, 0x99999999; setp.ne.u32 p, t, t;
  wgmma.mma_async.sp.sync.aligned.m64n8k32.f32.f16.f16 {d0,d1,d2,d3}, q0, q1, w0, 0, p, 1, 1, 0, 0;
  mad.wide.u32 out, t, 16, out; st.global.v4.f32 [out], {d0,d1,d2,d3};)"),
               in, out);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int thread = 0; thread < 128; ++thread)
    for (int r = 0; r < 4; ++r) {
      const int i = thread / 32 * 16 + thread % 32 / 4 + r / 2 * 8, j = thread % 4 * 2 + r % 2;
      int sum = 0;
      for (int k = 0; k < 16; ++k) sum += ValueA(i, k) * ValueB(j, k / 2 * 4 + 1 + k % 2);
      ASSERT_EQ(out[static_cast<size_t>(4 * thread + r)],
                std::bit_cast<uint32_t>(static_cast<float>(sum)))
          << i << "," << j;
    }
}

TEST(WgmmaBits, CountsCommonOnes) {
  Words32 in(4096), out(64 * 8, 0);
  for (size_t i = 0; i < in.size(); ++i) in[i] = static_cast<uint32_t>(i * 2654435761u);
  const auto row = [&](int start, int i, int word) {
    return in[(static_cast<size_t>(start) + PlainByte(i, 4 * word)) / 4];
  };
  const absl::Status status =
      RunBlock(absl::StrCat("mov.u64 q0, ", PlainDescriptor(0) & ~(uint64_t{1} << 46),
                            "; mov.u64 q1, ", PlainDescriptor(8192) & ~(uint64_t{1} << 46), R"(;
  setp.ne.u32 p, t, t;
  wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc {w0,w1,w2,w3}, q0, q1, p;
  mad.wide.u32 out, t, 16, out; st.global.v4.b32 [out], {w0,w1,w2,w3};)"),
               in, out);
  ASSERT_TRUE(status.ok()) << status.message();
  for (int thread = 0; thread < 128; ++thread)
    for (int r = 0; r < 4; ++r) {
      const int i = thread / 32 * 16 + thread % 32 / 4 + r / 2 * 8, j = thread % 4 * 2 + r % 2;
      int ones = 0;
      for (int word = 0; word < 8; ++word)
        ones += std::popcount(row(0, i, word) & row(8192, j, word));
      ASSERT_EQ(out[static_cast<size_t>(4 * thread + r)], static_cast<uint32_t>(ones));
    }
}

TEST(Multimem, OneDeviceHasTheOnlyCopy) {
  Words32 in, out = {5, 6, 7, 8, 0};
  const absl::Status status = RunBlock(R"(
  setp.ne.u32 p, t, 0; @p bra end;
  multimem.ld_reduce.relaxed.gpu.global.add.u32 w0, [out];
  multimem.red.relaxed.gpu.global.add.u32 [out+4], w0;
  multimem.ld_reduce.global.add.v2.f32 {w1, w2}, [out+8];
  multimem.st.relaxed.gpu.global.b32 [out+16], w2;
end:)",
                                       in, out);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(out, testing::ElementsAre(5, 11, 7, 8, 8));
}

// Eight blocks' work: each block counts itself and those that it takes. All is done once.
TEST(LaunchControl, BlocksTakeTheWorkOfThoseThatHaveNotBegun) {
  const std::string text = ".version 8.7\n.target sm_100a\n.address_size 64\n" + std::string(R"(
.visible .entry k(.param .u64 pout) {
  .shared .align 16 .b8 response[16];
  .shared .align 8 .b64 bar;
  .reg .b64 out, at; .reg .b32 x, one, phase, y; .reg .b128 r; .reg .pred p;
  ld.param.u64 out, [pout]; mov.u32 x, %ctaid.x; mov.u32 one, 1; mov.u32 phase, 0;
  mbarrier.init.shared.b64 [bar], one;
work:
  mad.wide.u32 at, x, 4, out; red.global.add.u32 [at], 1;
  mbarrier.arrive.expect_tx.shared.b64 _, [bar], 16;
  clusterlaunchcontrol.try_cancel.async.shared::cta.mbarrier::complete_tx::bytes.b128 [response], [bar];
wait: mbarrier.try_wait.parity.shared.b64 p, [bar], phase; @!p bra wait;
  xor.b32 phase, phase, 1;
  ld.shared.b128 r, [response];
  clusterlaunchcontrol.query_cancel.is_canceled.pred.b128 p, r; @!p bra end;
  clusterlaunchcontrol.query_cancel.get_first_ctaid::x.b32.b128 x, r;
  clusterlaunchcontrol.query_cancel.get_first_ctaid.v4.b32.b128 {x, y, _, _}, r;
  bra work;
end: ret;
})");
  Words32 out(8, 0);
  LaunchOptions options;
  options.grid[0] = 8;
  options.max_steps = 100000;
  const absl::Status status = RunWords<uint32_t>(text, {&out}, options);
  ASSERT_TRUE(status.ok()) << status.message();
  EXPECT_THAT(out, testing::Each(1u));
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
