// Frontend attributes of an operation are those of all instructions that it becomes, in its own computation; the sharding
// of several results is given to each.
// RUN: hlo-opt %s
// CHECK-NOT: compare({{.*}}frontend_attributes
// CHECK: broadcast({{.*}}), dimensions={0,1}, frontend_attributes={a="1"}
// CHECK: reshape({{.*}}), frontend_attributes={a="1"}
// CHECK: tuple({{.*}}), frontend_attributes={w="2"}
// CHECK: while({{.*}}), condition={{.*}}, body={{.*}}, frontend_attributes={w="2"}
// CHECK: get-tuple-element({{.*}}), index=1, frontend_attributes={w="2"}
// CHECK: get-tuple-element({{.*}}), index=1, sharding={devices=[2]0,1}
module @attributes attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<1x4xf32>, %s: tensor<2xui64>) -> (tensor<3x4xf32>, tensor<4xui32>) {
    %n = stablehlo.constant dense<3> : tensor<i32>
    %zero = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.broadcast_in_dim %x, dims = [0, 1] {mhlo.frontend_attributes = {a = "1"}} : (tensor<1x4xf32>) -> tensor<3x4xf32>
    %1:2 = stablehlo.while(%i = %zero, %v = %0) : tensor<i32>, tensor<3x4xf32> attributes {mhlo.frontend_attributes = {w = "2"}}
    cond {
      %more = stablehlo.compare LT, %i, %n : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %more : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %j = stablehlo.add %i, %one : tensor<i32>
      %w = stablehlo.add %v, %v : tensor<3x4xf32>
      stablehlo.return %j, %w : tensor<i32>, tensor<3x4xf32>
    }
    %2:2 = stablehlo.rng_bit_generator %s, algorithm = THREE_FRY {mhlo.sharding = "{{replicated},{devices=[2]0,1}}"} : (tensor<2xui64>) -> (tensor<2xui64>, tensor<4xui32>)
    return %1#1, %2#1 : tensor<3x4xf32>, tensor<4xui32>
  }
}
