// Literals: splats, lists, bits, hexadecimal bytes, complex numbers, narrow types, resources.
// RUN-ON-EACH-BACKEND: hlo-run %s
// EXPECT: (f32[2], s32[2,2], f32[], bf16[2], c64[2], pred[3], s4[2], f32[2], pred[], u64[]) ({2.5, 2.5}, {{1, -2}, {3, 4}}, nan, {1, -0.5}, {(1, 2), (3, -4)}, {1, 0, 1}, {-8, 7}, {1, 2}, 1, 18446744073709551615)
module @constants {
  func.func public @main() -> (tensor<2xf32>, tensor<2x2xi32>, tensor<f32>, tensor<2xbf16>, tensor<2xcomplex<f32>>, tensor<3xi1>, tensor<2xi4>, tensor<2xf32>, tensor<i1>, tensor<ui64>) {
    %0 = stablehlo.constant dense<2.5> : tensor<2xf32>
    %1 = stablehlo.constant dense<[[1, -2], [3, 4]]> : tensor<2x2xi32>
    %2 = stablehlo.constant dense<0x7FC00000> : tensor<f32>
    %3 = stablehlo.constant dense<"0x803F00BF"> : tensor<2xbf16>
    %4 = stablehlo.constant dense<[(1.0, 2.0), (3.0, -4.0)]> : tensor<2xcomplex<f32>>
    %5 = stablehlo.constant dense<[true, false, true]> : tensor<3xi1>
    %6 = "stablehlo.constant"() <{value = dense<[-8, 7]> : tensor<2xi4>}> : () -> tensor<2xi4>
    %7 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
    %8 = stablehlo.constant dense<true> : tensor<i1>
    %9 = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
    return %0, %1, %2, %3, %4, %5, %6, %7, %8, %9 : tensor<2xf32>, tensor<2x2xi32>, tensor<f32>, tensor<2xbf16>, tensor<2xcomplex<f32>>, tensor<3xi1>, tensor<2xi4>, tensor<2xf32>, tensor<i1>, tensor<ui64>
  }
}
{-#
  dialect_resources: {
    builtin: {
      weights: "0x040000000000803F00000040"
    }
  }
#-}
