// chlo.scan, chlo.ragged_dot and stablehlo.dynamic_conv; probes, which name values for checks after them.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: s32[5] {3, 1, 4, 1, 5}      INPUT: f32[4,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}}      INPUT: f32[2,2,1] {{{1}, {10}}, {{100}, {1000}}}      INPUT: s64[2] {3, 1}
// EXPECT: (s32[5], s32[], f32[4,1], s64[1,2,2,1]) ({14, 11, 10, 6, 5}, 14, {{21}, {43}, {65}, {8700}}, {{{{10}, {26}}, {{46}, {62}}}})
func.func @main(%input: tensor<5xi32>, %rows: tensor<4x2xf32>, %weights: tensor<2x2x1xf32>, %groups: tensor<2xi64>) -> (tensor<5xi32>, tensor<i32>, tensor<4x1xf32>, tensor<1x2x2x1xi64>) {
  %init = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = chlo.scan(%input) inits (%init) dimension=0 attributes {is_reverse = true} {
  ^bb0(%x: tensor<i32>, %carried: tensor<i32>):
    %1 = stablehlo.add %x, %carried : tensor<i32>
    stablehlo.return %1, %1 : tensor<i32>, tensor<i32>
  } : (tensor<5xi32>, tensor<i32>) -> (tensor<5xi32>, tensor<i32>)
  %2 = interpreter.probe %0#0, probe_id = "sums" : tensor<5xi32>
  check.expect_serialized_eq %2, probe_id = "sums" : tensor<5xi32>
  interpreter.print %2 : tensor<5xi32>
  %3 = "chlo.ragged_dot"(%rows, %weights, %groups) {
    ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [], rhs_batching_dimensions = [],
      lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>,
    precision_config = [#chlo<precision DEFAULT>, #chlo<precision DEFAULT>]
  } : (tensor<4x2xf32>, tensor<2x2x1xf32>, tensor<2xi64>) -> tensor<4x1xf32>
  %lhs = stablehlo.constant dense<[[
                                    [[1], [2], [5], [6]],
                                    [[3], [4], [7], [8]],
                                    [[10], [11], [14], [15]],
                                    [[12], [13], [16], [17]]
                                  ]]> : tensor<1x4x4x1xi64>
  %rhs = stablehlo.constant dense<1> : tensor<3x3x1x1xi64>
  %padding = stablehlo.constant dense<0> : tensor<2x2xi64>
  %4 = stablehlo.dynamic_conv(%lhs, %rhs, %padding)
    dim_numbers = [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f], window = {stride = [4, 4], lhs_dilate = [2, 2]}
    {batch_group_count = 1 : i64, feature_group_count = 1 : i64}
    : (tensor<1x4x4x1xi64>, tensor<3x3x1x1xi64>, tensor<2x2xi64>) -> tensor<1x2x2x1xi64>
  return %2, %0#1, %3, %4 : tensor<5xi32>, tensor<i32>, tensor<4x1xf32>, tensor<1x2x2x1xi64>
}
