// A composite is a call that says its name, its version and its attributes, as XLA's conversion has it.
// RUN: hlo-opt %s
// RUN: hlo-run %s

module @composites {
  func.func private @shifted(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.sine %x : tensor<2xf32>
    return %0 : tensor<2xf32>
  }
  func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
    %0 = stablehlo.composite "my.plain" %x {decomposition = @shifted} : (tensor<2xf32>) -> tensor<2xf32>
    %1 = stablehlo.composite "my.shifted" %0 {
      composite_attributes = {k = 1 : i64, s = "a", d = dense<[[1, 2], [3, 4]]> : tensor<2x2xi64>, e = dense<[true, false]> : tensor<2xi1>,
                              c = dense<[5, 5]> : tensor<2xi32>, f = 1.5 : f32, u, l = [1, 2], n = {z = 2.5 : f64, y = f32}, a = array<i64: 1, 2>},
      decomposition = @shifted, version = 3 : i32} : (tensor<2xf32>) -> tensor<2xf32>
    return %1 : tensor<2xf32>
  }
}
// CHECK: call(%Arg_0.1), to_apply=%shifted, is_composite=true, frontend_attributes={composite.attributes={},composite.name="my.plain",composite.version="0"}
// CHECK: is_composite=true, frontend_attributes={composite.attributes={a = array<i64: 1, 2>, c = dense<5> : tensor<2xi32>, d = dense<{{\[\[}}1, 2], [3, 4]]> : tensor<2x2xi64>, e = dense<[true, false]> : tensor<2xi1>, f = 1.500000e+00 : f32, k = 1 : i64, l = [1, 2], n = {y = f32, z = 2.500000e+00 : f64}, s = "a", u},composite.name="my.shifted",composite.version="3"}
