// Inference against the real XLA: rows of operands, an instruction and either its stated shape or
// the rule it breaks. Where XLA's inference is laxer than its verifier (mixed precision, implicit
// broadcasts), the verifier's word counts.
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "gtest/gtest.h"
#include "ops/infer/op_table.h"
#include "parser/parser.h"

namespace hlokit {
namespace {

constexpr char kComputations[] = R"(
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
addb { x = bf16[] parameter(0)  y = bf16[] parameter(1)  ROOT z = bf16[] add(x, y) }
addi { x = s32[] parameter(0)  y = s32[] parameter(1)  ROOT z = s32[] add(x, y) }
ge { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = pred[] compare(x, y), direction=GE }
ge4 { x = f32[] parameter(0)  y = f32[] parameter(1)  a = s32[] parameter(2)  b = s32[] parameter(3)
  ROOT z = pred[] compare(x, y), direction=GE }
am { x = f32[] parameter(0)  i = s32[] parameter(1)  y = f32[] parameter(2)  j = s32[] parameter(3)
  ROOT z = (f32[], s32[]) tuple(x, i) }
add1t { x = f32[] parameter(0)  y = f32[] parameter(1)  s = f32[] add(x, y)  ROOT t = (f32[]) tuple(s) }
neg4 { x = f32[4] parameter(0)  ROOT n = f32[4] negate(x) }
step { x = f32[] parameter(0)  c = f32[] parameter(1)  s = f32[] add(x, c)  ROOT t = (f32[], f32[]) tuple(s, s) }
c_s { s = s32[] parameter(0)  k = s32[] constant(3)  ROOT z = pred[] compare(s, k), direction=LT }
b_s { s = s32[] parameter(0)  ROOT z = s32[] add(s, s) }
)";

// "ok" where the inferred shape is the stated one, "wrong" where it is another, else the label of
// the rule broken.
std::string Verdict(const std::vector<std::string>& operands, absl::string_view instruction) {
  std::string text = absl::StrCat("HloModule m\n", kComputations, "ENTRY e {\n");
  for (size_t i = 0; i < operands.size(); ++i)
    absl::StrAppend(&text, "  p", i, " = ", operands[i], " parameter(", i, ")\n");
  absl::StrAppend(&text, "  ROOT r = ", instruction, "\n}\n");
  Diagnostics diagnostics;
  auto file = std::make_shared<SourceFile>("test", text);
  auto module = ParseModule(file, {}, diagnostics);
  if (!module.ok()) {
    const std::string label = LabelOf(module.status());  // of rules that the reader holds itself
    return label.empty() ? std::string(module.status().message()) : label;
  }
  const Instruction& root = *(*module)->entry()->root();
  const absl::StatusOr<Shape> inferred = InferShape(root);
  if (!inferred.ok()) return LabelOf(inferred.status());
  return SameIgnoringLayout(*inferred, root.shape()) ? "ok"
                                                     : absl::StrCat("wrong: ", Text(*inferred));
}

// Rows `verdict | operand shapes | stated shape and instruction`; an indented line goes on with the
// row before.
void CheckRows(absl::string_view rows) {
  for (absl::string_view row :
       absl::StrSplit(absl::StrReplaceAll(rows, {{"\n    ", " "}}), '\n', absl::SkipEmpty())) {
    const std::vector<absl::string_view> parts = absl::StrSplit(row, absl::MaxSplits(" | ", 2));
    ASSERT_EQ(parts.size(), 3) << row;
    EXPECT_EQ(Verdict(absl::StrSplit(parts[1], ' ', absl::SkipEmpty()), parts[2]), parts[0]) << row;
  }
}

struct ElementwiseCase {
  const char* op;
  int arity;
  const char* classes;  // that it takes: p(red), s(igned), u(nsigned), f(loat), c(omplex)
};

TEST(InferTest, ElementwiseTypes) {
  const ElementwiseCase cases[] = {
      {"abs", 1, "sfc"},
      {"negate", 1, "sufc"},
      {"sign", 1, "sfc"},
      {"not", 1, "psu"},
      {"popcnt", 1, "su"},
      {"cosine", 1, "fc"},
      {"floor", 1, "f"},
      {"erf", 1, "f"},
      {"cbrt", 1, "f"},
      {"is-finite", 1, "f"},
      {"real", 1, "fc"},
      {"imag", 1, "fc"},
      {"tanh", 1, "fc"},
      {"add", 2, "psufc"},
      {"subtract", 2, "sufc"},
      {"remainder", 2, "suf"},
      {"power", 2, "sufc"},
      {"maximum", 2, "psuf"},
      {"and", 2, "psu"},
      {"shift-left", 2, "su"},
      {"atan2", 2, "fc"},
      {"mulhi", 2, "su"},
      {"sqrt", 1, "fc"},
      {"complex", 2, "f"},
      {"round-nearest-afz", 1, "f"},
      {"count-leading-zeros", 1, "su"},
  };
  const std::pair<char, const char*> types[] = {{'p', "pred"}, {'s', "s4"},  {'s', "s32"},
                                                {'u', "u8"},   {'f', "f32"}, {'c', "c64"}};
  for (const ElementwiseCase& c : cases) {
    for (const auto& [type_class, type] : types) {
      const std::string op = c.op;
      std::string result = type;
      if (op == "is-finite") result = "pred";
      if (op == "complex") result = "c64";
      if (type_class == 'c' && (op == "abs" || op == "real" || op == "imag")) result = "f32";
      const bool taken = absl::string_view(c.classes).find(type_class) != absl::string_view::npos;
      const std::string instruction =
          absl::StrCat(result, "[2,3] ", op, c.arity == 1 ? "(p0)" : "(p0, p1)");
      const std::vector<std::string> operands(c.arity, absl::StrCat(type, "[2,3]"));
      EXPECT_EQ(Verdict(operands, instruction), taken ? "ok" : absl::StrCat(op, "-c2"))
          << instruction;
    }
  }
}

TEST(InferTest, CompareSelect) {
  CheckRows(R"(
compare-c3 | f32[2,3] f32[3,2] | f32[2,3] compare(p0, p1), direction=LT
compare-c3 | f32[] f32[2] | pred[2] compare(p0, p1), direction=LT
compare-c3 | f32[1,3] f32[2,3] | pred[2,3] compare(p0, p1), direction=LT
compare-c2 | f32[2] bf16[2] | pred[2] compare(p0, p1), direction=LT
compare-c2 | f32[2] s32[2] | f32[2] compare(p0, p1), direction=LT
ok | f32[<=2] f32[2] | pred[<=2] compare(p0, p1), direction=LT
compare-c3 | f32[<=2] f32[<=3] | f32[<=2] compare(p0, p1), direction=LT
compare-c1 | (f32[2]) f32[2] | (f32[2]) compare(p0, p1), direction=LT
compare-c3 | f32[2] f32[2,1] | f32[2] compare(p0, p1), direction=LT
compare-c4 | c64[2] c64[2] | pred[2] compare(p0, p1), direction=LT
ok | c64[2] c64[2] | pred[2] compare(p0, p1), direction=EQ
ok | pred[2] pred[2] | pred[2] compare(p0, p1), direction=LT
ok | f32[2] f32[2] | pred[2] compare(p0, p1), direction=LT, type=TOTALORDER
ok | s32[2] s32[2] | pred[2] compare(p0, p1), direction=LT, type=FLOAT
ok | pred[2] f32[2] f32[2] | f32[2] select(p0, p1, p2)
ok | pred[] f32[2] f32[2] | f32[2] select(p0, p1, p2)
select-c2 | s32[] f32[2] f32[2] | s32[] select(p0, p1, p2)
select-c5 | pred[3] f32[2] f32[2] | pred[3] select(p0, p1, p2)
select-c3 | pred[2] f32[2] bf16[2] | f32[2] select(p0, p1, p2)
select-c1 | pred[] (f32[]) (f32[]) | pred[] select(p0, p1, p2)
select-c4 | pred[2] f32[] f32[2] | pred[2] select(p0, p1, p2)
ok | f32[] f32[2] f32[] | f32[2] clamp(p0, p1, p2)
ok | f32[2] f32[2] f32[] | f32[2] clamp(p0, p1, p2)
clamp-c1 | f32[3] f32[2] f32[] | f32[3] clamp(p0, p1, p2)
clamp-c2 | s32[] f32[2] f32[] | s32[] clamp(p0, p1, p2)
clamp-c1 | f32[2] f32[] f32[2] | f32[2] clamp(p0, p1, p2)
ok | c64[] c64[2] c64[] | c64[2] clamp(p0, p1, p2)
clamp-c2 | bf16[] f32[2] f32[] | f32[2] clamp(p0, p1, p2)
ok | pred[] pred[2] pred[] | pred[2] clamp(p0, p1, p2))");
}

TEST(InferTest, Movement) {
  CheckRows(R"(
ok | f32[2,3] | f32[3,2] transpose(p0), dimensions={1,0}
transpose-c2 | f32[2,3] | f32[2,3] transpose(p0), dimensions={0}
transpose-c2 | f32[2,3] | f32[2,3] transpose(p0), dimensions={0,0}
ok | f32[2,3] | f32[2,3] reverse(p0), dimensions={0,1}
reverse-c2 | f32[2,3] | f32[2,3] reverse(p0), dimensions={0,0}
reverse-c2 | f32[2,3] | f32[2,3] reverse(p0), dimensions={2}
ok | f32[2,3] f32[2,4] | f32[2,7] concatenate(p0, p1), dimensions={1}
concatenate-c4 | f32[2,3] f32[3,3] | f32[2,3] concatenate(p0, p1), dimensions={1}
concatenate-c3 | f32[2,3] s32[2,3] | f32[2,3] concatenate(p0, p1), dimensions={1}
concatenate-c3 | f32[2,3] bf16[2,3] | f32[2,6] concatenate(p0, p1), dimensions={1}
concatenate-c3 | f32[2,3] f32[2] | f32[2,3] concatenate(p0, p1), dimensions={1}
ok | f32[2,<=3] f32[2,4] | f32[2,<=7] concatenate(p0, p1), dimensions={1}
ok | f32[<=2,3] f32[2,4] | f32[<=2,7] concatenate(p0, p1), dimensions={1}
concatenate-c2 | f32[] f32[] | f32[] concatenate(p0, p1), dimensions={0}
ok | f32[2] | f32[2] concatenate(p0), dimensions={0}
concatenate-c2 | f32[2] f32[2] | f32[2] concatenate(p0, p1), dimensions={1}
concatenate-c2 | f32[2,2] f32[2,2] | f32[2,2] concatenate(p0, p1), dimensions={0,1}
ok | f32[2] f32[] | f32[5] pad(p0, p1), padding=1_2
ok | f32[2] f32[] | f32[6] pad(p0, p1), padding=1_2_1
ok | f32[2] f32[] | f32[1] pad(p0, p1), padding=-1_0
pad-c5 | f32[2] f32[] | f32[2] pad(p0, p1), padding=-3_0
pad-c4 | f32[2] f32[] | f32[2] pad(p0, p1), padding=0_0_-1
pad-c3 | f32[2] f32[] | f32[2] pad(p0, p1), padding=1_1x1_1
pad-c5 | f32[2] f32[] | f32[2] pad(p0, p1), padding=9223372036854775807_1
pad-c2 | f32[2] s32[] | f32[2] pad(p0, p1), padding=1_1
pad-c2 | f32[2] f32[1] | f32[2] pad(p0, p1), padding=1_1
pad-c2 | f32[2] bf16[] | f32[4] pad(p0, p1), padding=1_1
ok | f32[0] f32[] | f32[2] pad(p0, p1), padding=1_1_5
ok | f32[<=4] f32[] | f32[<=21] pad(p0, p1), padding=1_1_5
ok | f32[2,3] | f32[2,2] slice(p0), slice={[0:2], [1:3]}
ok | f32[2,3] | f32[1,1] slice(p0), slice={[0:2:2], [1:3:5]}
ok | f32[2,3] | f32[0,0] slice(p0), slice={[2:2], [0:0]}
ok | f32[<=4,3] | f32[<=4,2] slice(p0), slice={[0:4], [0:2]}
slice-c2 | f32[2,3] | f32[2] slice(p0), slice={[0:2]}
slice-c3 | f32[2,3] | f32[3,1] slice(p0), slice={[0:3], [0:1]}
slice-c3 | f32[2,3] | f32[1,1] slice(p0), slice={[1:0], [0:1]}
slice-c3 | f32[2,3] | f32[2,1] slice(p0), slice={[0:2:0], [0:1]}
ok | f32[4,5] s32[] s32[] | f32[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}
ok | f32[4,5] u8[] u8[] | f32[0,1] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={0,1}
ok | f32[4,5] s32[2] | f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}
ok | f32[] | f32[] dynamic-slice(p0), dynamic_slice_sizes={}
dynamic-slice-c2 | f32[4,5] s32[] s32[] | f32[2] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2}
dynamic-slice-c3 | f32[4,5] s32[] s32[] | f32[2,6] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,6}
dynamic-slice-c4 | f32[4,5] s32[3] | f32[2,3] dynamic-slice(p0, p1), dynamic_slice_sizes={2,3}
dynamic-slice-c4 | f32[4,5] f32[] f32[] | f32[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}
dynamic-slice-c5 | f32[4,5] s32[] s64[] | f32[2,3] dynamic-slice(p0, p1, p2), dynamic_slice_sizes={2,3}
ok | f32[4,5] f32[2,3] s32[] s32[] | f32[4,5] dynamic-update-slice(p0, p1, p2, p3)
dynamic-update-slice-c2 | f32[4,5] bf16[4,5] s32[] s32[] | f32[4,5] dynamic-update-slice(p0, p1, p2, p3)
dynamic-update-slice-c2 | f32[4,5] f32[5] s32[] s32[] | f32[4,5] dynamic-update-slice(p0, p1, p2, p3)
dynamic-update-slice-c3 | f32[4,5] f32[5,5] s32[] s32[] | f32[4,5] dynamic-update-slice(p0, p1, p2, p3)
ok | f32[3] | f32[2,3] broadcast(p0), dimensions={1}
ok | f32[2,3] | f32[3,2] broadcast(p0), dimensions={1,0}
broadcast-c2 | f32[3] | s32[2,3] broadcast(p0), dimensions={1}
broadcast-c3 | f32[3] | f32[2,3] broadcast(p0), dimensions={}
broadcast-c3 | f32[3,3] | f32[3,3] broadcast(p0), dimensions={1,1}
broadcast-c4 | f32[3] | f32[2,3] broadcast(p0), dimensions={0}
ok | f32[2,3] | f32[6] reshape(p0)
reshape-c2 | f32[2,3] | s32[6] reshape(p0)
ok | s32[6] | f32[2,3] bitcast(p0)
bitcast-c3 | s32[6] | f64[6] bitcast(p0)
ok |  | s32[3] iota(), iota_dimension=0
iota-c2 |  | pred[3] iota(), iota_dimension=0
iota-c3 |  | s32[3] iota(), iota_dimension=1
ok | c64[3] | f32[3] convert(p0)
ok | pred[4] | u8[4] bitcast-convert(p0)
ok | f32[4] | u8[4,4] bitcast-convert(p0)
ok | s4[3,2] | s8[3] bitcast-convert(p0)
bitcast-convert-c3 | c64[4] | f64[4] bitcast-convert(p0)
bitcast-convert-c5 | s8[3] | f32[] bitcast-convert(p0)
ok | f32[4] u32[4] | s8[4] stochastic-convert(p0, p1)
stochastic-convert-c3 | s32[4] u32[4] | s8[4] stochastic-convert(p0, p1)
stochastic-convert-c4 | f32[4] u16[4] | s8[4] stochastic-convert(p0, p1)
ok | f32[2,6] s32[] s32[] | f32[<=3,4] dynamic-reshape(p0, p1, p2)
dynamic-reshape-c3 | f32[2,6] s32[] s32[] | f32[<=3,5] dynamic-reshape(p0, p1, p2)
dynamic-reshape-c4 | f32[2,6] s32[] | f32[<=3,4] dynamic-reshape(p0, p1))");
}

TEST(InferTest, GatherScatter) {
  CheckRows(R"(
ok | f32[4,5] s32[3,1] | f32[3,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
gather-c4 | f32[4,5] s32[3,1] | f32[4,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=0, slice_sizes={1,5}
ok | f32[4,5] s32[3,1] | f32[2,5,3] gather(p0, p1), offset_dims={0,1}, collapsed_slice_dims={},
    start_index_map={0}, index_vector_dim=1, slice_sizes={2,5}
gather-c4 | f32[4,5] s32[3,1] | f32[4,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,5}
ok | f32[4,5] s32[3,1] | f32[3,5,1] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=2, slice_sizes={1,5}
gather-c7 | f32[4,5] s32[3,1] | f32[4,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={2,5}
gather-c7 | f32[4,5] s32[3,1] | f32[4,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,6}
gather-c7 | f32[4,5] s32[3,1] | f32[4,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,5,1}
gather-c8 | f32[4,5] s32[3,1] | f32[4,5] gather(p0, p1), offset_dims={1,0}, collapsed_slice_dims={},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
gather-c8 | f32[4,5] s32[3,1] | f32[4,5] gather(p0, p1), offset_dims={3}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
ok | f32[4,5] s32[3,1] | f32[3,4] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={1},
    start_index_map={0}, index_vector_dim=1, slice_sizes={4,1}
gather-c4 | f32[4,5] s32[3,1] | f32[4,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={},
    start_index_map={}, index_vector_dim=1, slice_sizes={1,5}, operand_batching_dims={0},
    start_indices_batching_dims={0}
ok | f32[4,5] s32[3] | f32[3,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
gather-c2 | f32[4,5] f32[3] | f32[4,5] gather(p0, p1), offset_dims={1}, collapsed_slice_dims={0},
    start_index_map={0}, index_vector_dim=1, slice_sizes={1,5}
ok | f32[4,5] s32[3,2] | f32[3] gather(p0, p1), offset_dims={}, collapsed_slice_dims={0,1},
    start_index_map={0,1}, index_vector_dim=1, slice_sizes={1,1}
gather-c8 | f32[4,5] s32[4,1] | f32[4,5] gather(p0, p1), offset_dims={}, collapsed_slice_dims={},
    start_index_map={1}, index_vector_dim=1, slice_sizes={1,1}, operand_batching_dims={0},
    start_indices_batching_dims={0}
ok | f32[4,5] s32[4,1] | f32[4] gather(p0, p1), offset_dims={}, collapsed_slice_dims={1},
    start_index_map={1}, index_vector_dim=1, slice_sizes={1,1}, operand_batching_dims={0},
    start_indices_batching_dims={0}
ok | f32[4,5] s32[3,1] f32[3,5] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
scatter-c9 | f32[4,5] s32[3,1] f32[3,6] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
scatter-c10 | f32[4,5] s32[3,1] f32[2,5] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
scatter-c12 | f32[4,5] s32[3,1] f32[3,5] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=addi
scatter-c8 | f32[4,5] s32[3,1] f32[3] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
scatter-c2 | f32[4,5] f32[3,1] f32[3,5] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
ok | f32[4,5] s32[3,1] bf16[3,5] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
ok | f32[4,5] s32[3,1] f32[3,2] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
ok | bf16[4,5] s32[3,1] bf16[3,5] | bf16[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add
ok | f32[4,5] s32[3,1] f32[3,5] | f32[4,5] scatter(p0, p1, p2), update_window_dims={1},
    inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add1t)");
}

TEST(InferTest, Reduce) {
  CheckRows(R"(
ok | f32[2,3] f32[] | f32[3] reduce(p0, p1), dimensions={0}, to_apply=add
ok | f32[2,3] f32[] | f32[] reduce(p0, p1), dimensions={0,1}, to_apply=add
ok | f32[2,3] f32[] | f32[2,3] reduce(p0, p1), dimensions={}, to_apply=add
reduce-c5 | f32[2,3] f32[] | f32[2,3] reduce(p0, p1), dimensions={2}, to_apply=add
reduce-c5 | f32[2,3] f32[] | f32[2,3] reduce(p0, p1), dimensions={0,0}, to_apply=add
reduce-c4 | f32[2,3] f32[1] | f32[2,3] reduce(p0, p1), dimensions={0}, to_apply=add
reduce-c6 | f32[2,3] s32[] | f32[2,3] reduce(p0, p1), dimensions={0}, to_apply=add
ok | bf16[2,3] bf16[] | f32[3] reduce(p0, p1), dimensions={0}, to_apply=add
ok | bf16[2,3] f32[] | f32[3] reduce(p0, p1), dimensions={0}, to_apply=add
ok | f32[2,3] f32[] | bf16[3] reduce(p0, p1), dimensions={0}, to_apply=addb
reduce-c6 | s32[2,3] s32[] | s32[2,3] reduce(p0, p1), dimensions={0}, to_apply=add
reduce-c6 | f32[2,3] f32[] | f32[2,3] reduce(p0, p1), dimensions={0}, to_apply=am
ok | f32[2,3] s32[2,3] f32[] s32[] | (f32[3], s32[3]) reduce(p0, p1, p2, p3), dimensions={0}, to_apply=am
reduce-c3 | f32[2,3] s32[2] f32[] s32[] | f32[2,3] reduce(p0, p1, p2, p3), dimensions={0}, to_apply=am
ok | f32[2,3] f32[] | (f32[3]) reduce(p0, p1), dimensions={0}, to_apply=add1t
reduce-c6 | f32[2,3] f32[] | f32[2,3] reduce(p0, p1), dimensions={0}, to_apply=ge
ok | f32[4,5] f32[] | f32[3,2] reduce-window(p0, p1), window={size=2x2 stride=1x2}, to_apply=add
ok | f32[4,5] f32[] | f32[4,5] reduce-window(p0, p1), window={size=2x2 pad=0_1x1_0}, to_apply=add
ok | f32[4,5] f32[] | f32[6,4] reduce-window(p0, p1), window={size=2x2 lhs_dilate=2x1}, to_apply=add
ok | f32[4,5] f32[] | f32[2,4] reduce-window(p0, p1), window={size=2x2 rhs_dilate=2x1}, to_apply=add
reduce-window-c91 | f32[4,5] f32[] | f32[4,5] reduce-window(p0, p1), window={size=2}, to_apply=add
ok | f32[4,5] f32[] | f32[0,0] reduce-window(p0, p1), window={size=9x9}, to_apply=add
reduce-window-c92 | f32[4,5] f32[] | f32[4,5] reduce-window(p0, p1), window={size=0x1}, to_apply=add
reduce-window-c92 | f32[4,5] f32[] | f32[4,5] reduce-window(p0, p1), window={size=2x2 stride=0x1}, to_apply=add
ok | f32[4,5] f32[] | f32[0,4] reduce-window(p0, p1), window={size=2x2 pad=-3_0x0_0}, to_apply=add
reduce-window-c93 | f32[4,5] f32[] | f32[4,5] reduce-window(p0, p1), window={size=2x2 pad=-6_0x0_0}, to_apply=add
reduce-window-c92 | f32[4,5] f32[] | f32[4,5] reduce-window(p0, p1), window={size=2x2 lhs_dilate=0x1}, to_apply=add
ok | f32[] f32[] | f32[] reduce-window(p0, p1), window={}, to_apply=add
reduce-window-c91 | f32[4,5] f32[] | f32[4,5] reduce-window(p0, p1), to_apply=add
ok | f32[4,5] f32[3,4] f32[] | f32[4,5] select-and-scatter(p0, p1, p2), window={size=2x2}, select=ge, scatter=add
select-and-scatter-c6 | f32[4,5] f32[2,4] f32[] | f32[4,5] select-and-scatter(p0, p1, p2), window={size=2x2},
    select=ge, scatter=add
select-and-scatter-c4 | f32[4,5] f32[3,4] f32[] | f32[4,5] select-and-scatter(p0, p1, p2), window={size=2x2},
    select=add, scatter=add
ok | f32[4] | f32[4] sort(p0), dimensions={0}, to_apply=ge
sort-c3 | f32[4] | f32[4] sort(p0), dimensions={1}, to_apply=ge
ok | f32[4] s32[4] | (f32[4], s32[4]) sort(p0, p1), dimensions={0}, to_apply=ge4
sort-c2 | f32[4] s32[5] | f32[4] sort(p0, p1), dimensions={0}, to_apply=ge4
sort-c5 | f32[4] | f32[4] sort(p0), dimensions={0}, to_apply=add
sort-c4 | s32[4] | s32[4] sort(p0), dimensions={0}, to_apply=ge
sort-c3 | f32[] | f32[] sort(p0), dimensions={0}, to_apply=ge
ok | f32[2,4] | (f32[2,3], s32[2,3]) topk(p0), k=3, largest=true
topk-c2 | f32[2,4] | f32[2,4] topk(p0), k=5, largest=true
topk-c2 | f32[] | (f32[], s32[]) topk(p0), k=0, largest=true
ok | f32[4] f32[4] | f32[4] map(p0, p1), dimensions={0}, to_apply=add
map-c2 | f32[4] f32[5] | f32[4] map(p0, p1), dimensions={0}, to_apply=add
map-c4 | f32[4] | f32[4] map(p0), dimensions={0}, to_apply=add
map-c2 | f32[4] f32[] | f32[4] map(p0, p1), dimensions={0}, to_apply=add
ok | f32[3] f32[] | (f32[3], f32[]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step
scan-c4 | f32[3] f32[1] | (f32[3], f32[]) scan(p0, p1), dimensions={0}, num_carries=1, to_apply=step)");
}

TEST(InferTest, Dot) {
  CheckRows(R"(
ok | f32[2,3] f32[3,4] | f32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
dot-c4 | f32[2,3] f32[4,4] | f32[2,3] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | f32[2,3] bf16[3,4] | f32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | s8[2,3] bf16[3,4] | bf16[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | s8[2,3] u8[3,4] | s8[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | pred[2,3] pred[3,4] | pred[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | f8e4m3fn[2,3] f8e5m2[3,4] | f8e5m2[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | f32[5,2,3] f32[5,3,4] | f32[5,2,4] dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={2},
    rhs_batch_dims={0}, rhs_contracting_dims={1}
dot-c4 | f32[5,2,3] f32[6,3,4] | f32[5,2,3] dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={2},
    rhs_batch_dims={0}, rhs_contracting_dims={1}
ok | f32[2] f32[4] | f32[2,4] dot(p0, p1), lhs_contracting_dims={}, rhs_contracting_dims={}
dot-c2 | f32[2,3] f32[3,4] | f32[2,3] dot(p0, p1), lhs_contracting_dims={1,1}, rhs_contracting_dims={0,0}
dot-c2 | f32[2,3] f32[3,4] | f32[2,3] dot(p0, p1), lhs_contracting_dims={2}, rhs_contracting_dims={0}
dot-c3 | f32[2,3] f32[3,4] | f32[2,3] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={}
ok | f32[] f32[3] | f32[3] dot(p0, p1), lhs_contracting_dims={}, rhs_contracting_dims={}
ok | f32[2,<=3] f32[3,<=4] | f32[2,<=4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
dot-c2 | f32[3,3] f32[3,3] | f32[3,3] dot(p0, p1), lhs_batch_dims={0}, lhs_contracting_dims={0},
    rhs_batch_dims={0}, rhs_contracting_dims={1}
ok | c64[2,3] f32[3,4] | c64[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | f32[6,4] f32[3,4,5] s64[3] | f32[6,5] ragged-dot(p0, p1, p2), lhs_contracting_dims={1},
    rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
ragged-dot-c8 | f32[6,4] f32[2,4,5] s64[3] | f32[6,4] ragged-dot(p0, p1, p2), lhs_contracting_dims={1},
    rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
ok | f32[6,4] f32[4,5] s32[3] | f32[3,6,5] ragged-dot(p0, p1, p2), lhs_contracting_dims={1},
    rhs_contracting_dims={0}, lhs_ragged_dims={1}, rhs_group_dims={}
ragged-dot-c9 | f32[6,4] f32[3,4,5] f32[3] | f32[6,5] ragged-dot(p0, p1, p2), lhs_contracting_dims={1},
    rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}
ragged-dot-c8 | f32[6,4] f32[3,4,5] s64[3] | f32[6,4] ragged-dot(p0, p1, p2), lhs_contracting_dims={1},
    rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={1}
ragged-dot-c8 | f32[6,4] f32[3,4,5] s64[3] | f32[6,4] ragged-dot(p0, p1, p2), lhs_contracting_dims={1},
    rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={}
ok | f32[2,6,4] f32[2,4,5] s32[3] | f32[2,6,5] ragged-dot(p0, p1, p2), lhs_batch_dims={0},
    rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={}
ok | f32[2,6,4] f32[2,4,5] s32[2,3] | f32[3,2,6,5] ragged-dot(p0, p1, p2), lhs_batch_dims={0},
    rhs_batch_dims={0}, lhs_contracting_dims={2}, rhs_contracting_dims={1}, lhs_ragged_dims={2}, rhs_group_dims={}
ok | f32[2,6,4] f32[3,2,4,5] s32[2,3] | f32[2,6,5] ragged-dot(p0, p1, p2), lhs_batch_dims={0},
    rhs_batch_dims={1}, lhs_contracting_dims={2}, rhs_contracting_dims={2}, lhs_ragged_dims={1},
    rhs_group_dims={0}
ok | f32[1,4,5,3] f32[2,2,3,6] | f32[1,3,4,6] convolution(p0, p1), window={size=2x2}, dim_labels=b01f_01io->b01f
ok | f32[1,4,5,3] f32[2,2,3,6] | f32[1,3,4,6] convolution(p0, p1), window={size=2x2 stride=2x1 pad=1_1x0_0},
    dim_labels=b01f_01io->b01f
ok | f32[1,4,5,4] f32[2,2,2,6] | f32[1,3,4,6] convolution(p0, p1), window={size=2x2},
    dim_labels=b01f_01io->b01f, feature_group_count=2
convolution-c5 | f32[1,4,5,4] f32[2,2,4,6] | f32[1,4,5,4] convolution(p0, p1), window={size=2x2},
    dim_labels=b01f_01io->b01f, feature_group_count=2
ok | f32[4,4,5,3] f32[2,2,3,6] | f32[2,3,4,6] convolution(p0, p1), window={size=2x2},
    dim_labels=b01f_01io->b01f, batch_group_count=2
convolution-c4 | f32[3,4,5,3] f32[2,2,3,6] | f32[3,4,5,3] convolution(p0, p1), window={size=2x2},
    dim_labels=b01f_01io->b01f, batch_group_count=2
convolution-c6 | f32[1,4,5,3] f32[2,2,3,6] | f32[1,4,5,3] convolution(p0, p1), window={size=3x2},
    dim_labels=b01f_01io->b01f
convolution-c5 | f32[1,4,5,3] f32[2,2,4,6] | f32[1,4,5,3] convolution(p0, p1), window={size=2x2},
    dim_labels=b01f_01io->b01f
ok | f32[3,2] f32[2,4] | f32[3,4] convolution(p0, p1), dim_labels=bf_io->bf
ok | bf16[1,4,5,3] f32[2,2,3,6] | f32[1,3,4,6] convolution(p0, p1), window={size=2x2}, dim_labels=b01f_01io->b01f
ok | s8[1,4,5,3] s8[2,2,3,6] | s8[1,3,4,6] convolution(p0, p1), window={size=2x2}, dim_labels=b01f_01io->b01f
ok | s8[1,4,5,3] f32[2,2,3,6] | f32[1,3,4,6] convolution(p0, p1), window={size=2x2}, dim_labels=b01f_01io->b01f
convolution-c6 | f32[1,4,5,3] f32[2,2,3,6] | f32[1,4,5,3] convolution(p0, p1), window={size=9x2},
    dim_labels=b01f_01io->b01f
ok | f32[1,1,5,3] f32[2,2,3,6] | f32[1,0,4,6] convolution(p0, p1), window={size=2x2}, dim_labels=b01f_01io->b01f
ok | f32[2,3] f32[3,4] | f64[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | s8[2,3] s8[3,4] | s32[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
dot-c5 | s32[2,3] s32[3,4] | s8[2,4] dot(p0, p1), lhs_contracting_dims={1}, rhs_contracting_dims={0}
ok | bf16[4,64] bf16[64,8] bf16[4,2] bf16[2,8] | f32[4,8] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1},
    rhs_contracting_dims={0}
scaled-dot-c8 | bf16[4,64] bf16[64,8] bf16[] bf16[] | f32[4,8] scaled-dot(p0, p1, p2, p3), lhs_contracting_dims={1},
    rhs_contracting_dims={0}
scaled-dot-c9 | bf16[4,64] bf16[64,8] bf16[4,3] bf16[2,8] | f32[4,8] scaled-dot(p0, p1, p2, p3),
    lhs_contracting_dims={1}, rhs_contracting_dims={0})");
}

TEST(InferTest, Linalg) {
  CheckRows(R"(
ok | f32[3,3] | f32[3,3] cholesky(p0), lower=true
ok | f32[2,3,3] | f32[2,3,3] cholesky(p0), lower=true
cholesky-c3 | f32[3,2] | f32[3,2] cholesky(p0), lower=true
cholesky-c3 | f32[3] | f32[3] cholesky(p0), lower=true
cholesky-c2 | s32[3,3] | s32[3,3] cholesky(p0), lower=true
ok | c64[3,3] | c64[3,3] cholesky(p0), lower=true
ok | f32[3,3] f32[3,4] | f32[3,4] triangular-solve(p0, p1), left_side=true, lower=true, transpose_a=NO_TRANSPOSE
ok | f32[3,3] f32[4,3] | f32[4,3] triangular-solve(p0, p1), left_side=false, lower=true, transpose_a=NO_TRANSPOSE
triangular-solve-c6 | f32[3,3] f32[4,3] | f32[3,3] triangular-solve(p0, p1), left_side=true, lower=true,
    transpose_a=NO_TRANSPOSE
triangular-solve-c5 | f32[2,3,3] f32[1,3,4] | f32[2,3,3] triangular-solve(p0, p1), left_side=true,
    lower=true, transpose_a=NO_TRANSPOSE
triangular-solve-c4 | f32[3,3] f64[3,4] | f32[3,3] triangular-solve(p0, p1), left_side=true, lower=true,
    transpose_a=NO_TRANSPOSE
triangular-solve-c4 | f32[3,3] f32[3] | f32[3,3] triangular-solve(p0, p1), left_side=true, lower=true,
    transpose_a=NO_TRANSPOSE
triangular-solve-c2 | s32[3,3] s32[3,4] | s32[3,3] triangular-solve(p0, p1), left_side=true, lower=true,
    transpose_a=NO_TRANSPOSE
triangular-solve-c3 | f32[2,3] f32[3,4] | f32[2,3] triangular-solve(p0, p1), left_side=true, lower=true,
    transpose_a=NO_TRANSPOSE
triangular-solve-c7 | f32[3,3] f32[3,4] | f32[3,3] triangular-solve(p0, p1), left_side=true, lower=true
ok | c64[4,8] | c64[4,8] fft(p0), fft_type=FFT, fft_length={8}
ok | c64[4,8] | c64[4,8] fft(p0), fft_type=IFFT, fft_length={4,8}
ok | f32[4,8] | c64[4,5] fft(p0), fft_type=RFFT, fft_length={8}
ok | f32[4,8] | c64[4,5] fft(p0), fft_type=RFFT, fft_length={4,8}
ok | c64[4,5] | f32[4,8] fft(p0), fft_type=IRFFT, fft_length={8}
ok | c64[4,5] | f32[4,9] fft(p0), fft_type=IRFFT, fft_length={9}
fft-c4 | c64[4,5] | c64[4,5] fft(p0), fft_type=IRFFT, fft_length={10}
fft-c2 | f32[4,8] | f32[4,8] fft(p0), fft_type=FFT, fft_length={8}
fft-c4 | f32[4,8] | f32[4,8] fft(p0), fft_type=RFFT, fft_length={7}
fft-c3 | c64[4,8] | c64[4,8] fft(p0), fft_type=FFT, fft_length={2,4,8}
fft-c2 | f16[8] | f16[8] fft(p0), fft_type=RFFT, fft_length={8}
ok | c128[8] | c128[8] fft(p0), fft_type=FFT, fft_length={8}
ok | f32[0] | c64[0] fft(p0), fft_type=RFFT, fft_length={0}
ok | c64[1] | f32[0] fft(p0), fft_type=IRFFT, fft_length={0}
ok | c64[1] | f32[1] fft(p0), fft_type=IRFFT, fft_length={1}
fft-c4 | c64[8] | c64[8] fft(p0), fft_type=FFT, fft_length={4}
ok | f32[2,3] f32[3] f32[3] | (f32[2,3], f32[3], f32[3]) batch-norm-training(p0, p1, p2), epsilon=0.1, feature_index=1
batch-norm-training-c4 | f32[2,3] f32[3] f32[3] | f32[2,3] batch-norm-training(p0, p1, p2), epsilon=0.1,
    feature_index=0
batch-norm-training-c4 | bf16[2,3] f32[3] f32[3] | (bf16[2,3], bf16[3], bf16[3]) batch-norm-training(p0, p1,
    p2), epsilon=0.1, feature_index=1
ok | f32[2,3] f32[3] f32[3] f32[3] f32[3] | f32[2,3] batch-norm-inference(p0, p1, p2, p3, p4), epsilon=0.1,
    feature_index=1
ok | f32[2,3] f32[3] f32[3] f32[3] f32[2,3] | (f32[2,3], f32[3], f32[3]) batch-norm-grad(p0, p1, p2, p3, p4),
    epsilon=0.1, feature_index=1
batch-norm-training-c2 | s32[2,3] s32[3] s32[3] | s32[2,3] batch-norm-training(p0, p1, p2), epsilon=0.1,
    feature_index=1)");
}

TEST(InferTest, Structure) {
  CheckRows(R"(
ok | f32[2] (f32[]) | (f32[2], (f32[])) tuple(p0, p1)
ok | (f32[2],s32[]) | s32[] get-tuple-element(p0), index=1
get-tuple-element-c2 | (f32[2],s32[]) | (f32[2],s32[]) get-tuple-element(p0), index=2
get-tuple-element-c1 | f32[2] | f32[2] get-tuple-element(p0), index=0
ok |  | () tuple()
ok | (f32[2],s32[]) | (f32[2], s32[]) copy(p0)
ok | f32[2] token[] | f32[2] add-dependency(p0, p1)
add-dependency-c1 | f32[2] f32[2] | f32[2] add-dependency(p0, p1)
ok |  | token[] after-all()
ok | token[] token[] | token[] after-all(p0, p1)
after-all-c1 | f32[] | token[] after-all(p0)
ok | f32[4] | f32[4] call(p0), to_apply=neg4
call-c2 | f32[5] | f32[5] call(p0), to_apply=neg4
call-c2 | f32[4] f32[4] | f32[4] call(p0, p1), to_apply=neg4
ok | s32[] | s32[] while(p0), condition=c_s, body=b_s
while-c2 | s32[2] | s32[2] while(p0), condition=c_s, body=b_s
while-c3 | s32[] | s32[] while(p0), condition=b_s, body=b_s
while-c4 | s32[] | s32[] while(p0), condition=c_s, body=c_s
ok | pred[] f32[4] f32[4] | f32[4] conditional(p0, p1, p2), true_computation=neg4, false_computation=neg4
ok | s32[] f32[4] f32[4] | f32[4] conditional(p0, p1, p2), branch_computations={neg4,neg4}
conditional-c3 | pred[] f32[4] s32[] | pred[] conditional(p0, p1, p2), true_computation=neg4, false_computation=b_s
conditional-c2 | pred[] f32[4] f32[5] | pred[] conditional(p0, p1, p2), true_computation=neg4, false_computation=neg4
conditional-c1 | s64[] f32[4] f32[4] | s64[] conditional(p0, p1, p2), branch_computations={neg4,neg4}
ok | s32[] f32[4] | f32[4] conditional(p0, p1), branch_computations={neg4}
ok |  | u32[] replica-id()
ok |  | u32[] partition-id()
ok | f32[4,5] | s32[] get-dimension-size(p0), dimensions={1}
get-dimension-size-c2 | f32[4,5] | f32[4,5] get-dimension-size(p0), dimensions={2}
ok | f32[4,5] s32[] | f32[4,<=5] set-dimension-size(p0, p1), dimensions={1}
set-dimension-size-c3 | f32[4,5] s64[] | f32[4,5] set-dimension-size(p0, p1), dimensions={1}
set-dimension-size-c3 | f32[4,5] s32[1] | f32[4,5] set-dimension-size(p0, p1), dimensions={1}
ok | f32[4] | f32[4] reduce-precision(p0), exponent_bits=5, mantissa_bits=10
reduce-precision-c2 | s32[4] | s32[4] reduce-precision(p0), exponent_bits=5, mantissa_bits=10
reduce-precision-c5 | f32[4] | f32[4] reduce-precision(p0), exponent_bits=0, mantissa_bits=10
ok | f32[4] f32[] | (f32[3], f32[4,5]) custom-call(p0, p1), custom_call_target="f"
ok | (f32[4],s32[]) | (f32[4], s32[]) opt-barrier(p0)
ok | f32[4] | f32[4] fusion(p0), kind=kLoop, calls=neg4
fusion-c2 | f32[5] | f32[5] fusion(p0), kind=kLoop, calls=neg4
ok | f32[] f32[] | f32[8] rng(p0, p1), distribution=rng_uniform
rng-c3 | f32[] s32[] | f32[8] rng(p0, p1), distribution=rng_uniform
rng-c4 | s32[] s32[] | s32[8] rng(p0, p1), distribution=rng_normal
ok | u64[2] | (u64[2], u32[5]) rng-bit-generator(p0), algorithm=rng_three_fry
rng-bit-generator-c2 | s32[2] | (s32[2], u32[5]) rng-bit-generator(p0), algorithm=rng_three_fry
rng-bit-generator-c3 | u64[2] | (u64[2], f32[5]) rng-bit-generator(p0), algorithm=rng_three_fry
ok |  | u64[2] rng-get-and-update-state(), delta=1)");
}

TEST(InferTest, Collectives) {
  CheckRows(R"(
ok | f32[4] f32[2] | (f32[4], f32[2]) all-reduce(p0, p1), replica_groups={}, to_apply=add
all-reduce-c4 | f32[4] | f32[4] all-reduce(p0), replica_groups={}, to_apply=neg4
ok | f32[4] | f32[8] all-gather(p0), replica_groups={{0,1}}, dimensions={0}
ok | f32[4] f32[2] | (f32[8], f32[4]) all-gather(p0, p1), replica_groups={{0,1}}, dimensions={0}
all-gather-c2 | f32[4] | f32[8] all-gather(p0), replica_groups={{0,1}}, dimensions={1}
all-gather-c3 | f32[4] | f32[9] all-gather(p0), replica_groups={{0,1}}, dimensions={0}
ok | f32[4] | (f32[4], f32[8]) all-gather-start(p0), replica_groups={{0,1}}, dimensions={0}
ok | f32[4] | f32[2] reduce-scatter(p0), replica_groups={{0,1}}, dimensions={0}, to_apply=add
reduce-scatter-c3 | f32[5] | f32[2] reduce-scatter(p0), replica_groups={{0,1}}, dimensions={0}, to_apply=add
ok | f32[4] | f32[4] all-to-all(p0), replica_groups={{0,1}}, dimensions={0}
ok | f32[4] f32[4] | (f32[4], f32[4]) all-to-all(p0, p1), replica_groups={{0,1}}
ok | f32[4] | (f32[4]) all-to-all(p0), replica_groups={{0}}
all-to-all-c5 | f32[4] f32[5] | (f32[4], f32[5]) all-to-all(p0, p1), replica_groups={{0,1}}
ok | f32[4] | f32[4] collective-broadcast(p0), replica_groups={{0,1}}
ok | f32[4] f32[3] | (f32[4], f32[3]) collective-permute(p0, p1), source_target_pairs={{0,1}}
ok | f32[4] | (f32[4], f32[4], u32[], u32[]) collective-permute-start(p0), source_target_pairs={{0,1}}
ok | f32[8] f32[8] s32[2] s32[2] s32[2] s32[2] | f32[8] ragged-all-to-all(p0, p1, p2, p3, p4, p5), replica_groups={}
ragged-all-to-all-c6 | f32[8] f32[8] s32[2] s32[2] s32[3] s32[2] | f32[8] ragged-all-to-all(p0, p1, p2, p3, p4, p5),
    replica_groups={}
ok | f32[4] token[] | (f32[4], u32[], token[]) send(p0, p1), channel_id=1
send-c1 | f32[4] f32[] | (f32[4], u32[], token[]) send(p0, p1), channel_id=1
ok | token[] | (f32[4], u32[], token[]) recv(p0), channel_id=1
ok | (f32[4],u32[],token[]) | (f32[4], token[]) recv-done(p0), channel_id=1
ok | token[] | ((f32[2], s32[]), token[]) infeed(p0)
outfeed-c2 | f32[4] token[] | token[] outfeed(p0, p1), outfeed_shape=f32[5]
ok | f32[4] | (f32[4], f32[4], u32[]) copy-start(p0)
copy-done-c1 | f32[4] | f32[4] copy-done(p0)
ok | f32[4] | ((f32[4]), f32[4], s32[]) async-start(p0), calls=neg4
async-start-c2 | f32[5] | ((f32[5]), f32[5]) async-start(p0), calls=neg4
)");
}

}  // namespace
}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
