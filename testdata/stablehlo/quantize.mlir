// A program that jaxlib has written as a portable artifact, too.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: s8[2,2] {{3, 5}, {-128, 127}}      INPUT: s8[2,2] {{1, 2}, {3, 4}}
// EXPECT: (u8[2,2], f32[2,2]) ({{10, 14}, {0, 255}}, {{0.25, 0}, {0.75, 1}})
module {
  func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>, %w: tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {0.25,0.5:2}>>) -> (tensor<2x2x!quant.uniform<u8:f32, 2.5e-01:10>>, tensor<2x2xf32>) {
    %0 = stablehlo.uniform_dequantize %w : (tensor<2x2x!quant.uniform<i8<-127:127>:f32:1, {0.25,0.5:2}>>) -> tensor<2x2xf32>
    %1 = stablehlo.uniform_quantize %a : (tensor<2x2x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<2x2x!quant.uniform<u8:f32, 2.5e-01:10>>
    return %1, %0 : tensor<2x2x!quant.uniform<u8:f32, 2.5e-01:10>>, tensor<2x2xf32>
  }
}
