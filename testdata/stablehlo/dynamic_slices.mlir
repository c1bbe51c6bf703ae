// Sizes by a function that divides, a slice whose start is known only at run time but whose size is not, and a call whose operands
// say the sizes of its results.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f32[5,2] {{1, 2}, {3, 4}, {5, 6}, {7, 8}, {9, 10}}      INPUT: s32[] 1
// EXPECT: (f32[2,2] {{3, 4}, {5, 6}}, f32[2,2,2] {{{2, 0}, {1, 3}}, {{1, 0}, {0, 1}}})
module {
  func.func public @main(%x: tensor<?x2xf32>, %at: tensor<i32>) -> (tensor<?x2xf32>, tensor<?x2x2xf32>) {
    %n = stablehlo.get_dimension_size %x, dim = 0 : (tensor<?x2xf32>) -> tensor<i32>
    %two = stablehlo.constant dense<2> : tensor<i32>
    %0:2 = call @divide(%n, %two, %at) : (tensor<i32>, tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>)
    %1 = stablehlo.reshape %0#0 : (tensor<i32>) -> tensor<1xi32>
    %c2 = stablehlo.constant dense<2> : tensor<1xi32>
    %sizes = stablehlo.concatenate %1, %c2, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %2 = stablehlo.reshape %at : (tensor<i32>) -> tensor<1xi32>
    %zero = stablehlo.constant dense<0> : tensor<1xi32>
    %start = stablehlo.concatenate %2, %zero, dim = 0 : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
    %limit = stablehlo.add %start, %sizes : tensor<2xi32>
    %ones = stablehlo.constant dense<1> : tensor<2xi32>
    %3 = stablehlo.real_dynamic_slice %x, %start, %limit, %ones : (tensor<?x2xf32>, tensor<2xi32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x2xf32>
    %m = stablehlo.constant dense<[[[4.0, 2.0], [2.0, 10.0]], [[1.0, 0.0], [0.0, 1.0]]]> : tensor<2x2x2xf32>
    %cube = stablehlo.concatenate %1, %c2, %c2, dim = 0 : (tensor<1xi32>, tensor<1xi32>, tensor<1xi32>) -> tensor<3xi32>
    %4 = stablehlo.dynamic_reshape %m, %cube : (tensor<2x2x2xf32>, tensor<3xi32>) -> tensor<?x2x2xf32>
    %5:2 = stablehlo.custom_call @lapack_spotrf_ffi(%4, %cube, %1) {indices_of_shape_operands = dense<[1, 2]> : tensor<2xi64>, mhlo.backend_config = {uplo = 76 : ui8}, operand_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>, dense<0> : tensor<1xindex>], result_layouts = [dense<[1, 2, 0]> : tensor<3xindex>, dense<0> : tensor<1xindex>]} : (tensor<?x2x2xf32>, tensor<3xi32>, tensor<1xi32>) -> (tensor<?x2x2xf32>, tensor<?xi32>)
    // The upper triangles hold what they held.
    %lower = stablehlo.constant dense<[[[1.0, 0.0], [1.0, 1.0]], [[1.0, 0.0], [1.0, 1.0]]]> : tensor<2x2x2xf32>
    %6 = stablehlo.multiply %5#0, %lower : (tensor<?x2x2xf32>, tensor<2x2x2xf32>) -> tensor<?x2x2xf32>
    return %3, %6 : tensor<?x2xf32>, tensor<?x2x2xf32>
  }
  func.func private @divide(%a: tensor<i32>, %b: tensor<i32>, %unused: tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %0 = stablehlo.divide %a, %b : tensor<i32>
    %1 = stablehlo.remainder %a, %unused : tensor<i32>
    return %0, %1 : tensor<i32>, tensor<i32>
  }
}
