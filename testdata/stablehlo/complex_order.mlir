// Complex numbers are ordered by their real parts, then by their imaginary ones.
// RUN: hlo-run --platform=interpreter %s
func.func @main() {
  %a = stablehlo.constant dense<[(1.0, 5.0), (2.0, 1.0), (2.0, 3.0)]> : tensor<3xcomplex<f32>>
  %b = stablehlo.constant dense<[(3.0, 0.0), (2.0, 2.0), (1.0, 9.0)]> : tensor<3xcomplex<f32>>
  %0 = stablehlo.maximum %a, %b : tensor<3xcomplex<f32>>
  check.expect_eq_const %0, dense<[(3.0, 0.0), (2.0, 2.0), (2.0, 3.0)]> : tensor<3xcomplex<f32>>
  %1 = stablehlo.minimum %a, %b : tensor<3xcomplex<f32>>
  check.expect_eq_const %1, dense<[(1.0, 5.0), (2.0, 1.0), (1.0, 9.0)]> : tensor<3xcomplex<f32>>
  func.return
}
// CHECK: 1 run
