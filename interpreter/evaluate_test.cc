// What each operation gives: one row an operation or rule, a module body and the value of its ROOT.
#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "interpreter/interpreter.h"
#include "parser/parser.h"
#include "types/literal_text.h"

namespace hlokit {
namespace {

// Computations that rows may call.
constexpr char kComputations[] = R"(
add { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT r = s32[] add(x, y) }
addf { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = f32[] add(x, y) }
minf { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = f32[] minimum(x, y) }
gef { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=GE }
ltf { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = pred[] compare(x, y), direction=LT, type=TOTALORDER }
second { x = f32[] parameter(0)  ROOT y = f32[] parameter(1) }
minus { x = s32[] parameter(0)  y = s32[] parameter(1)  m = s32[] subtract(x, y)  ROOT r = s32[] add(m, m) }
muladd { x = f32[] parameter(0)  y = f32[] parameter(1)  m = f32[] multiply(x, y)  ROOT r = f32[] add(m, y) }
argmax { a = f32[] parameter(0)  i = s32[] parameter(1)  b = f32[] parameter(2)  j = s32[] parameter(3)
  c = pred[] compare(b, a), direction=GE  v = f32[] select(c, b, a)  k = s32[] select(c, j, i)
  ROOT t = (f32[], s32[]) tuple(v, k) }
twokeys { a = s32[] parameter(0)  b = s32[] parameter(1)  p = s32[] parameter(2)  q = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT }
looped { x = s32[] parameter(0)  y = s32[] parameter(1)
  s = s32[1] reshape(x)  u = s32[1] reshape(y)  c = s32[2] concatenate(s, u), dimensions={0}
  z = s32[] constant(0)  ROOT r = s32[] reduce(c, z), dimensions={0}, to_apply=add }
step { x = s32[] parameter(0)  c = s32[] parameter(1)  n = s32[] add(x, c)  ROOT t = (s32[], s32[]) tuple(n, n) }
br0 { x = s32[] parameter(0)  ROOT r = s32[] add(x, x) }
br1 { x = s32[] parameter(0)  ROOT r = s32[] negate(x) }
cond { s = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
  ROOT r = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(s), index=0  x = f32[2] get-tuple-element(s), index=1
  one = s32[] constant(1)  two = f32[1] constant({7})  j = s32[] add(i, one)
  y = f32[2] dynamic-update-slice(x, two, j)  d = f32[2] add(y, y)  ROOT t = (s32[], f32[2]) tuple(j, d) }
)";

struct Case {
  const char* name;
  const char* body;
  const char* value;
};

class EvaluateTest : public testing::TestWithParam<Case> {};

absl::StatusOr<Literal> RunText(const std::string& text) {
  Diagnostics diagnostics;
  auto file = std::make_shared<const SourceFile>("test.hlo", text);
  auto module = ParseModule(file, {}, diagnostics);
  if (!module.ok()) return absl::InvalidArgumentError(diagnostics.Render(*file));
  auto results = Interpret(**module, {});
  if (!results.ok()) return results.status();
  return std::move(results->front());
}

// Without blanks, and without the sign of NaN, which arithmetic does not define.
std::string Plain(const std::string& text) {
  return absl::StrReplaceAll(text, {{" ", ""}, {"-nan", "nan"}});
}

TEST_P(EvaluateTest, GivesTheValue) {
  const auto value = RunText(
      absl::StrCat("HloModule m\n", kComputations, "ENTRY e {\n", GetParam().body, "\n}\n"));
  ASSERT_TRUE(value.ok()) << value.status();
  EXPECT_EQ(Plain(Text(*value)), Plain(GetParam().value));
}

constexpr Case kElementwise[] = {
    {"divide_s32",
     R"(x = s32[5] constant({7,-7,0,-2147483648,-2147483648}) y = s32[5] constant({0,0,0,-1,0})
      ROOT r = s32[5] divide(x, y))",
     "{-1, -1, -1, -2147483648, -1}"},
    {"divide_u32", "x = u32[] constant(7) y = u32[] constant(0) ROOT r = u32[] divide(x, y)",
     "4294967295"},
    {"remainder_s32", R"(x = s32[3] constant({7,-7,-2147483648}) y = s32[3] constant({0,3,-1})
      ROOT r = s32[3] remainder(x, y))",
     "{7, -1, 0}"},
    {"remainder_f32",
     R"(x = f32[6] constant({5.5,-5.5,5.5,inf,1,-0.0}) y = f32[6] constant({2,2,-2,2,0,3})
      ROOT r = f32[6] remainder(x, y))",
     "{1.5, -1.5, 1.5, nan, nan, -0}"},
    {"shift_left", R"(x = s32[5] constant({1,-8,-8,1,-1}) y = s32[5] constant({33,1,40,31,-1})
      ROOT r = s32[5] shift-left(x, y))",
     "{0, -16, 0, -2147483648, 0}"},
    {"shift_right_arithmetic",
     R"(x = s32[5] constant({1,-8,-8,1,-1}) y = s32[5] constant({33,1,40,31,-1})
      ROOT r = s32[5] shift-right-arithmetic(x, y))",
     "{0, -4, -1, 0, -1}"},
    {"shift_right_logical",
     R"(x = s32[5] constant({1,-8,-8,1,-1}) y = s32[5] constant({33,1,40,31,-1})
      ROOT r = s32[5] shift-right-logical(x, y))",
     "{0, 2147483644, 0, 0, 0}"},
    {"power_s32", R"(x = s32[6] constant({2,2,-1,1,0,0}) y = s32[6] constant({10,-1,-3,-5,-1,0})
      ROOT r = s32[6] power(x, y))",
     "{1024, 0, -1, 1, 0, 1}"},
    {"power_f32",
     R"(x = f32[6] constant({nan,1,0,-8,0,-2}) y = f32[6] constant({0,nan,0,0.333333,-1,3})
      ROOT r = f32[6] power(x, y))",
     "{1, 1, 1, nan, inf, -8}"},
    {"maximum", R"(x = f32[4] constant({nan,1,-0.0,3}) y = f32[4] constant({1,nan,0,-inf})
      ROOT r = f32[4] maximum(x, y))",
     "{nan, nan, 0, 3}"},
    {"minimum", R"(x = f32[4] constant({nan,1,0,3}) y = f32[4] constant({1,nan,-0.0,-inf})
      ROOT r = f32[4] minimum(x, y))",
     "{nan, nan, -0, -inf}"},
    {"sign", "x = f32[5] constant({-3,-0.0,nan,0,7}) ROOT r = f32[5] sign(x)",
     "{-1, -0, nan, 0, 1}"},
    {"abs_wraps", "x = s8[2] constant({-128,-3}) ROOT r = s8[2] abs(x)", "{-128, 3}"},
    {"not_pred", "x = pred[2] constant({1,0}) ROOT r = pred[2] not(x)", "{0, 1}"},
    {"not_u8", "x = u8[1] constant({5}) ROOT r = u8[1] not(x)", "{250}"},
    {"clz_u8", "x = u8[3] constant({0,1,255}) ROOT r = u8[3] count-leading-zeros(x)", "{8, 7, 0}"},
    {"popcnt_s32", "x = s32[2] constant({-1,256}) ROOT r = s32[2] popcnt(x)", "{32, 1}"},
    {"mulhi_s32", "x = s32[] constant(-2147483648) ROOT r = s32[] mulhi(x, x)", "1073741824"},
    {"add_s4_wraps", "x = s4[2] constant({7,-8}) ROOT r = s4[2] add(x, x)", "{-2, 0}"},
    {"round_even", "x = f32[4] constant({0.5,1.5,2.5,-0.5}) ROOT r = f32[4] round-nearest-even(x)",
     "{0, 2, 2, -0}"},
    {"round_away", "x = f32[4] constant({0.5,2.5,-0.5,-0.2}) ROOT r = f32[4] round-nearest-afz(x)",
     "{1, 3, -1, -0}"},
    {"logistic", "x = f32[3] constant({0,-200,200}) ROOT r = f32[3] logistic(x)", "{0.5, 0, 1}"},
    {"rsqrt", "x = f32[3] constant({0,-0.0,4}) ROOT r = f32[3] rsqrt(x)", "{inf, -inf, 0.5}"},
    {"is_finite", "x = f32[4] constant({1,inf,-inf,nan}) ROOT r = pred[4] is-finite(x)",
     "{1, 0, 0, 0}"},
    {"complex", R"(a = f32[1] constant({1}) b = f32[1] constant({2}) c = c64[1] complex(a, b)
      ROOT r = c64[1] multiply(c, c))",
     "{(-3, 4)}"},
    {"compare_total_order", R"(x = f32[3] constant({-0.0,nan,1}) y = f32[3] constant({0,1,inf})
      ROOT r = pred[3] compare(x, y), direction=LT, type=TOTALORDER)",
     "{1, 0, 1}"},
    {"clamp", R"(a = s32[] constant(0) x = s32[3] constant({-1,5,9}) b = s32[] constant(6)
      ROOT r = s32[3] clamp(a, x, b))",
     "{0, 5, 6}"},
    {"select_scalar",
     R"(p = pred[] constant(true) x = s32[2] constant({1,2}) y = s32[2] constant({3,4})
      ROOT r = s32[2] select(p, x, y))",
     "{1, 2}"},
    {"convert_f32_s32",
     R"(x = f32[8] constant({1.9,-1.9,nan,inf,-inf,3e9,-3e9,2.5}) ROOT r = s32[8] convert(x))",
     "{1, -1, 0, 2147483647, -2147483648, 2147483647, -2147483648, 2}"},
    {"convert_f32_u8", "x = f32[2] constant({-1.9,300}) ROOT r = u8[2] convert(x)", "{0, 255}"},
    {"convert_s64_f32",
     "x = s64[2] constant({16777217,9007199791611905}) ROOT r = f32[2] convert(x)",
     "{16777216, 9.0072e+15}"},
    {"convert_s32_s8", "x = s32[3] constant({128,-129,300}) ROOT r = s8[3] convert(x)",
     "{-128, 127, 44}"},
    {"convert_pred", "x = f32[3] constant({nan,-0.0,0.1}) ROOT r = pred[3] convert(x)",
     "{1, 0, 1}"},
    {"convert_f8", "x = f32[3] constant({449,1000,0.1}) ROOT r = f8e4m3fn[3] convert(x)",
     "{448, nan, 0.102}"},
    {"bitcast_convert_narrow", "x = s32[] constant(16909060) ROOT r = s8[4] bitcast-convert(x)",
     "{4, 3, 2, 1}"},
    {"bitcast_convert_s4", "x = s8[1] constant({-30}) ROOT r = s4[1,2] bitcast-convert(x)",
     "{ {2, -2} }"},
    {"reduce_precision", R"(x = f32[6] constant({1.0001,65519,65520,1e-8,nan,2049})
      ROOT r = f32[6] reduce-precision(x), exponent_bits=5, mantissa_bits=10)",
     "{1, 65504, inf, 0, nan, 2048}"},
    {"stochastic_convert",
     R"(x = f32[4] constant({1.5,1.5,-1.5,300}) u = u32[4] constant({0,4294967295,0,0})
      ROOT r = s8[4] stochastic-convert(x, u))",
     "{2, 1, -2, 127}"},
};

constexpr Case kMovement[] = {
    {"broadcast", "x = s32[2] constant({1,2}) ROOT r = s32[2,3] broadcast(x), dimensions={0}",
     "{ {1, 1, 1}, {2, 2, 2} }"},
    {"iota", "ROOT r = f32[2,3] iota(), iota_dimension=1", "{ {0, 1, 2}, {0, 1, 2} }"},
    {"transpose",
     "x = s32[2,3] constant({{1,2,3},{4,5,6}}) ROOT r = s32[3,2] transpose(x), dimensions={1,0}",
     "{ {1, 4}, {2, 5}, {3, 6} }"},
    {"reverse",
     "x = s32[2,3] constant({{1,2,3},{4,5,6}}) ROOT r = s32[2,3] reverse(x), dimensions={0,1}",
     "{ {6, 5, 4}, {3, 2, 1} }"},
    {"slice", "x = s32[5] constant({0,1,2,3,4}) ROOT r = s32[3] slice(x), slice={[0:5:2]}",
     "{0, 2, 4}"},
    {"dynamic_slice_clamps", R"(x = s32[5] constant({0,1,2,3,4}) i = s32[] constant(9)
      ROOT r = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2})",
     "{3, 4}"},
    {"dynamic_slice_unsigned", R"(x = s32[5] constant({0,1,2,3,4}) i = u32[] constant(4294967295)
      ROOT r = s32[2] dynamic-slice(x, i), dynamic_slice_sizes={2})",
     "{3, 4}"},
    {"dynamic_update_slice",
     R"(x = s32[5] constant({0,1,2,3,4}) u = s32[2] constant({5,6}) i = s32[] constant(-3)
      ROOT r = s32[5] dynamic-update-slice(x, u, i))",
     "{5, 6, 2, 3, 4}"},
    {"pad_crops",
     "x = f32[3] constant({1,2,3}) v = f32[] constant(9) ROOT r = f32[5] pad(x, v), padding=-1_1_1",
     "{9, 2, 9, 3, 9}"},
    {"pad_crops_more",
     "x = f32[3] constant({1,2,3}) v = f32[] constant(9) ROOT r = f32[4] pad(x, v), padding=-2_3",
     "{3, 9, 9, 9}"},
    {"bitcast",
     R"(x = s32[2,3]{1,0} constant({{1,2,3},{4,5,6}}) ROOT r = s32[3,2]{0,1} bitcast(x))",
     "{ {1, 4}, {2, 5}, {3, 6} }"},
    {"gather_clamps",
     R"(x = f32[4,2] constant({{0,1},{2,3},{4,5},{6,7}}) i = s32[3] constant({-5,1,9})
      ROOT r = f32[3,2] gather(x, i), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0},
      index_vector_dim=1, slice_sizes={1,2})",
     "{ {0, 1}, {2, 3}, {6, 7} }"},
    {"scatter_skips", R"(x = f32[4] constant({0,0,0,0}) i = s32[2,1] constant({{3},{0}})
      u = f32[2,2] constant({{1,2},{3,4}}) ROOT r = f32[4] scatter(x, i, u), update_window_dims={1},
      inserted_window_dims={}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=second)",
     "{3, 4, 0, 0}"},
    {"scatter_adds",
     R"(x = f32[3] constant({1,1,1}) i = s32[3] constant({0,2,0}) u = f32[3] constant({5,6,7})
      ROOT r = f32[3] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0},
      scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=addf)",
     "{13, 1, 7}"},
    {"dynamic_sum", R"(v = s32[10] iota(), iota_dimension=0 n = s32[] constant(6)
      d = s32[<=10] set-dimension-size(v, n), dimensions={0} z = s32[] constant(0) e = s32[<=10] add(d, d)
      s = s32[] reduce(e, z), dimensions={0}, to_apply=add m = s32[] get-dimension-size(e), dimensions={0}
      ROOT t = (s32[], s32[]) tuple(s, m))",
     "(30, 6)"},
    {"dynamic_concatenate", R"(v = s32[4] iota(), iota_dimension=0 n = s32[] constant(2)
      d = s32[<=4] set-dimension-size(v, n), dimensions={0} c = s32[<=8] concatenate(d, d), dimensions={0}
      z = s32[] constant(5) ROOT s = s32[] reduce(c, z), dimensions={0}, to_apply=add)",
     "7"},
};

constexpr Case kCalling[] = {
    {"reduce_rows",
     "x = s32[2,3] constant({{1,2,3},{4,5,6}}) z = s32[] constant(0) "
     "ROOT r = s32[2] reduce(x, z), dimensions={1}, to_apply=add",
     "{6, 15}"},
    {"reduce_nothing",
     "x = s32[3] constant({1,2,3}) z = s32[] constant(10) "
     "ROOT r = s32[3] reduce(x, z), dimensions={}, to_apply=add",
     "{1, 2, 3}"},
    {"reduce_empty",
     "x = s32[0,2] constant({}) z = s32[] constant(10) "
     "ROOT r = s32[2] reduce(x, z), dimensions={0}, to_apply=add",
     "{10, 10}"},
    {"reduce_in_order",
     "x = s32[3] constant({1,2,3}) z = s32[] constant(1) "
     "ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=minus",
     "-14"},
    {"reduce_by_calls",
     "x = s32[3] constant({1,2,3}) z = s32[] constant(1) "
     "ROOT r = s32[] reduce(x, z), dimensions={0}, to_apply=looped",
     "7"},
    {"reduce_pairs", R"(v = f32[4] constant({1,7,7,3}) k = s32[4] iota(), iota_dimension=0
      iv = f32[] constant(-inf) ik = s32[] constant(0)
      ROOT r = (f32[], s32[]) reduce(v, k, iv, ik), dimensions={0}, to_apply=argmax)",
     "(7, 2)"},
    {"reduce_window", R"(x = f32[5] constant({10000,1000,100,10,1}) i = f32[] constant(100000)
      ROOT r = f32[3] reduce-window(x, i), window={size=3 stride=2 pad=1_1}, to_apply=addf)",
     "{111000, 101110, 100011}"},
    {"reduce_window_dilated", R"(x = s32[3,2] constant({{1,2},{3,4},{5,6}}) z = s32[] constant(0)
      ROOT r = s32[2,2] reduce-window(x, z), window={size=2x1 stride=4x1 pad=2_1x0_0 lhs_dilate=2x1 rhs_dilate=3x1},
      to_apply=add)",
     "{ {0, 0}, {3, 4} }"},
    {"running_sum", R"(x = f32[2,3] constant({{1,2,3},{4,5,6}}) z = f32[] constant(10)
      ROOT r = f32[2,3] reduce-window(x, z), window={size=1x3 pad=0_0x2_0}, to_apply=addf)",
     "{ {11, 13, 16}, {14, 19, 25} }"},
    {"select_and_scatter", R"(
      x = f32[4,6] constant({{7,2,5,3,10,2},{3,8,9,3,4,2},{1,5,7,5,6,1},{0,6,2,7,2,8}})
      s = f32[2,2] constant({{2,6},{3,1}}) z = f32[] constant(0)
      ROOT r = f32[4,6] select-and-scatter(x, s, z), window={size=2x3 stride=2x3}, select=gef, scatter=addf)",
     "{ {0, 0, 0, 0, 6, 0}, {0, 0, 2, 0, 0, 0}, {0, 0, 3, 0, 0, 0}, {0, 0, 0, 0, 0, 1} }"},
    {"sort_total_order", R"(x = f32[7] constant({0,-0.0,nan,-nan,inf,-inf,1})
      ROOT r = f32[7] sort(x), dimensions={0}, to_apply=ltf)",
     "{-nan, -inf, -0, 0, 1, inf, nan}"},
    {"sort_stable_pairs", R"(x = s32[4] constant({2,1,2,1}) v = s32[4] iota(), iota_dimension=0
      ROOT r = (s32[4], s32[4]) sort(x, v), dimensions={0}, is_stable=true, to_apply=twokeys)",
     "({1, 1, 2, 2}, {1, 3, 0, 2})"},
    {"topk_largest",
     "x = f32[5] constant({3,nan,1,3,2}) "
     "ROOT r = (f32[3], s32[3]) topk(x), k=3, largest=true",
     "({nan, 3, 3}, {1, 0, 3})"},
    {"topk_smallest",
     "x = f32[5] constant({3,nan,1,3,2}) "
     "ROOT r = (f32[3], s32[3]) topk(x), k=3, largest=false",
     "({1, 2, 3}, {2, 4, 0})"},
    {"map", R"(x = f32[3] constant({1,2,3}) y = f32[3] constant({4,5,6})
      ROOT r = f32[3] map(x, y), dimensions={0}, to_apply=muladd)",
     "{8, 15, 24}"},
    {"scan", R"(x = s32[3] constant({1,2,3}) c = s32[] constant(0)
      ROOT r = (s32[3], s32[]) scan(x, c), dimensions={0}, num_carries=1, to_apply=step)",
     "({1, 3, 6}, 6)"},
    {"scan_reverse", R"(x = s32[3] constant({1,2,3}) c = s32[] constant(0)
      ROOT r = (s32[3], s32[]) scan(x, c), dimensions={0}, is_reverse=true, num_carries=1, to_apply=step)",
     "({6, 5, 3}, 6)"},
    {"conditional_index", R"(i = s32[] constant(-1) x = s32[] constant(5)
      ROOT r = s32[] conditional(i, x, x), branch_computations={br0, br1})",
     "-5"},
    {"conditional_pred", R"(p = pred[] constant(true) x = s32[] constant(5)
      ROOT r = s32[] conditional(p, x, x), true_computation=br0, false_computation=br1)",
     "10"},
    {"while", R"(i = s32[] constant(0) x = f32[2] constant({1,2}) t = (s32[], f32[2]) tuple(i, x)
      w = (s32[], f32[2]) while(t), condition=cond, body=body
      y = f32[2] get-tuple-element(w), index=1 ROOT r = (f32[2], f32[2]) tuple(x, y))",
     "({1, 2}, {8, 14})"},
    {"async", R"(x = s32[] constant(4) s = ((s32[]), s32[], u32[]) async-start(x), calls=br1
      u = ((s32[]), s32[], u32[]) async-update(s) ROOT d = s32[] async-done(u))",
     "-4"},
    {"copy_start", R"(x = s32[2] constant({4,5}) s = (s32[2], s32[2], u32[]) copy-start(x)
      ROOT d = s32[2] copy-done(s))",
     "{4, 5}"},
    {"collective_alone",
     R"(x = s32[2] constant({4,5}) y = s32[2] all-reduce(x), replica_groups={}, to_apply=add
      ROOT z = s32[2] all-gather(y), replica_groups={}, dimensions={0})",
     "{4, 5}"},
};

constexpr Case kAlgebra[] = {
    {"dot", R"(a = s32[2,3] constant({{1,2,3},{4,5,6}}) b = s32[2,3] constant({{1,1,1},{2,2,2}})
      ROOT r = s32[2,2] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={1})",
     "{ {6, 12}, {15, 30} }"},
    {"dot_batch", R"(a = f32[2,2,2] constant({{{1,2},{3,4}},{{5,6},{7,8}}})
      i = f32[2,2,2] constant({{{1,0},{0,1}},{{1,0},{0,1}}})
      ROOT r = f32[2,2,2] dot(a, i), lhs_batch_dims={0}, rhs_batch_dims={0}, lhs_contracting_dims={2},
      rhs_contracting_dims={1})",
     "{ { {1, 2}, {3, 4} }, { {5, 6}, {7, 8} } }"},
    {"scaled_dot",
     R"(a = f8e4m3fn[1,4] constant({{1,2,3,4}}) b = f8e4m3fn[4,1] constant({{1},{1},{1},{1}})
      sa = f8e8m0fnu[1,2] constant({{2,4}}) sb = f8e8m0fnu[1,1] constant({{1}})
      ROOT r = f32[1,1] scaled-dot(a, b, sa, sb), lhs_contracting_dims={1}, rhs_contracting_dims={0})",
     "{ {34} }"},
    {"ragged_dot", R"(a = f32[3,1] constant({{1},{2},{3}}) b = f32[2,1,1] constant({{{10}},{{100}}})
      n = s32[2] constant({1,1}) ROOT r = f32[3,1] ragged-dot(a, b, n), lhs_contracting_dims={1},
      rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0})",
     "{ {10}, {200}, {0} }"},
    {"ragged_dot_contracting",
     R"(a = f32[1,3] constant({{1,2,3}}) b = f32[3,1] constant({{1},{1},{1}})
      n = s32[2] constant({1,2}) ROOT r = f32[2,1,1] ragged-dot(a, b, n), lhs_contracting_dims={1},
      rhs_contracting_dims={0}, lhs_ragged_dims={1})",
     "{ { {1} }, { {5} } }"},
    {"convolution",
     R"(x = s32[1,4,4,1] constant({{{{1},{2},{5},{6}},{{3},{4},{7},{8}},{{10},{11},{14},{15}},
      {{12},{13},{16},{17}}}}) o = s32[] constant(1) k = s32[3,3,1,1] broadcast(o), dimensions={}
      c = s32[1,2,2,1] convolution(x, k), window={size=3x3 stride=4x4 lhs_dilate=2x2}, dim_labels=b01f_01io->b01f
      ROOT r = s32[2,2] reshape(c))",
     "{ {10, 26}, {46, 62} }"},
    {"rfft", "x = f32[4] constant({1,2,3,4}) ROOT r = c64[3] fft(x), fft_type=RFFT, fft_length={4}",
     "{(10, 0), (-2, 2), (-2, 0)}"},
    {"irfft",
     "x = c64[3] constant({(10,0),(-2,2),(-2,0)}) ROOT r = f32[4] fft(x), fft_type=IRFFT, "
     "fft_length={4}",
     "{1, 2, 3, 4}"},
    {"cholesky", "a = f32[2,2] constant({{4,99},{2,5}}) ROOT l = f32[2,2] cholesky(a), lower=true",
     "{ {2, 0}, {1, 2} }"},
    {"cholesky_upper",
     "a = f32[2,2] constant({{4,2},{99,5}}) ROOT l = f32[2,2] cholesky(a), lower=false",
     "{ {2, 1}, {0, 2} }"},
    {"triangular_solve", R"(a = f32[2,2] constant({{2,99},{1,4}}) b = f32[2,1] constant({{2},{9}})
      ROOT x = f32[2,1] triangular-solve(a, b), left_side=true, lower=true, transpose_a=NO_TRANSPOSE)",
     "{ {1}, {2} }"},
    {"triangular_solve_right",
     R"(a = f32[2,2] constant({{2,99},{1,4}}) b = f32[1,2] constant({{4,8}})
      ROOT x = f32[1,2] triangular-solve(a, b), left_side=false, lower=true, transpose_a=NO_TRANSPOSE)",
     "{ {1, 2} }"},
    {"lapack_getrf", R"(a = f64[2,2] constant({{0,2},{4,6}})
      ROOT x = (f64[2,2], s32[2], s32[]) custom-call(a), custom_call_target="lapack_dgetrf_ffi",
      api_version=API_VERSION_TYPED_FFI, backend_config={})",
     "({ {4, 6}, {0, 2} }, {2, 2}, 0)"},
    {"three_fry", R"(s = u64[2] constant({1,2})
      ROOT r = (u64[2], u32[4]) rng-bit-generator(s), algorithm=rng_three_fry)",
     "({1, 4}, {43444564, 2150618427, 3979645651, 3745730563})"},
    {"philox", R"(s = u64[3] constant({1,2,3})
      ROOT r = (u64[3], u32[4]) rng-bit-generator(s), algorithm=rng_philox)",
     "({1, 3, 3}, {4031113034, 1366700262, 495645701, 3051723414})"},
    {"rng_constant", R"(m = f32[] constant(3) z = f32[] constant(0)
      ROOT r = f32[2] rng(m, z), distribution=rng_normal)",
     "{3, 3}"},
    {"batch_norm_training",
     R"(x = f32[2,1] constant({{1},{3}}) g = f32[1] constant({2}) b = f32[1] constant({5})
      ROOT r = (f32[2,1], f32[1], f32[1]) batch-norm-training(x, g, b), epsilon=0, feature_index=1)",
     "({ {3}, {7} }, {2}, {1})"},
};

std::string NameOf(const testing::TestParamInfo<Case>& info) { return info.param.name; }
INSTANTIATE_TEST_SUITE_P(Elementwise, EvaluateTest, testing::ValuesIn(kElementwise), NameOf);
INSTANTIATE_TEST_SUITE_P(Movement, EvaluateTest, testing::ValuesIn(kMovement), NameOf);
INSTANTIATE_TEST_SUITE_P(Calling, EvaluateTest, testing::ValuesIn(kCalling), NameOf);
INSTANTIATE_TEST_SUITE_P(Algebra, EvaluateTest, testing::ValuesIn(kAlgebra), NameOf);

// What has no value says so, and says where.
constexpr Case kRefused[] = {
    {"callback", R"(x = f32[] constant(1)
      ROOT r = f32[] custom-call(x), custom_call_target="xla_ffi_python_cpu_callback")",
     "UNIMPLEMENTED"},
    {"too_large",
     "x = f32[] constant(1) ROOT r = f32[100000,100000,1000] broadcast(x), dimensions={}",
     "RESOURCE_EXHAUSTED"},
    {"infeed", "t = token[] after-all() ROOT r = (f32[2], token[]) infeed(t)",
     "FAILED_PRECONDITION"},
};

class RefusalTest : public testing::TestWithParam<Case> {};

TEST_P(RefusalTest, NamesTheReason) {
  const auto value = RunText(absl::StrCat("HloModule m\nENTRY e {\n", GetParam().body, "\n}\n"));
  EXPECT_EQ(absl::StatusCodeToString(value.status().code()), GetParam().value) << value.status();
  EXPECT_TRUE(PlaceOf(value.status()).valid());
}
INSTANTIATE_TEST_SUITE_P(All, RefusalTest, testing::ValuesIn(kRefused), NameOf);

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
