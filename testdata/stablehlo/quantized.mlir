// Quantized numbers: stored integers in and out, arithmetic on what they stand for, results rounded to even and clamped.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: s8[2,2] {{3, 5}, {-128, 127}}      INPUT: s8[2,2] {{1, 2}, {3, 4}}      INPUT: f32[2,2] {{0.25, 0.75}, {100, -100}}
// EXPECT: (s8[2,2], s8[2,2], s8[2,2], f32[2,2], u8[2,2], s32[2,2], f32[2,2], s8[2], s8[2,2]) ({{2, 6}, {-128, 126}}, {{3, 1}, {127, -121}}, {{1, 4}, {127, -127}}, {{0, 1}, {-65.5, 62}}, {{10, 12}, {0, 134}}, {{3, 4}, {120, 248}}, {{0.625, 0.75}, {-50, -100}}, {5, -4}, {{1, 3}, {2, 4}})
!q = !quant.uniform<i8:f32, 5.000000e-01:3>
!weights = !quant.uniform<i8<-127:127>:f32:1, {2.500000e-01, 5.0e-01:2}>
!sum = !quant.uniform<i32:f32, 2.500000e-01>
module @quantized {
  func.func @main(%a: tensor<2x2x!q>, %w: tensor<2x2x!weights>, %x: tensor<2x2xf32>) -> (tensor<2x2x!q>, tensor<2x2x!q>, tensor<2x2x!weights>, tensor<2x2xf32>, tensor<2x2x!quant.uniform<u8:f32, 5.0e-01:10>>, tensor<2x2x!sum>, tensor<2x2xf32>, tensor<2x!q>, tensor<2x2xi8>) {
    %one = stablehlo.constant() {value = dense<2> : tensor<2x2xi8>} : () -> tensor<2x2x!q>
    %0 = stablehlo.add %a, %a : (tensor<2x2x!q>, tensor<2x2x!q>) -> tensor<2x2x!q>
    %1 = stablehlo.add %0, %one : tensor<2x2x!q>
    %2 = stablehlo.negate %a : tensor<2x2x!q>
    %3 = stablehlo.uniform_quantize %x : (tensor<2x2xf32>) -> tensor<2x2x!weights>
    %4 = stablehlo.uniform_dequantize %a : (tensor<2x2x!q>) -> tensor<2x2xf32>
    %5 = stablehlo.uniform_quantize %a : (tensor<2x2x!q>) -> tensor<2x2x!quant.uniform<u8:f32, 5.0e-01:10>>
    %6 = stablehlo.dot_general %a, %w, contracting_dims = [1] x [0] : (tensor<2x2x!q>, tensor<2x2x!weights>) -> tensor<2x2x!sum>
    %7 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2x!weights>) -> tensor<2x2xf32>
    %zero = stablehlo.constant() {value = dense<3> : tensor<i8>} : () -> tensor<!q>
    %8 = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<2x2x!q>, tensor<!q>) -> tensor<2x!q>
    %9 = stablehlo.transpose %w, dims = [1, 0] : (tensor<2x2x!weights>) -> tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, {2.500000e-01, 5.0e-01:2}>>
    %10 = stablehlo.bitcast_convert %9 : (tensor<2x2x!quant.uniform<i8<-127:127>:f32:0, {2.500000e-01, 5.0e-01:2}>>) -> tensor<2x2xi8>
    return %1, %2, %3, %4, %5, %6, %7, %8, %10 : tensor<2x2x!q>, tensor<2x2x!q>, tensor<2x2x!weights>, tensor<2x2xf32>, tensor<2x2x!quant.uniform<u8:f32, 5.0e-01:10>>, tensor<2x2x!sum>, tensor<2x2xf32>, tensor<2x!q>, tensor<2x2xi8>
  }
}
