// A bitcast is HLO's where the elements keep their order, whatever layouts it names; one of an array that a transpose has
// left by columns is a reshape, as the bytes there lie in another order than its layouts say.
// RUN: hlo-opt %s
// CHECK: f32[6,1]{1,0} bitcast(
// CHECK: f32[3,2]{1,0} bitcast(
// CHECK: f32[2,1,3]{2,1,0} bitcast(
// CHECK: f32[3,2]{0,1} copy(
// CHECK-NOT: bitcast
// CHECK: f32[6]{0} reshape(
// CHECK: s32[6]{0} reshape(
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[2,3] {{1, 2, 3}, {4, 5, 6}}
// EXPECT: (f32[6,1], f32[3,2], f32[2,1,3], f32[6], s32[6]) ({{1}, {2}, {3}, {4}, {5}, {6}}, {{1, 4}, {2, 5}, {3, 6}}, {{{1, 2, 3}}, {{4, 5, 6}}}, {1, 4, 2, 5, 3, 6}, {1065353216, 1082130432, 1073741824, 1084227584, 1077936128, 1086324736})
func.func @main(%a: tensor<2x3xf32>) -> (tensor<6x1xf32>, tensor<3x2xf32>, tensor<2x1x3xf32>, tensor<6xf32>, tensor<6xi32>) {
  %flat = stablehlo.reshape %a : (tensor<2x3xf32>) -> tensor<6xf32>
  %column = mhlo.bitcast %flat {result_layout = dense<[0, 1]> : tensor<2xindex>, source_layout = dense<0> : tensor<1xindex>} : (tensor<6xf32>) -> tensor<6x1xf32>
  %t = stablehlo.transpose %a, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %dense = stablehlo.reshape %t : (tensor<3x2xf32>) -> tensor<3x2x1x1xf32>
  %squeezed = mhlo.bitcast %dense {result_layout = dense<[0, 1]> : tensor<2xindex>, source_layout = dense<[0, 1, 3, 2]> : tensor<4xindex>} : (tensor<3x2x1x1xf32>) -> tensor<3x2xf32>
  %ones = mhlo.bitcast %a {result_layout = dense<[2, 0, 1]> : tensor<3xindex>, source_layout = dense<[1, 0]> : tensor<2xindex>} : (tensor<2x3xf32>) -> tensor<2x1x3xf32>
  %c = mhlo.copy %t : tensor<3x2xf32>
  %rows = mhlo.bitcast %c {result_layout = dense<0> : tensor<1xindex>, source_layout = dense<[1, 0]> : tensor<2xindex>} : (tensor<3x2xf32>) -> tensor<6xf32>
  %bits = mhlo.bitcast %c {result_layout = dense<0> : tensor<1xindex>, source_layout = dense<[1, 0]> : tensor<2xindex>} : (tensor<3x2xf32>) -> tensor<6xi32>
  return %column, %squeezed, %ones, %rows, %bits : tensor<6x1xf32>, tensor<3x2xf32>, tensor<2x1x3xf32>, tensor<6xf32>, tensor<6xi32>
}
