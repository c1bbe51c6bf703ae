// A convolution whose padding is an operand, which old artifacts have beside an attribute of that name.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[1,2,2,1] {{{{1}, {2}}, {{3}, {4}}}}
// EXPECT: f32[1,2,2,1] {{{{4}, {6}}, {{3}, {4}}}}
func.func public @main(%x: tensor<1x2x2x1xf32>) -> tensor<1x2x2x1xf32> {
  %k = stablehlo.constant dense<1.0> : tensor<2x1x1x1xf32>
  %p = stablehlo.constant dense<[[0, 1], [0, 0]]> : tensor<2x2xi64>
  %0 = "stablehlo.dynamic_conv"(%x, %k, %p) <{batch_group_count = 1 : i64, dimension_numbers = #stablehlo.conv<[b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f]>, feature_group_count = 1 : i64}> : (tensor<1x2x2x1xf32>, tensor<2x1x1x1xf32>, tensor<2x2xi64>) -> tensor<1x2x2x1xf32>
  return %0 : tensor<1x2x2x1xf32>
}
