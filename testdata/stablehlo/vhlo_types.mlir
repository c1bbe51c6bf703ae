// Types of vhlo that need no values: each reads as its equal in HLO.
// RUN: hlo-opt %s
vhlo.func_v1 @main(%a: !vhlo.tensor_v1<2x!vhlo.bool_v1>, %b: !vhlo.tensor_v1<2x!vhlo.i4_v1>, %c: !vhlo.tensor_v1<2x!vhlo.ui64_v1>, %d: !vhlo.tensor_v1<2x!vhlo.f8E4M3FN_v1>, %e: !vhlo.tensor_v1<!vhlo.complex_v1<!vhlo.f64_v1>>, %f: !vhlo.tensor_v1<?x2x!vhlo.f32_v1, #vhlo.type_extensions_v1<bounds = [4, ?]>>, %g: !vhlo.tuple_v1<!vhlo.tensor_v1<2x!vhlo.bf16_v1>, !vhlo.tensor_v1<!vhlo.index_v1>>, %h: !vhlo.token_v1, %i: !vhlo.tensor_v1<2x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.000000e-01:3, -128:127, 1>>) -> (!vhlo.tensor_v1<2x!vhlo.f32_v1>) {
  %0 = "vhlo.uniform_dequantize_v1"(%i) : (!vhlo.tensor_v1<2x!vhlo.quant_v1<!vhlo.i8_v1:!vhlo.f32_v1, 5.000000e-01:3, -128:127, 1>>) -> !vhlo.tensor_v1<2x!vhlo.f32_v1>
  "vhlo.return_v1"(%0) : (!vhlo.tensor_v1<2x!vhlo.f32_v1>) -> ()
} {arg_attrs = #vhlo.array_v1<[]>, res_attrs = #vhlo.array_v1<[]>, sym_visibility = #vhlo.string_v1<"">}
// CHECK: entry_computation_layout={(pred[2]{0}, s4[2]{0}, u64[2]{0}, f8e4m3fn[2]{0}, c128[], /*index=5*/f32[<=4,2]{1,0}, (bf16[2]{0}, s64[]), token[], s8[2]{0})->f32[2]{0}}
