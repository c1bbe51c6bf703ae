// Operations of mhlo alone, which jaxlib writes of optimized modules. The bitcast between layouts takes the bytes of a
// column-major array as rows: [[1, 2, 3], [4, 5, 6]] lies as 1 4 2 5 3 6.
// RUN: hlo-opt %s
// CHECK: %[[FUSED:[a-z_.0-9]+]] ({{.*}}: f32[2,3]) -> (f32[2,3], f32[2,3])
// CHECK: fusion({{.*}}), kind=kInput, calls=%[[FUSED]]
// CHECK: f32[6]{0} bitcast(
// CHECK: f32[2,3]{1,0} copy(
// CHECK-NOT: bitcast
// CHECK: f32[3,2]{1,0} transpose(
// CHECK: f32[3,2]{1,0} reshape(
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// EXPECT: (f32[2,3], f32[6], f32[3,2], s32[2,3]) ({{-1, -2, -3}, {-4, -5, -6}}, {2, 4, 6, 8, 10, 12}, {{1, 4}, {2, 5}, {3, 6}}, {{1065353216, 1077936128, 1084227584}, {1073741824, 1082130432, 1086324736}})
module @jit_f attributes {mhlo.cross_program_prefetches = [], mhlo.is_dynamic = false, mhlo.use_auto_spmd_partitioning = false} {
  func.func public @main(%arg0: tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<6xf32>, tensor<3x2xf32>, tensor<2x3xi32>) {
    %0:2 = "mhlo.fusion"(%arg0) <{fusion_kind = #mhlo<fusion_kind kInput>}> ({
    ^bb0(%arg1: tensor<2x3xf32>):
      %5 = stablehlo.negate %arg1 : tensor<2x3xf32>
      %6 = stablehlo.add %arg1, %arg1 : tensor<2x3xf32>
      mhlo.return %5, %6 : tensor<2x3xf32>, tensor<2x3xf32>
    }) {output_operand_aliasing = []} : (tensor<2x3xf32>) -> (tensor<2x3xf32>, tensor<2x3xf32>)
    %1 = mhlo.bitcast %0#1 {result_layout = dense<0> : tensor<1xindex>, source_layout = dense<[1, 0]> : tensor<2xindex>} : (tensor<2x3xf32>) -> tensor<6xf32>
    %2 = mhlo.copy %arg0 : tensor<2x3xf32>
    %3 = mhlo.bitcast %2 {result_layout = dense<[1, 0]> : tensor<2xindex>, source_layout = dense<[0, 1]> : tensor<2xindex>} : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %4 = mhlo.bitcast %2 {result_layout = dense<[0, 1]> : tensor<2xindex>, source_layout = dense<[1, 0]> : tensor<2xindex>} : (tensor<2x3xf32>) -> tensor<2x3xi32>
    return %0#0, %1, %3, %4 : tensor<2x3xf32>, tensor<6xf32>, tensor<3x2xf32>, tensor<2x3xi32>
  }
}
