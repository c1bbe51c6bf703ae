// A type quantized in blocks.
// RUN: not hlo-opt %s
func.func @main(%a: tensor<2x2x!quant.uniform<i8:f32:{0:1}, {{2.0}, {3.0}}>>) -> tensor<2x2xf32> {
  %0 = stablehlo.uniform_dequantize %a : (tensor<2x2x!quant.uniform<i8:f32:{0:1}, {{2.0}, {3.0}}>>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// CHECK: error: types quantized in blocks are not supported
