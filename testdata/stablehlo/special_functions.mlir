// chlo.atan of real and complex numbers, zeta, polygamma and bessel_i1e, held against tables: zeta(2, 1) is
// pi^2 / 6. A pole of zeta is inf for an even s and NaN for an odd one. The formula of polygamma is
// itself 6 to 8 units in the last place from the table where n = 3, hence 1e-12 beside 97.4.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f64[4] {2, 1, 2, 3.5}      INPUT: f64[4] {1, 2, -1, 0.5}
// EXPECT: f64[4] {2, 1, 2, 3.5}
module {
  func.func @main(%s: tensor<4xf64>, %q: tensor<4xf64>) -> tensor<4xf64> {
    %0 = chlo.zeta %s, %q : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
    check.expect_almost_eq_const %0, dense<[1.6449340668482264, 0x7FF0000000000000, 0x7FF0000000000000, 11.620804663441898]> : tensor<4xf64>, tolerance = 1.0e-13
    %n = stablehlo.constant dense<[0.0, 1.0, 2.0, 3.0]> : tensor<4xf64>
    %x = stablehlo.constant dense<[1.5, 2.0, 2.5, 0.5]> : tensor<4xf64>
    %1 = chlo.polygamma %n, %x : tensor<4xf64>, tensor<4xf64> -> tensor<4xf64>
    check.expect_almost_eq_const %1, dense<[0.03648997397857652, 0.64493406684822663, -0.23620405164172736, 97.409091034002415]> : tensor<4xf64>, tolerance = 1.0e-12
    %2 = chlo.atan %q : tensor<4xf64> -> tensor<4xf64>
    check.expect_almost_eq_const %2, dense<[0.78539816339744831, 1.1071487177940904, -0.78539816339744831, 0.46364760900080609]> : tensor<4xf64>, tolerance = 1.0e-15
    %3 = stablehlo.complex %s, %q : tensor<4xcomplex<f64>>
    %4 = chlo.atan %3 : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %5 = stablehlo.real %4 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    %6 = stablehlo.imag %4 : (tensor<4xcomplex<f64>>) -> tensor<4xf64>
    check.expect_almost_eq_const %5, dense<[1.1780972450961724, 1.3389725222944935, 1.1780972450961724, 1.2974019063502729]> : tensor<4xf64>, tolerance = 1.0e-14
    check.expect_almost_eq_const %6, dense<[0.17328679513998632, 0.40235947810852507, -0.17328679513998632, 0.037105001279568318]> : tensor<4xf64>, tolerance = 1.0e-14
    %y = stablehlo.constant dense<[-0.5, 8.0, 8.5, 300.0]> : tensor<4xf64>
    %7 = chlo.bessel_i1e %y : tensor<4xf64> -> tensor<4xf64>
    check.expect_almost_eq_const %7, dense<[-0.15642080318487173, 0.13414249329269812, 0.13054935509459586, 0.02300412204026895]> : tensor<4xf64>, tolerance = 1.0e-15
    return %s : tensor<4xf64>
  }
}
