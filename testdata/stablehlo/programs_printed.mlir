// hlo-opt prints the module of each program of a file, also beside one that is refused, and a trace is dropped.
// RUN: not hlo-opt %s
func.func @first(%a: tensor<f32>) -> tensor<f32> {
  "stablehlo.trace"(%a) {tag = "foo"} : (tensor<f32>) -> ()
  %0 = "stablehlo.abs"(%a) : (tensor<f32>) -> tensor<f32>
  func.return %0 : tensor<f32>
}
// CHECK: HloModule main
// CHECK: f32[] abs(
// CHECK: // -----
// CHECK: HloModule main
// CHECK: f32[2]{0} negate(
// CHECK-NOT: HloModule
// CHECK: argument 0 of unranked: the type tensor<*xf32> has no equal in HLO
func.func @unranked(%a: tensor<*xf32>) -> tensor<*xf32> {
  func.return %a : tensor<*xf32>
}

func.func @second(%a: tensor<2xf32>) -> tensor<2xf32> {
  %0 = "stablehlo.negate"(%a) : (tensor<2xf32>) -> tensor<2xf32>
  func.return %0 : tensor<2xf32>
}
