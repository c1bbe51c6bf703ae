// Shardings that a function states of its arguments and results, stated as XLA's conversion does.
// RUN: hlo-opt %s
module @shardings {
  func.func private @one(%a: tensor<4x3xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}) -> (tensor<4x3xf32> {mhlo.sharding = "{devices=[1,2]<=[2]}"}) {
    %0 = stablehlo.add %a, %a : tensor<4x3xf32>
    return %0 : tensor<4x3xf32>
  }
  func.func private @several(%a: tensor<4x3xf32>) -> (tensor<4x3xf32> {mhlo.sharding = "{devices=[2,1]<=[2]}"}, tensor<4x3xf32>) {
    %0 = stablehlo.negate %a : tensor<4x3xf32>
    return %0, %a : tensor<4x3xf32>, tensor<4x3xf32>
  }
  func.func @main(%a: tensor<4x3xf32>, %t: !stablehlo.token) -> (tensor<4x3xf32>, tensor<4x3xf32> {mhlo.sharding = "{maximal device=0}"}, !stablehlo.token) {
    %0 = call @one(%a) : (tensor<4x3xf32>) -> tensor<4x3xf32>
    %1:2 = call @several(%0) : (tensor<4x3xf32>) -> (tensor<4x3xf32>, tensor<4x3xf32>)
    return %1#0, %1#1, %t : tensor<4x3xf32>, tensor<4x3xf32>, !stablehlo.token
  }
}
// CHECK: %one (
// CHECK-NEXT: parameter(0), sharding={devices=[2,1]<=[2]}
// CHECK: ROOT {{.*}} get-tuple-element({{.*}}), index=0, sharding={devices=[1,2]<=[2]}
// CHECK: %several (
// CHECK: ROOT {{.*}} tuple({{.*}}), sharding={{[{][{]}}devices=[2,1]<=[2]}, {replicated}}
// CHECK: ENTRY
// CHECK: ROOT {{.*}} tuple({{.*}}), sharding={{[{][{]}}replicated}, {maximal device=0}, {replicated}}
// CHECK-NEXT: reshape(
// CHECK-NEXT: reshape({{.*}}), sharding={maximal device=0}
