// asin, acos, asinh, acosh, atanh, log, log1p and sqrt of complex numbers, with digits that the plain formulas lose: log(0.6 + 0.8i)
// is what rounding 0.6 and 0.8 left of log 1, asin(1e-5 - 1e200i) has a square that overflows, acosh(-1.0000001 + 1e-9i) is next to
// a branch point. Values from mpmath.
// RUN-ON-EACH-BACKEND: hlo-run %s      INPUT: f64[4] {0.6, -3, 1e-5, -1.0000001}      INPUT: f64[4] {0.8, 0.25, -1e200, 1e-9}
// EXPECT: f64[4] {0.6, -3, 1e-5, -1.0000001}
module {
  func.func @main(%re: tensor<4xf64>, %im: tensor<4xf64>) -> tensor<4xf64> {
    %z = stablehlo.complex %re, %im : tensor<4xcomplex<f64>>
    %0 = chlo.asin %z : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %e0 = stablehlo.constant dense<[(0.46364760900080609, 0.80471895621705022), (-1.4826795045905577, 1.7668693026241513), (1.0000000000000001e-205, -461.21016577936908), (-1.5707940907549253, 0.00044721918189912969)]> : tensor<4xcomplex<f64>>
    check.expect_close %0, %e0, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
    %1 = chlo.acos %z : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %e1 = stablehlo.constant dense<[(1.1071487177940905, -0.80471895621705022), (3.0534758313854544, -1.7668693026241513), (1.5707963267948966, 461.21016577936908), (3.1415904175498219, -0.00044721918189912969)]> : tensor<4xcomplex<f64>>
    check.expect_close %1, %e1, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
    %2 = chlo.asinh %z : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %e2 = stablehlo.constant dense<[(0.71270847153530629, 0.68471920300228296), (-1.8214041607957312, 0.07891728019870327), (461.21016577936908, -1.5707963267948966), (-0.88137365773021942, 7.0710674583120937e-10)]> : tensor<4xcomplex<f64>>
    check.expect_close %2, %e2, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
    %3 = chlo.acosh %z : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %e3 = stablehlo.constant dense<[(0.80471895621705022, 1.1071487177940905), (1.7668693026241513, 3.0534758313854544), (461.21016577936908, -1.5707963267948966), (0.00044721918189912969, 3.1415904175498219)]> : tensor<4xcomplex<f64>>
    check.expect_close %3, %e3, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
    %4 = chlo.atanh %z : tensor<4xcomplex<f64>> -> tensor<4xcomplex<f64>>
    %e4 = stablehlo.constant dense<[(0.34657359027997263, 0.78539816339744832), (-0.34367220374989567, 1.5398282345194946), (0.0, -1.5707963267948966), (-8.4055964417171442, 1.565796493704483)]> : tensor<4xcomplex<f64>>
    check.expect_close %4, %e4, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
    %5 = stablehlo.log %z : tensor<4xcomplex<f64>>
    %e5 = stablehlo.constant dense<[(2.2204460492503132e-17, 0.92729521800161228), (1.1020725100903966, 3.058451421701352), (460.51701859880914, -1.5707963267948966), (9.9999995058887045e-8, 3.1415926525897933)]> : tensor<4xcomplex<f64>>
    check.expect_close %5, %e5, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
    %6 = stablehlo.log_plus_one %z : tensor<4xcomplex<f64>>
    %e6 = stablehlo.constant dense<[(0.58157540490284043, 0.46364760900080614), (0.70089927382792794, 3.0172376590430318), (460.51701859880914, -1.5707963267948966), (-16.118045652874344, 3.1315929869089661)]> : tensor<4xcomplex<f64>>
    check.expect_close %6, %e6, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
    %7 = stablehlo.sqrt %z : tensor<4xcomplex<f64>>
    %e7 = stablehlo.constant dense<[(0.89442719099991588, 0.44721359549995796), (0.072106326692162977, 1.7335510728989316), (7.0710678118654751e+99, -7.0710678118654751e+99), (4.9999997500000189e-10, 1.0000000499999988)]> : tensor<4xcomplex<f64>>
    check.expect_close %7, %e7, max_ulp_difference = 3 : tensor<4xcomplex<f64>>, tensor<4xcomplex<f64>>
    return %re : tensor<4xf64>
  }
}
