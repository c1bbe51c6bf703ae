// Tiles of a mesh of one device are no sharding, as frameworks write them there.
// RUN: hlo-opt %s
module @m {
  func.func @main(%arg0: tensor<8x16xf32> {mhlo.sharding = "{devices=[1,1]0}"}) -> tensor<8x16xf32> {
    %0 = stablehlo.custom_call @Sharding(%arg0) {mhlo.sharding = "{devices=[1,1,1]0 last_tile_dim_replicate}"} : (tensor<8x16xf32>) -> tensor<8x16xf32>
    return %0 : tensor<8x16xf32>
  }
}
// CHECK: parameter(0){{$}}
// CHECK: custom_call_target="Sharding"{{$}}
