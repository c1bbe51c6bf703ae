// XLA writes ragged dots as operations of mhlo, in bytecode with precisions of that dialect.
// RUN: hlo-opt %s
func.func @main(%arg0: tensor<8x5xf32>, %arg1: tensor<3x5x6xf32>, %arg2: tensor<3xi32>) -> tensor<8x6xf32> {
  %0 = "mhlo.ragged_dot"(%arg0, %arg1, %arg2) <{precision_config = [#mhlo<precision HIGHEST>, #mhlo<precision DEFAULT>], ragged_dot_dimension_numbers = #mhlo.ragged_dot<dot_dimension_numbers = #mhlo.dot<lhs_contracting_dimensions = [1], rhs_contracting_dimensions = [1]>, lhs_ragged_dimensions = [0], rhs_group_dimensions = [0]>}> : (tensor<8x5xf32>, tensor<3x5x6xf32>, tensor<3xi32>) -> tensor<8x6xf32>
  return %0 : tensor<8x6xf32>
}
// CHECK: ragged-dot(%Arg_0, %Arg_1, %Arg_2), lhs_contracting_dims={1}, rhs_contracting_dims={1}, lhs_ragged_dims={0}, rhs_group_dims={0}, operand_precision={highest,default}
