// Slices, pads, broadcasts along dimensions of size 1, gathers and scatters.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[2,3] {{1, 2, 3}, {4, 5, 6}}      INPUT: s32[2,1] {{1}, {0}}
// EXPECT: (f32[3,2], f32[1,2], f32[2,2,3], f32[3,4], f32[2,3], f32[2,3], f32[4,3], f32[2,2]) ({{1, 4}, {2, 5}, {3, 6}}, {{1, 3}}, {{{1, 2, 3}, {4, 5, 6}}, {{1, 2, 3}, {4, 5, 6}}}, {{1, 2, 3, 9}, {9, 9, 9, 9}, {4, 5, 6, 9}}, {{4, 5, 6}, {1, 2, 3}}, {{5, 7, 9}, {5, 7, 9}}, {{1, 2, 3}, {4, 5, 6}, {4, 5, 6}, {1, 2, 3}}, {{14, 32}, {32, 77}})
module {
  func.func @main(%x: tensor<2x3xf32>, %i: tensor<2x1xi32>) -> (tensor<3x2xf32>, tensor<1x2xf32>, tensor<2x2x3xf32>, tensor<3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<2x2xf32>) {
    %nine = stablehlo.constant dense<9.0> : tensor<f32>
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %1 = stablehlo.slice %x [0:1, 0:3:2] : (tensor<2x3xf32>) -> tensor<1x2xf32>
    %2 = stablehlo.reshape %x : (tensor<2x3xf32>) -> tensor<1x2x3xf32>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0, 1, 2] : (tensor<1x2x3xf32>) -> tensor<2x2x3xf32>
    %4 = stablehlo.pad %x, %nine, low = [0, 0], high = [0, 1], interior = [1, 0] : (tensor<2x3xf32>, tensor<f32>) -> tensor<3x4xf32>
    %5 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, indices_are_sorted = false, slice_sizes = array<i64: 1, 3>}> : (tensor<2x3xf32>, tensor<2x1xi32>) -> tensor<2x3xf32>
    %6 = "stablehlo.scatter"(%x, %i, %x) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %7 = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %7 : tensor<f32>
    }) : (tensor<2x3xf32>, tensor<2x1xi32>, tensor<2x3xf32>) -> tensor<2x3xf32>
    %8 = stablehlo.concatenate %x, %5, dim = 0 : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<4x3xf32>
    %9 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1], precision = [HIGHEST, DEFAULT] : (tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x2xf32>
    return %0, %1, %3, %4, %5, %6, %8, %9 : tensor<3x2xf32>, tensor<1x2xf32>, tensor<2x2x3xf32>, tensor<3x4xf32>, tensor<2x3xf32>, tensor<2x3xf32>, tensor<4x3xf32>, tensor<2x2xf32>
  }
}
