# Tables of tt-mlir's ttnn files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-f828963c17a5
file TTNN
hash f828963c17a541cde585a35822a0ace7c809e8a4
root TTNNBinary
without SystemDescRoot
table CloseDeviceOp in0@0:DeviceRef
enum DataType u16 Float32=0 Float16=1 BFloat16=2 BFP_Float8=3 BFP_BFloat8=4 BFP_Float4=5 BFP_BFloat4=6 BFP_Float2=7 BFP_BFloat2=8 UInt32=9 UInt16=10 UInt8=11
table DebugInfo mlir@0:MLIR cpp@1:text
table DeviceRef global_id@0:u32
struct Dim2dRange 16 loc@0:Dim2d size@8:Dim2d
table EltwiseOp type@0:EltwiseOpType ins@1:[TensorRef] out@2:TensorRef
enum EltwiseOpType u32 Add=0 Multiply=1 Subtract=2 Relu=3 GreaterEqual=4
table FullOp device@0:DeviceRef fill_value@1:f32 out@2:TensorRef
table LayoutDesc stride@0:[i32] oob_val@1:OOBVal core_range_set@2:[Dim2dRange] memory_desc@3:MemoryDesc
table MLIR name@0:text source@1:text
table MatmulOp in0@0:TensorRef in1@1:TensorRef out@2:TensorRef
table MemoryDesc shape@0:[i32] tile_shape@1:Dim2d data_type@2:DataType memory_space@3:MemorySpace size@4:u64
enum MemorySpace u16 System=0 SystemMMIO=1 DeviceDRAM=2 DeviceL1=3
enum OOBVal u16 Undef=0 Zero=1 One=2 Inf=3 NegInf=4
union OpType OpenDeviceOp=1:OpenDeviceOp CloseDeviceOp=2:CloseDeviceOp ToMemoryConfigOp=3:ToMemoryConfigOp FullOp=4:FullOp EltwiseOp=5:EltwiseOp MatmulOp=6:MatmulOp ReductionOp=7:ReductionOp SoftmaxOp=8:SoftmaxOp TransposeOp=9:TransposeOp
table OpenDeviceOp mesh@0:Dim2d chip_ids@1:[u32] out@2:DeviceRef
table Operation type@1:OpType debug_info@2:text
table Program name@0:text inputs@1:[TensorRef] outputs@2:[TensorRef] operations@3:[Operation] debug_info@4:DebugInfo
table ReductionOp type@0:ReductionOpType in@1:TensorRef out@2:TensorRef dim_arg@3:[i32] keep_dim@4:bool
enum ReductionOpType u32 Sum=0 Mean=1
table SoftmaxOp in@0:TensorRef out@1:TensorRef dimension@2:i32
table TTNNBinary version@0:Version ttmlir_git_hash@1:text system_desc@2:SystemDesc programs@3:[Program]
table TensorDesc shape@0:[i32] layout@1:LayoutDesc constant_data@2:[u8]
table TensorRef global_id@0:u32 address@1:u64 size@2:u64 desc@3:TensorDesc
table ToMemoryConfigOp in0@0:TensorRef out@1:TensorRef
table TransposeOp in@0:TensorRef out@1:TensorRef dimension1@2:i32 dimension2@3:i32
