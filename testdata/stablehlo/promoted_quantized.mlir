// A reduction of quantized numbers in wider stored integers, and in those of another scale.
// RUN: hlo-run --platform=interpreter %s
func.func @wider() {
  %x = stablehlo.constant dense<[60.0, 62.0, 63.0]> : tensor<3xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %q = stablehlo.uniform_quantize %x : (tensor<3xf32>) -> tensor<3x!quant.uniform<i8:f32, 0.5>>
  %z = stablehlo.uniform_quantize %zero : (tensor<f32>) -> tensor<!quant.uniform<i8:f32, 0.5>>
  %r = "stablehlo.reduce"(%q, %z) ({
  ^bb0(%a: tensor<!quant.uniform<i32:f32, 0.25:1>>, %b: tensor<!quant.uniform<i32:f32, 0.25:1>>):
    %s = stablehlo.add %a, %b : tensor<!quant.uniform<i32:f32, 0.25:1>>
    stablehlo.return %s : tensor<!quant.uniform<i32:f32, 0.25:1>>
  }) {dimensions = array<i64: 0>} : (tensor<3x!quant.uniform<i8:f32, 0.5>>, tensor<!quant.uniform<i8:f32, 0.5>>) -> tensor<!quant.uniform<i32:f32, 0.25:1>>
  %stored = stablehlo.bitcast_convert %r : (tensor<!quant.uniform<i32:f32, 0.25:1>>) -> tensor<i32>
  check.expect_eq_const %stored, dense<741> : tensor<i32>
  func.return
}
// CHECK: 1 run
