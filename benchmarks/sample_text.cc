// Layers as text, numbered so that every name is its own.
#include "benchmarks/sample_text.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"

namespace hlokit {
namespace {

constexpr char kHeader[] =
    R"(HloModule sample, entry_computation_layout={(f32[64,256]{1,0})->f32[64,256]{1,0}}

%sum (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %s = f32[] add(%a, %b)
}

)";

constexpr char kLayer[] = R"(%layer.# (x.#: f32[64,256]) -> f32[64,256] {
  %x.# = f32[64,256]{1,0} parameter(0)
  %zero.# = f32[] constant(0)
  %square.# = f32[64,256]{1,0} multiply(%x.#, %x.#), metadata={op_name="jit(step)/layer_#/norm/square" source_file="/home/user/model/norm.py" source_line=41}
  %total.# = f32[64]{0} reduce(%square.#, %zero.#), dimensions={1}, to_apply=%sum, metadata={op_name="jit(step)/layer_#/norm/reduce_sum" source_file="/home/user/model/norm.py" source_line=41}
  %width.# = f32[] constant(256)
  %widths.# = f32[64]{0} broadcast(%width.#), dimensions={}, metadata={op_name="jit(step)/layer_#/norm/div" source_file="/home/user/model/norm.py" source_line=41}
  %mean.# = f32[64]{0} divide(%total.#, %widths.#), metadata={op_name="jit(step)/layer_#/norm/div" source_file="/home/user/model/norm.py" source_line=41}
  %scale.# = f32[64]{0} rsqrt(%mean.#), metadata={op_name="jit(step)/layer_#/norm/rsqrt" source_file="/home/user/model/norm.py" source_line=42}
  %scales.# = f32[64,256]{1,0} broadcast(%scale.#), dimensions={0}, metadata={op_name="jit(step)/layer_#/norm/mul" source_file="/home/user/model/norm.py" source_line=43}
  %normal.# = f32[64,256]{1,0} multiply(%x.#, %scales.#), metadata={op_name="jit(step)/layer_#/norm/mul" source_file="/home/user/model/norm.py" source_line=43}
  %weights.# = bf16[256,256]{1,0} constant({...})
  %wide.# = f32[256,256]{1,0} convert(%weights.#), metadata={op_name="jit(step)/layer_#/dense/convert_element_type" source_file="/home/user/model/dense.py" source_line=17}
  %dot.# = f32[64,256]{1,0} dot(%normal.#, %wide.#), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(step)/layer_#/dense/dot_general" source_file="/home/user/model/dense.py" source_line=18}
  %bias.# = f32[8]{0} constant({0.5, -1.25, 3e-05, 0.0078125, 1, -2, 0.333333343, 7})
  %biases.# = f32[64,32,8]{2,1,0} broadcast(%bias.#), dimensions={2}
  %flat.# = f32[64,256]{1,0} reshape(%biases.#)
  %biased.# = f32[64,256]{1,0} add(%dot.#, %flat.#), metadata={op_name="jit(step)/layer_#/dense/add" source_file="/home/user/model/dense.py" source_line=19}
  %swap.# = f32[256,64]{0,1} transpose(%biased.#), dimensions={1,0}, metadata={op_name="jit(step)/layer_#/act/transpose"}
  %half.# = f32[128,64]{0,1} slice(%swap.#), slice={[0:128], [0:64]}, metadata={op_name="jit(step)/layer_#/act/slice"}
  %gate.# = f32[128,64]{0,1} logistic(%half.#), metadata={op_name="jit(step)/layer_#/act/logistic"}
  %both.# = f32[256,64]{0,1} concatenate(%half.#, %gate.#), dimensions={0}, metadata={op_name="jit(step)/layer_#/act/concatenate"}
  %back.# = f32[64,256]{1,0} transpose(%both.#), dimensions={1,0}, metadata={op_name="jit(step)/layer_#/act/transpose"}
  %zeros.# = f32[64,256]{1,0} broadcast(%zero.#), dimensions={}
  %above.# = pred[64,256]{1,0} compare(%back.#, %zeros.#), direction=GT, metadata={op_name="jit(step)/layer_#/act/gt"}
  %chosen.# = f32[64,256]{1,0} select(%above.#, %back.#, %zeros.#), metadata={op_name="jit(step)/layer_#/act/select_n"}
  ROOT %out.# = f32[64,256]{1,0} add(%x.#, %chosen.#), metadata={op_name="jit(step)/layer_#/residual/add" source_file="/home/user/model/block.py" source_line=77}
}

)";

}  // namespace

std::string SampleModuleText(size_t bytes) {
  std::string text = kHeader, calls, last = "input";
  text.reserve(bytes + bytes / 8);
  for (int layer = 1; layer == 1 || text.size() + calls.size() < bytes; ++layer) {
    text += absl::StrReplaceAll(kLayer, {{"#", absl::StrCat(layer)}});
    absl::StrAppend(&calls, "  %call.", layer, " = f32[64,256]{1,0} call(%", last,
                    "), to_apply=%layer.", layer, "\n");
    last = absl::StrCat("call.", layer);
  }
  absl::StrAppend(&text, "ENTRY %main (input: f32[64,256]) -> f32[64,256] {\n",
                  "  %input = f32[64,256]{1,0} parameter(0)\n", calls,
                  "  ROOT %result = f32[64,256]{1,0} negate(%", last, ")\n}\n");
  return text;
}

}  // namespace hlokit
// SPDX-License-Identifier: Apache-2.0
