// NaN of f8e8m0fnu: of a constant, XLA's conversion makes an infinity; else it stays NaN.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: u8[2] {127, 255}
// EXPECT: (f32[2], f32[2]) ({1, inf}, {1, nan})
func.func @main(%x: tensor<2xui8>) -> (tensor<2xf32>, tensor<2xf32>) {
  %0 = stablehlo.constant dense<[1.0, 0xFF]> : tensor<2xf8E8M0FNU>
  %1 = stablehlo.convert %0 : (tensor<2xf8E8M0FNU>) -> tensor<2xf32>
  %2 = stablehlo.bitcast_convert %x : (tensor<2xui8>) -> tensor<2xf8E8M0FNU>
  %3 = stablehlo.convert %2 : (tensor<2xf8E8M0FNU>) -> tensor<2xf32>
  return %1, %3 : tensor<2xf32>, tensor<2xf32>
}
