// Single instructions with exact values: each row runs on one thread and on a warp.
#include <cstdint>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "gtest/gtest.h"
#include "ptxsim/testing_internal.h"

namespace hlokit::ptx {
namespace {

// `d`, `a`, `b`, `c` and `e` stand for registers of the kinds in `kinds`, the result first:
// h 16, w 32, q 64 bits, p a predicate (0 or 1).
struct Row {
  const char* instruction;
  const char* kinds;
  std::vector<uint64_t> operands;
  uint64_t expected;
};

void PrintTo(const Row& row, std::ostream* out) { *out << row.instruction; }

std::string Declare(char kind, char name) {
  const char* type = kind == 'h' ? "b16" : kind == 'w' ? "b32" : kind == 'q' ? "b64" : "pred";
  return absl::StrCat("  .reg .", type, " ", std::string(1, name), ";\n");
}
std::string LoadOperand(char kind, char name, int index) {
  const std::string at = absl::StrCat("[in+", 8 * index, "]");
  const std::string reg(1, name);
  if (kind == 'p')
    return absl::StrCat("  ld.global.u64 t, ", at, ";\n  setp.ne.u64 ", reg, ", t, 0;\n");
  const char* type = kind == 'h' ? "b16" : kind == 'w' ? "b32" : "b64";
  return absl::StrCat("  ld.global.", type, " ", reg, ", ", at, ";\n");
}
std::string StoreResult(char kind) {
  std::string text = "  mov.u32 lane, %tid.x;\n  mad.wide.u32 out, lane, 8, out;\n";
  if (kind == 'p') return text + "  selp.u64 t, 1, 0, d;\n  st.global.u64 [out], t;\n";
  const char* type = kind == 'h' ? "b16" : kind == 'w' ? "b32" : "b64";
  return text + absl::StrCat("  st.global.", type, " [out], d;\n");
}

std::string KernelOf(const Row& row) {
  std::string text = WithHeader(
      ".visible .entry k(.param .u64 pin, .param .u64 pout) {\n"
      "  .reg .b64 in, out, t;\n  .reg .b32 lane;\n");
  const char names[] = {'d', 'a', 'b', 'c', 'e'};
  const std::string kinds = row.kinds;
  for (size_t i = 0; i < kinds.size(); ++i) text += Declare(kinds[i], names[i]);
  text += "  ld.param.u64 in, [pin];\n  ld.param.u64 out, [pout];\n";
  for (size_t i = 1; i < kinds.size(); ++i)
    text += LoadOperand(kinds[i], names[i], static_cast<int>(i - 1));
  return text + "  " + row.instruction + ";\n" + StoreResult(kinds[0]) + "  ret;\n}\n";
}

class InstructionTest : public testing::TestWithParam<Row> {};

TEST_P(InstructionTest, GivesTheBits) {
  const Row& row = GetParam();
  for (uint32_t threads : {1u, 32u, 45u}) {
    std::vector<uint64_t> in = row.operands, out(threads, 0);
    LaunchOptions options;
    options.block[0] = threads;
    const absl::Status status = RunWords<uint64_t>(KernelOf(row), {&in, &out}, options);
    ASSERT_TRUE(status.ok()) << status.message() << "\n" << KernelOf(row);
    for (uint64_t value : out)
      ASSERT_EQ(value, row.expected)
          << std::hex << row.instruction << ": 0x" << value << ", expected 0x" << row.expected;
  }
}

const Row kIntegers[] = {
    {"add.s32 d,a,b", "www", {0x7fffffff, 1}, 0x80000000},
    {"add.sat.s32 d,a,b", "www", {0x7fffffff, 1}, 0x7fffffff},
    {"add.u16 d,a,b", "hhh", {0xffff, 2}, 1},
    {"add.s64 d,a,b", "qqq", {~0ull, 2}, 1},
    {"add.u16x2 d,a,b", "www", {0xffff0001, 0x00010002}, 0x00000003},
    {"sub.sat.s32 d,a,b", "www", {0x80000000, 1}, 0x80000000},
    {"sub.u64 d,a,b", "qqq", {1, 2}, ~0ull},
    {"mul.lo.u32 d,a,b", "www", {0x10001, 0x10001}, 0x20001},
    {"mul.hi.u32 d,a,b", "www", {0x80000000, 4}, 2},
    {"mul.hi.s32 d,a,b", "www", {0x80000000, 4}, 0xfffffffe},
    {"mul.hi.s64 d,a,b", "qqq", {~0ull, 5}, ~0ull},
    {"mul.wide.s32 d,a,b", "qww", {0xffffffff, 3}, 0xfffffffffffffffd},
    {"mul.wide.u16 d,a,b", "whh", {0xffff, 0xffff}, 0xfffe0001},
    {"mad.lo.s32 d,a,b,c", "wwww", {3, 4, 5}, 17},
    {"mad.hi.s32 d,a,b,c", "wwww", {0x80000000, 2, 7}, 6},
    {"mad.hi.sat.s32 d,a,b,c", "wwww", {0x7fffffff, 0x7fffffff, 0x7fffffff}, 0x7fffffff},
    {"mad.wide.u32 d,a,b,c", "qwwq", {0xffffffff, 2, 1}, 0x1ffffffff},
    {"mul24.lo.s32 d,a,b", "www", {0xffffff, 3}, 0xfffffffd},
    {"mul24.hi.u32 d,a,b", "www", {0xffffff, 0xffffff}, 0xfffffe00},
    {"mad24.hi.sat.s32 d,a,b,c", "wwww", {0x7fffff, 0x7fffff, 0x7fffffff}, 0x7fffffff},
    {"mad24.hi.sat.s32 d,a,b,c", "wwww", {0x800000, 0x7fffff, 0x80000000}, 0x80000000},
    {"vmad.s32.s32.s32 d,-a,b,c", "wwww", {3, 4, 5}, 0xfffffff9},
    {"vmad.s32.s32.s32.shr7 d,a,b,-c", "wwww", {256, 3, 128}, 5},
    {"mad24.lo.u32 d,a,b,c", "wwww", {0x1000002, 3, 1}, 7},
    {"sad.s32 d,a,b,c", "wwww", {3, 10, 100}, 107},
    {"sad.u16 d,a,b,c", "hhhh", {10, 3, 1}, 8},
    {"div.s32 d,a,b", "www", {0xfffffff9, 2}, 0xfffffffd},
    {"div.s32 d,a,b", "www", {0x80000000, 0xffffffff}, 0x80000000},
    {"div.u64 d,a,b", "qqq", {~0ull, 16}, 0x0fffffffffffffff},
    {"rem.s32 d,a,b", "www", {0xfffffff9, 2}, 0xffffffff},
    {"rem.u16 d,a,b", "hhh", {1000, 7}, 6},
    {"abs.s32 d,a", "ww", {0xfffffffb}, 5},
    {"neg.s64 d,a", "qq", {5}, 0xfffffffffffffffb},
    {"min.s32 d,a,b", "www", {0xffffffff, 1}, 0xffffffff},
    {"min.u32 d,a,b", "www", {0xffffffff, 1}, 1},
    {"max.s16x2 d,a,b", "www", {0xffff0005, 0x00020003}, 0x00020005},
    {"max.relu.s32 d,a,b", "www", {0xfffffff0, 0xfffffff1}, 0},
    {"popc.b64 d,a", "wq", {0xf0f0f0f0f0f0f0f0}, 32},
    {"clz.b32 d,a", "ww", {0x00010000}, 15},
    {"clz.b64 d,a", "wq", {0}, 64},
    {"bfind.u32 d,a", "ww", {0x00010000}, 16},
    {"bfind.shiftamt.u32 d,a", "ww", {0x00010000}, 15},
    {"bfind.s32 d,a", "ww", {0xffffffff}, 0xffffffff},
    {"bfind.s64 d,a", "wq", {0xfffffffffffffff0}, 3},
    {"brev.b32 d,a", "ww", {1}, 0x80000000},
    {"bfe.u32 d,a,b,c", "wwww", {0x12345678, 8, 8}, 0x56},
    {"bfe.s32 d,a,b,c", "wwww", {0x0000f000, 12, 4}, 0xffffffff},
    {"bfe.s32 d,a,b,c", "wwww", {0x80000000, 28, 8}, 0xfffffff8},
    {"bfe.u64 d,a,b,c", "qqww", {0xff00000000000000, 56, 8}, 0xff},
    {"bfe.s32 d,a,b,c", "wwww", {0xff, 0, 0}, 0},
    {"bfi.b32 d,a,b,c,e", "wwwww", {0xff, 0, 8, 4}, 0xf00},
    {"bfi.b64 d,a,b,c,e", "qqqww", {1, ~0ull, 0, 64}, 1},
    {"bmsk.clamp.b32 d,a,b", "www", {4, 4}, 0xf0},
    {"bmsk.clamp.b32 d,a,b", "www", {0, 32}, 0xffffffff},
    {"bmsk.wrap.b32 d,a,b", "www", {33, 3}, 0xe},
    {"szext.wrap.s32 d,a,b", "www", {0x8, 4}, 0xfffffff8},
    {"szext.clamp.u32 d,a,b", "www", {0xffffffff, 40}, 0xffffffff},
    {"fns.b32 d,a,b,c", "wwww", {0xa5, 0, 2}, 2},
    {"fns.b32 d,a,b,c", "wwww", {0xa5, 7, 0xffffffff}, 7},
    {"dp4a.s32.s32 d,a,b,c", "wwww", {0xff01ff01, 0x02020202, 10}, 10},
    {"dp4a.u32.s32 d,a,b,c", "wwww", {0xff000000, 0xff000000, 0}, 0xffffff01},
    {"dp2a.lo.s32.s32 d,a,b,c", "wwww", {0x00020003, 0x0000ff05, 1}, 14},
    {"dp2a.hi.u32.u32 d,a,b,c", "wwww", {0x00020003, 0x01020000, 0}, 8},
    {"{ .reg .b32 t0; add.cc.u32 t0,a,a; addc.u32 d,b,c; }", "wwww", {0x80000000, 1, 2}, 4},
    {"{ .reg .b32 t0; sub.cc.u32 t0,a,b; subc.u32 d,c,a; }", "wwww", {0, 1, 5}, 4},
    {"{ .reg .b32 t0; sub.cc.u32 t0,a,b; subc.u32 d,c,a; }", "wwww", {1, 1, 5}, 4},
    {"{ .reg .b32 t0; sub.cc.u32 t0,a,b; addc.u32 d,c,c; }", "wwww", {0, 1, 5}, 10},
    {"{ .reg .b32 t0; sub.cc.u32 t0,a,b; addc.u32 d,c,c; }", "wwww", {2, 1, 5}, 11},
    // Video instructions.
    {"vadd.s32.s32.s32.sat d,a.b1,b.h1", "www", {0x12348056, 0xfffe7fff}, 0xffffff7e},
    {"vadd.s32.u32.s32 d,a.b0,b", "www", {0x1ff, 1}, 256},
    {"vadd.s32.s32.s32.sat d.b1,a,b,c", "wwww", {1000, 1, 0x11223344}, 0x11227f44},
    {"vsub.u32.u32.u32.sat d,a,b", "www", {3, 5}, 0},
    {"vabsdiff.u32.s32.s32.add d,a,b,c", "wwww", {static_cast<uint32_t>(-3), 4, 10}, 17},
    {"vmin.s32.s32.s32.max d,a,b,c", "wwww", {static_cast<uint32_t>(-3), 4, 10}, 10},
    {"vshl.u32.u32.u32.clamp d,a,b", "www", {3, 40}, 0},
    {"vshl.u32.u32.u32.wrap d,a,b", "www", {3, 33}, 6},
    {"vshr.s32.s32.u32.clamp d,a.h1,b", "www", {0x80000000, 4}, 0xfffff800},
    {"vmad.s32.s32.u32 d,a.b0,b.h0,c", "wwww", {0xff, 0x10002, 100}, 98},
    {"vmad.s32.s32.s32.shr7 d,a,b,c", "wwww", {256, 3, 128}, 7},
    {"vset.s32.u32.lt d,a,b", "www", {static_cast<uint32_t>(-1), 1}, 1},
    {"vmax.u32.u32.s32 d,a,b", "www", {5, static_cast<uint32_t>(-3)}, 5},
    {"vsub2.u32.u32.u32.sat d,a,b,c", "wwww", {0x00010005, 0x00020003, 0}, 0x00000002},
    {"vabsdiff2.u32.s32.s32 d,a,b,c", "wwww", {0xffff0005, 0x00020003, 0}, 0x00030002},
    {"vmin2.u32.u32.u32 d,a.h22,b,c", "wwww", {0, 0x00020003, 0}, 0x00020003},
    {"vmax2.s32.s32.s32 d,a,b,c", "wwww", {0xffff0005, 0x00020003, 0}, 0x00020005},
    {"vset2.u32.u32.ge d,a,b,c", "wwww", {0x00020005, 0x00020006, 0}, 0x00010000},
    {"vadd4.u32.u32.u32 d,a,b,c", "wwww", {0xff010203, 0x02010101, 0}, 0x01020304},
    {"vadd4.u32.u32.u32.sat d,a,b,c", "wwww", {0xff010203, 0x02010101, 0}, 0xff020304},
    {"vsub4.s32.s32.s32.sat d,a,b,c", "wwww", {0x80010203, 0x01020202, 0}, 0x80ff0001},
    {"vavrg4.s32.s32.s32 d,a,b,c", "wwww", {0xff010203, 0xff020204, 0}, 0xff020204},
    {"vmin4.u32.u32.u32 d.b30,a,b,c", "wwww", {0x09010203, 0x08000001, 0x11223344}, 0x08223301},
    {"{ .reg .b64 s, x; stacksave.u64 s; alloca.u64 x, 32, 16; stackrestore.u64 s; "
     "alloca.u64 d, 8; sub.u64 d, d, x; }",
     "q",
     {},
     0},
    {"vadd2.s32.s32.s32.sat d,a,b,c", "wwww", {0x7fff8000, 0x0001ffff, 0}, 0x7fff8000},
    {"vadd2.u32.u32.u32 d.h0,a,b,c", "wwww", {0x00010002, 0x00030004, 0xaaaabbbb}, 0xaaaa0006},
    {"vavrg2.u32.u32.u32 d,a,b,c", "wwww", {0x00010002, 0x00040003, 0}, 0x00030003},
    {"vabsdiff4.u32.u32.u32 d,a,b,c", "wwww", {0x01ff8005, 0x03018004, 0}, 0x02fe0001},
    {"vabsdiff4.u32.u32.u32.add d,a,b,c", "wwww", {0x01ff8005, 0x03018004, 1000}, 1257},
    {"vmax4.s32.s32.s32 d,a,b.b7777,c", "wwww", {0x01ff8005, 0x02000000, 0}, 0x02020205},
    {"vset4.s32.s32.gt d,a,b,c", "wwww", {0x01ff8005, 0x00000000, 0}, 0x01000001},
    {"vset4.s32.s32.gt.add d,a,b,c", "wwww", {0x01ff8005, 0x00000000, 5}, 7},
    {"{ .reg .b32 t0; mad.lo.cc.u32 t0,a,a,a; madc.hi.u32 d,b,b,c; }",
     "wwww",
     {0xffffffff, 0x10000, 7},
     9},
};

const Row kLogic[] = {
    {"and.b32 d,a,b", "www", {0xf0, 0x3c}, 0x30},
    {"or.b16 d,a,b", "hhh", {0xf0, 0x0f}, 0xff},
    {"xor.b64 d,a,b", "qqq", {~0ull, 1}, ~1ull},
    {"and.pred d,a,b", "ppp", {1, 0}, 0},
    {"xor.pred d,a,b", "ppp", {1, 0}, 1},
    {"not.pred d,a", "pp", {0}, 1},
    {"not.b32 d,a", "ww", {0}, 0xffffffff},
    {"cnot.b32 d,a", "ww", {0}, 1},
    {"cnot.b32 d,a", "ww", {5}, 0},
    {"shl.b32 d,a,b", "www", {1, 31}, 0x80000000},
    {"shl.b32 d,a,b", "www", {1, 32}, 0},
    {"shl.b64 d,a,b", "qqw", {1, 63}, 1ull << 63},
    {"shl.b16 d,a,b", "hhw", {1, 16}, 0},
    {"shr.u32 d,a,b", "www", {0x80000000, 40}, 0},
    {"shr.s32 d,a,b", "www", {0x80000000, 40}, 0xffffffff},
    {"shr.s64 d,a,b", "qqw", {1ull << 63, 4}, 0xf800000000000000},
    {"shf.l.wrap.b32 d,a,b,c", "wwww", {0x80000000, 1, 33}, 3},
    {"shf.l.clamp.b32 d,a,b,c", "wwww", {0x12345678, 1, 40}, 0x12345678},
    {"shf.r.wrap.b32 d,a,b,c", "wwww", {0x12345678, 0x9, 4}, 0x91234567},
    {"shf.r.clamp.b32 d,a,b,c", "wwww", {1, 0x9, 32}, 9},
    {"prmt.b32 d,a,b,c", "wwww", {0x33221100, 0x77665544, 0x7531}, 0x77553311},
    {"prmt.b32 d,a,b,c", "wwww", {0x000000ff, 0, 0x9888}, 0x00ffffff},
    {"prmt.b32.f4e d,a,b,c", "wwww", {0x33221100, 0x77665544, 1}, 0x44332211},
    {"prmt.b32.b4e d,a,b,c", "wwww", {0x33221100, 0x77665544, 0}, 0x55667700},
    {"prmt.b32.rc8 d,a,b,c", "wwww", {0x33221100, 0, 2}, 0x22222222},
    {"prmt.b32.rc16 d,a,b,c", "wwww", {0x33221100, 0, 1}, 0x33223322},
    {"lop3.b32 d,a,b,c,0x80", "wwww", {0xff, 0x3c, 0x18}, 0x18},
    {"lop3.b32 d,a,b,c,0x96", "wwww", {0xf0, 0xcc, 0xaa}, 0x96},
    {"selp.b32 d,a,b,c", "wwwp", {1, 2, 0}, 2},
    {"selp.f64 d,a,b,c", "qqqp", {1, 2, 1}, 1},
    {"slct.u32.s32 d,a,b,c", "wwww", {1, 2, 0xffffffff}, 2},
    {"slct.ftz.f32.f32 d,a,b,c", "wwww", {1, 2, 0x80000001}, 1},
    {"slct.u64.f32 d,a,b,c", "qqqw", {1, 2, 0xbf800000}, 2},
    {"setp.lt.s32 d,a,b", "pww", {0xffffffff, 0}, 1},
    {"setp.lo.u32 d,a,b", "pww", {0xffffffff, 0}, 0},
    {"setp.eq.f32 d,a,b", "pww", {0x7fc00000, 0x7fc00000}, 0},
    {"setp.neu.f32 d,a,b", "pww", {0x7fc00000, 0x7fc00000}, 1},
    {"setp.ne.f64 d,a,b", "pqq", {0x7ff8000000000000, 0}, 0},
    {"setp.nan.f32 d,a,b", "pww", {0x7fc00000, 0}, 1},
    {"setp.num.f64 d,a,b", "pqq", {0, 0}, 1},
    {"setp.eq.ftz.f32 d,a,b", "pww", {1, 0}, 1},
    {"setp.gt.and.s32 d,a,b,c", "pwwp", {3, 2, 1}, 1},
    {"setp.gt.xor.s32 d,a,b,c", "pwwp", {3, 2, 1}, 0},
    {"setp.lt.f16 d,a,b", "phh", {0x3c00, 0x4000}, 1},
    {"setp.gt.bf16 d,a,b", "phh", {0x3f80, 0x4000}, 0},
    {"{ .reg .pred q0; setp.lt.s32 q0|d,a,b; }", "pww", {1, 2}, 0},
    {"{ .reg .pred q0; setp.eq.f16x2 q0|d,a,b; }", "pww", {0x3c004000, 0x3c003c00}, 1},
    {"set.lt.u32.s32 d,a,b", "www", {1, 2}, 0xffffffff},
    {"set.ge.f32.f32 d,a,b", "www", {0x40000000, 0x3f800000}, 0x3f800000},
    {"mov.b32 d,a", "ww", {77}, 77},
    {"mov.b64 d,{a,b}", "qww", {1, 2}, 0x200000001},
    {"{ .reg .b32 t0; mov.b64 {t0,d},a; }", "wq", {0x200000001}, 2},
    {"{ .reg .b16 t0; mov.b32 {d,t0},a; }", "hw", {0x12345678}, 0x5678},
};

const Row kFloats[] = {
    {"add.f32 d,a,b", "www", {0x3f800000, 0x33800000}, 0x3f800000},
    {"add.rp.f32 d,a,b", "www", {0x3f800000, 0x33800000}, 0x3f800001},
    {"add.rm.f32 d,a,b", "www", {0xbf800000, 0x80000001}, 0xbf800001},
    {"add.rz.f32 d,a,b", "www", {0xbf800000, 0x80000001}, 0xbf800000},
    {"add.rm.f32 d,a,b", "www", {0x3f800000, 0xbf800000}, 0x80000000},
    {"add.ftz.f32 d,a,b", "www", {0x00000001, 0x80000001}, 0},
    {"add.sat.f32 d,a,b", "www", {0x3f800000, 0x3f800000}, 0x3f800000},
    {"add.sat.f32 d,a,b", "www", {0x7fc00000, 0x3f800000}, 0},
    {"add.f32 d,a,b", "www", {0x7f800000, 0xff800000}, 0x7fffffff},
    {"add.rp.f64 d,a,b", "qqq", {0x3ff0000000000000, 1}, 0x3ff0000000000001},
    {"sub.f32 d,a,b", "www", {0x40400000, 0x3f800000}, 0x40000000},
    {"mul.f32 d,a,b", "www", {0x3f800001, 0x3f800001}, 0x3f800002},
    {"mul.rp.f32 d,a,b", "www", {0x3f800001, 0x3f800001}, 0x3f800003},
    {"mul.ftz.f32 d,a,b", "www", {0x00800000, 0x3f000000}, 0},
    {"mul.f32 d,a,b", "www", {0x00800000, 0x3f000000}, 0x00400000},
    {"mul.rz.f64 d,a,b", "qqq", {0x3ff0000000000001, 0x3ff0000000000001}, 0x3ff0000000000002},
    {"fma.rn.f32 d,a,b,c", "wwww", {0x3f800001, 0x3f800001, 0xbf800002}, 0x28800000},
    {"fma.rp.f32 d,a,b,c", "wwww", {0x3f800000, 0x3f800000, 0x00000001}, 0x3f800001},
    {"fma.rn.sat.f32 d,a,b,c", "wwww", {0xbf800000, 0x3f800000, 0}, 0},
    {"fma.rn.f64 d,a,b,c",
     "qqqq",
     {0x3ff0000000000001, 0x3ff0000000000001, 0xbff0000000000002},
     0x3970000000000000},
    {"fma.rm.f64 d,a,b,c",
     "qqqq",
     {0x3ff0000000000000, 0x3ff0000000000000, 0x8000000000000001},
     0x3fefffffffffffff},
    {"mad.rn.f32 d,a,b,c", "wwww", {0x40000000, 0x40000000, 0x3f800000}, 0x40a00000},
    {"add.rn.f32x2 d,a,b", "qqq", {0x3f80000040000000, 0x3f80000040000000}, 0x4000000040800000},
    {"div.rn.f32 d,a,b", "www", {0x3f800000, 0x40400000}, 0x3eaaaaab},
    {"div.rz.f32 d,a,b", "www", {0x3f800000, 0x40400000}, 0x3eaaaaaa},
    {"div.approx.f32 d,a,b", "www", {0x3f800000, 0x7f000001}, 0},
    {"div.full.f32 d,a,b", "www", {0x40800000, 0x40000000}, 0x40000000},
    {"div.rp.f64 d,a,b", "qqq", {0x3ff0000000000000, 0x4008000000000000}, 0x3fd5555555555556},
    {"rcp.rn.f32 d,a", "ww", {0x40400000}, 0x3eaaaaab},
    {"rcp.rm.f64 d,a", "qq", {0x4008000000000000}, 0x3fd5555555555555},
    {"rcp.approx.ftz.f32 d,a", "ww", {0x00000001}, 0x7f800000},
    {"rcp.approx.ftz.f64 d,a", "qq", {0x4000000000000000}, 0x3fe0000000000000},
    {"sqrt.rn.f32 d,a", "ww", {0x40000000}, 0x3fb504f3},
    {"sqrt.rp.f32 d,a", "ww", {0x40000000}, 0x3fb504f4},
    {"sqrt.rn.f64 d,a", "qq", {0x4000000000000000}, 0x3ff6a09e667f3bcd},
    {"sqrt.approx.f32 d,a", "ww", {0x40800000}, 0x40000000},
    {"sqrt.rn.f32 d,a", "ww", {0xbf800000}, 0x7fffffff},
    {"rsqrt.approx.f32 d,a", "ww", {0x40800000}, 0x3f000000},
    {"rsqrt.approx.f64 d,a", "qq", {0x4010000000000000}, 0x3fe0000000000000},
    {"sin.approx.f32 d,a", "ww", {0x80000000}, 0x80000000},
    {"cos.approx.f32 d,a", "ww", {0}, 0x3f800000},
    {"sin.approx.f32 d,a", "ww", {0x7f800000}, 0x7fffffff},
    {"lg2.approx.f32 d,a", "ww", {0x41000000}, 0x40400000},
    {"lg2.approx.f32 d,a", "ww", {0}, 0xff800000},
    {"ex2.approx.f32 d,a", "ww", {0x40400000}, 0x41000000},
    {"ex2.approx.ftz.f32 d,a", "ww", {0xff800000}, 0},
    {"tanh.approx.f32 d,a", "ww", {0x7f800000}, 0x3f800000},
    {"neg.f32 d,a", "ww", {0x7fc00001}, 0x7fffffff},
    {"abs.ftz.f32 d,a", "ww", {0x80000001}, 0},
    {"neg.f64 d,a", "qq", {0}, 0x8000000000000000},
    {"min.f32 d,a,b", "www", {0x7fc00000, 0x3f800000}, 0x3f800000},
    {"min.f32 d,a,b", "www", {0, 0x80000000}, 0x80000000},
    {"max.NaN.f32 d,a,b", "www", {0x7fc00000, 0x3f800000}, 0x7fffffff},
    {"max.xorsign.abs.f32 d,a,b", "www", {0xc0000000, 0x3f800000}, 0xc0000000},
    {"max.f64 d,a,b", "qqq", {0x8000000000000000, 0}, 0},
    {"min.f32 d,a,b,c", "wwww", {0x40400000, 0x3f800000, 0x40000000}, 0x3f800000},
    {"copysign.f32 d,a,b", "www", {0x80000000, 0x3f800000}, 0xbf800000},
    {"copysign.f64 d,a,b", "qqq", {0, 0xbff0000000000000}, 0x3ff0000000000000},
    {"testp.finite.f32 d,a", "pw", {0x7f800000}, 0},
    {"testp.normal.f32 d,a", "pw", {0x3f800000}, 1},
    {"testp.subnormal.f64 d,a", "pq", {1}, 1},
    {"testp.notanumber.f32 d,a", "pw", {0x7fc00000}, 1},
    {"testp.infinite.f64 d,a", "pq", {0x7ff0000000000000}, 1},
    {"testp.number.f32 d,a", "pw", {0x7fc00000}, 0},
};

const Row kHalves[] = {
    {"add.f16 d,a,b", "hhh", {0x3c00, 0x1000}, 0x3c00},
    {"add.rn.f16x2 d,a,b", "www", {0x3c004000, 0x3c003c00}, 0x40004200},
    {"add.ftz.f16 d,a,b", "hhh", {0x0001, 0x0001}, 0},
    {"add.sat.f16 d,a,b", "hhh", {0x3c00, 0x3c00}, 0x3c00},
    {"add.f16 d,a,b", "hhh", {0x7bff, 0x7bff}, 0x7c00},
    {"sub.bf16 d,a,b", "hhh", {0x4040, 0x3f80}, 0x4000},
    {"mul.f16x2 d,a,b", "www", {0x42003c00, 0x40004000}, 0x46004000},
    {"mul.bf16x2 d,a,b", "www", {0x40403f80, 0x40004000}, 0x40c04000},
    {"fma.rn.f16 d,a,b,c", "hhhh", {0x3c01, 0x3c01, 0xbc02}, 0x0010},
    {"fma.rn.relu.bf16x2 d,a,b,c", "wwww", {0xbf803f80, 0x3f803f80, 0x00000000}, 0x00003f80},
    {"fma.rn.f16x2 d,a,b,c", "wwww", {0x3c003c00, 0x40004000, 0x3c003c00}, 0x42004200},
    {"fma.rn.oob.f16 d,a,b,c", "hhhh", {0x7eff, 0x3c00, 0x4000}, 0},
    {"fma.rn.oob.f16x2 d,a,b,c", "wwww", {0x3c003c00, 0x40007eff, 0x3c003c00}, 0x42000000},
    {"fma.rn.oob.relu.bf16x2 d,a,b,c", "wwww", {0x3f80bf80, 0x40003f80, 0}, 0x40000000},
    {"neg.f16 d,a", "hh", {0x3c00}, 0xbc00},
    {"abs.bf16x2 d,a", "ww", {0xbf80bf80}, 0x3f803f80},
    {"min.f16 d,a,b", "hhh", {0x7e00, 0x3c00}, 0x3c00},
    {"max.NaN.f16x2 d,a,b", "www", {0x7e003c00, 0x3c004000}, 0x7fff4000},
    {"min.xorsign.abs.bf16 d,a,b", "hhh", {0xbf80, 0x4000}, 0xbf80},
    {"ex2.approx.f16 d,a", "hh", {0x4200}, 0x4800},
    {"ex2.approx.ftz.bf16x2 d,a", "ww", {0x40403f80}, 0x41004000},
    {"tanh.approx.f16x2 d,a", "ww", {0x7c000000}, 0x3c000000},
};

const Row kConversions[] = {
    {"cvt.u32.u8 d,a", "ww", {0x1ff}, 0xff},
    {"cvt.s32.s8 d,a", "ww", {0x80}, 0xffffff80},
    {"cvt.s64.s32 d,a", "qw", {0xffffffff}, ~0ull},
    {"cvt.u16.u32 d,a", "hw", {0x12345678}, 0x5678},
    {"cvt.sat.u8.s32 d,a", "ww", {0xffffffff}, 0},
    {"cvt.sat.s8.s32 d,a", "ww", {1000}, 127},
    {"cvt.sat.s32.u64 d,a", "wq", {~0ull}, 0x7fffffff},
    {"cvt.rn.f32.s32 d,a", "ww", {0x01000001}, 0x4b800000},
    {"cvt.rp.f32.s32 d,a", "ww", {0x01000001}, 0x4b800001},
    {"cvt.rn.f32.u64 d,a", "wq", {~0ull}, 0x5f800000},
    {"cvt.rz.f32.u64 d,a", "wq", {~0ull}, 0x5f7fffff},
    {"cvt.rn.f64.u64 d,a", "qq", {~0ull}, 0x43f0000000000000},
    {"cvt.rn.f16.s32 d,a", "hw", {2049}, 0x6800},
    {"cvt.rn.bf16.u32 d,a", "hw", {257}, 0x4380},
    {"cvt.rzi.s32.f32 d,a", "ww", {0xc0200000}, 0xfffffffe},
    {"cvt.rni.s32.f32 d,a", "ww", {0x40200000}, 2},
    {"cvt.rmi.s32.f32 d,a", "ww", {0xc0200000}, 0xfffffffd},
    {"cvt.rpi.u32.f32 d,a", "ww", {0x40200000}, 3},
    {"cvt.rzi.s32.f32 d,a", "ww", {0x7fc00000}, 0},
    {"cvt.rzi.s32.f32 d,a", "ww", {0x7f800000}, 0x7fffffff},
    {"cvt.rzi.u32.f32 d,a", "ww", {0xbf800000}, 0},
    {"cvt.rzi.s64.f64 d,a", "qq", {0x43e0000000000000}, 0x7fffffffffffffff},
    {"cvt.rzi.u8.f32 d,a", "ww", {0x43fa0000}, 0xff},
    {"cvt.rn.f32.f64 d,a", "wq", {0x3ff0000010000000}, 0x3f800000},
    {"cvt.rp.f32.f64 d,a", "wq", {0x3ff0000010000000}, 0x3f800001},
    {"cvt.rm.f32.f64 d,a", "wq", {0xbff0000010000000}, 0xbf800001},
    {"cvt.rz.f32.f64 d,a", "wq", {0xbff0000018000000}, 0xbf800000},
    {"cvt.f64.f32 d,a", "qw", {0x3fc00000}, 0x3ff8000000000000},
    {"cvt.ftz.f64.f32 d,a", "qw", {1}, 0},
    {"cvt.rmi.f32.f32 d,a", "ww", {0xc0200000}, 0xc0400000},
    {"cvt.rni.f64.f64 d,a", "qq", {0x4004000000000000}, 0x4000000000000000},
    {"cvt.sat.f32.f32 d,a", "ww", {0x40000000}, 0x3f800000},
    {"cvt.f32.f16 d,a", "wh", {0x0001}, 0x33800000},
    {"cvt.f32.bf16 d,a", "wh", {0x3f80}, 0x3f800000},
    {"cvt.rn.f16.f32 d,a", "hw", {0x3f801000}, 0x3c00},
    {"cvt.rz.f16.f32 d,a", "hw", {0x477fffff}, 0x7bff},
    {"cvt.rn.f16.f32 d,a", "hw", {0x477fffff}, 0x7c00},
    {"cvt.rn.bf16.f32 d,a", "hw", {0x3f808000}, 0x3f80},
    {"cvt.rn.relu.bf16.f32 d,a", "hw", {0xbf800000}, 0},
    {"cvt.rn.f16x2.f32 d,a,b", "www", {0x3f800000, 0x40000000}, 0x3c004000},
    {"cvt.rn.bf16x2.f32 d,a,b", "www", {0x3f800000, 0x40000000}, 0x3f804000},
    {"cvt.rz.bf16x2.f32 d,a,b", "www", {0x3f80ffff, 0}, 0x3f800000},
    {"cvt.rna.tf32.f32 d,a", "ww", {0x3f801000}, 0x3f802000},
    {"cvt.rn.tf32.f32 d,a", "ww", {0x3f801000}, 0x3f800000},
    {"cvt.rn.satfinite.e4m3x2.f32 d,a,b", "hww", {0x43e00000, 0x44800000}, 0x7e7e},
    {"cvt.rn.satfinite.e4m3x2.f32 d,a,b", "hww", {0x3f800000, 0x7fc00000}, 0x387f},
    {"cvt.rn.satfinite.e5m2x2.f32 d,a,b", "hww", {0x3f800000, 0x7f800000}, 0x3c7b},
    {"cvt.rn.satfinite.relu.e5m2x2.f16x2 d,a", "hw", {0x3c00bc00}, 0x3c00},
    {"cvt.rn.f16x2.e4m3x2 d,a", "wh", {0x3880}, 0x3c008000},
    {"cvt.rn.f16x2.e5m2x2 d,a", "wh", {0x7c3c}, 0x7c003c00},
    // Random bits: 0 cuts, all ones go up wherever anything is cut off.
    {"cvt.rs.f16x2.f32 d,a,b,c", "wwww", {0x3f801000, 0x3f801fff, 0}, 0x3c003c00},
    {"cvt.rs.f16x2.f32 d,a,b,c", "wwww", {0x3f801000, 0x3f800001, 0xffffffff}, 0x3c013c01},
    {"cvt.rs.bf16x2.f32 d,a,b,c", "wwww", {0x3f808000, 0x3f808000, 0x80007fff}, 0x3f813f80},
    {"cvt.rs.relu.bf16x2.f32 d,a,b,c", "wwww", {0xbf800000, 0x3f800000, 0}, 0x00003f80},
    {"cvt.rs.satfinite.e4m3x4.f32 d,{a,b,c,e},0",
     "wwwww",
     {0x3f800000, 0x40000000, 0xbf800000, 0x7f000000},
     0x3840b87e},
    {"cvt.rs.satfinite.e2m1x4.f32 d,{a,b,c,e},0xffffffff",
     "hwwww",
     {0x3f800000, 0x3f900000, 0x40c00000, 0},
     0x2370},
    {"cvt.rn.satfinite.e2m3x2.f32 d,a,b", "hww", {0x40f00000, 0xbe000000}, 0x1f21},
    {"cvt.rn.satfinite.e3m2x2.f32 d,a,b", "hww", {0x41e00000, 0x3f800000}, 0x1f0c},
    {"cvt.rn.f16x2.e2m3x2 d,a", "wh", {0x1f21}, 0x4780b000},
    {"cvt.rn.f16x2.e3m2x2 d,a", "wh", {0x1f0c}, 0x4f003c00},
    {"{ .reg .b8 t0; cvt.rn.satfinite.e2m1x2.f32 t0,a,b; cvt.u32.u8 d,t0; }",
     "www",
     {0x40c00000, 0xbf000000},
     0x79},
    {"{ .reg .b8 t0; cvt.u8.u32 t0,a; cvt.rn.f16x2.e2m1x2 d,t0; }", "ww", {0x79}, 0x4600b800},
    {"cvt.rz.ue8m0x2.f32 d,a,b", "hww", {0x3fc00000, 0x7f800000}, 0x7fff},
    {"cvt.rp.satfinite.ue8m0x2.f32 d,a,b", "hww", {0x3fc00000, 0x7f800000}, 0x80fe},
    {"cvt.rp.ue8m0x2.f32 d,a,b", "hww", {0x00400001, 0x00400000}, 0x0100},
    {"cvt.rn.bf16x2.ue8m0x2 d,a", "wh", {0x80ff}, 0x40007fff},
    {"cvt.rn.satfinite.tf32.f32 d,a", "ww", {0x7f7fffff}, 0x7f7fe000},
    {"cvt.pack.sat.s16.s32 d,a,b", "www", {0x7fffffff, 5}, 0x7fff0005},
    {"cvt.pack.sat.u8.s32.b32 d,a,b,c", "wwww", {300, 0xffffffff, 0x1234}, 0x1234ff00},
};

// What works on warps, with all lanes alike; kernels of their own are in kernels_test.cc.
const Row kWarps[] = {
    {"vote.sync.all.pred d,a,0xffffffff", "pp", {1}, 1},
    {"vote.sync.any.pred d,a,0xffffffff", "pp", {0}, 0},
    {"vote.sync.uni.pred d,a,0xffffffff", "pp", {0}, 1},
    {"shfl.sync.idx.b32 d,a,0,31,0xffffffff", "ww", {9}, 9},
    {"redux.sync.max.u32 d,a,0xffffffff", "ww", {9}, 9},
    {"redux.sync.and.b32 d,a,0xffffffff", "ww", {9}, 9},
    {"isspacep.global d,a", "pq", {0x7f0000000000}, 1},
    {"cvta.shared.u64 d,a", "qq", {16}, 0x100000010},
    {"cvta.to.shared.u64 d,a", "qq", {0x100000010}, 16},
    {"membar.gl; mov.b32 d,a", "ww", {1}, 1},
    {"fence.acq_rel.gpu; mov.b32 d,a", "ww", {1}, 1},
    {"nanosleep.u32 20; mov.b32 d,a", "ww", {1}, 1},
    {"bar.warp.sync 0xffffffff; mov.b32 d,a", "ww", {1}, 1},
    {"barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned; mov.b32 d,a", "ww", {1}, 1},
    {"griddepcontrol.wait; mov.b32 d,a", "ww", {1}, 1},
    {"ldu.global.u32 d,[in]", "ww", {7}, 7},
    {"prefetch.global.L2 [in]; mov.b32 d,a", "ww", {1}, 1},
    {"prefetchu.L1 [in]; mov.b32 d,a", "ww", {1}, 1},
    {"applypriority.global.L2::evict_normal [in],128; mov.b32 d,a", "ww", {1}, 1},
    {"discard.global.L2 [in],128; mov.b32 d,a", "ww", {1}, 1},
    {"createpolicy.fractional.L2::evict_last.b64 d,1.0", "q", {0}, 0x14f0000000000000},
    {"mapa.shared::cluster.u32 d,a,0", "ww", {64}, 0x1000040},
    {"getctarank.shared::cluster.u32 d,a", "ww", {64}, 0},
    {"pmevent 1; mov.b32 d,a", "ww", {1}, 1},
    {"setmaxnreg.inc.sync.aligned.u32 64; mov.b32 d,a", "ww", {1}, 1},
};

INSTANTIATE_TEST_SUITE_P(Integers, InstructionTest, testing::ValuesIn(kIntegers));
INSTANTIATE_TEST_SUITE_P(Logic, InstructionTest, testing::ValuesIn(kLogic));
INSTANTIATE_TEST_SUITE_P(Floats, InstructionTest, testing::ValuesIn(kFloats));
INSTANTIATE_TEST_SUITE_P(Halves, InstructionTest, testing::ValuesIn(kHalves));
INSTANTIATE_TEST_SUITE_P(Conversions, InstructionTest, testing::ValuesIn(kConversions));
INSTANTIATE_TEST_SUITE_P(Warps, InstructionTest, testing::ValuesIn(kWarps));

// Instructions of kernels_test.cc.
constexpr const char* kOfKernels[] = {"activemask",
                                      "atom",
                                      "bar",
                                      "barrier",
                                      "bra",
                                      "brkpt",
                                      "brx",
                                      "call",
                                      "cp",
                                      "elect",
                                      "exit",
                                      "ldmatrix",
                                      "ld",
                                      "match",
                                      "mbarrier",
                                      "mma",
                                      "movmatrix",
                                      "red",
                                      "tcgen05",
                                      "multimem",
                                      "tex",
                                      "tld4",
                                      "txq",
                                      "suld",
                                      "sust",
                                      "sured",
                                      "suq",
                                      "istypep",
                                      "clusterlaunchcontrol",
                                      "ret",
                                      "st",
                                      "stmatrix",
                                      "tensormap",
                                      "trap",
                                      "wgmma",
                                      "wmma"};

TEST(Table, EachRowHasATest) {
  std::string tested = ";";
  for (const auto& rows :
       {testing::ValuesIn(kIntegers), testing::ValuesIn(kLogic), testing::ValuesIn(kFloats),
        testing::ValuesIn(kHalves), testing::ValuesIn(kConversions), testing::ValuesIn(kWarps)})
    for (const Row& row : rows) absl::StrAppend(&tested, row.instruction, ";");
  tested = absl::StrReplaceAll(tested, {{" ", ";"}, {".", ";"}});
  for (const char* name : kOfKernels) absl::StrAppend(&tested, name, ";");
#define HLOKIT_PTX_INSTRUCTION(mnemonic, bind, least, most, modifiers, types) \
  EXPECT_NE(tested.find(";" #mnemonic ";"), std::string::npos) << #mnemonic;
#include "ptxsim/instructions.def"
#undef HLOKIT_PTX_INSTRUCTION
}

TEST(Refusal, NamesTheInstruction) {
  const auto decode = [](const std::string& body) {
    return DecodeText(WithHeader(".visible .entry k() {\n .reg .b32 a;\n" + body + "\n ret;\n}\n"))
        .status();
  };
  EXPECT_NE(
      decode("frobnicate.u32 a, a;").message().find("instruction `frobnicate` is not supported"),
      absl::string_view::npos);
  EXPECT_NE(decode("add.u32.foo a, a, a;").message().find("with `.foo`"), absl::string_view::npos);
  EXPECT_NE(decode("add.u32 a, a;").message().find("takes 3 operands, found 2"),
            absl::string_view::npos);
  EXPECT_NE(decode(".reg .b16 h; ldmatrix.sync.aligned.m8n8.x1.shared.b16 {h}, [a];")
                .message()
                .find("expected registers of 32 bits"),
            absl::string_view::npos);
  EXPECT_NE(decode("add.u32 a, a, zz;").message().find("unknown name `zz`"),
            absl::string_view::npos);
}

}  // namespace
}  // namespace hlokit::ptx
// SPDX-License-Identifier: Apache-2.0
