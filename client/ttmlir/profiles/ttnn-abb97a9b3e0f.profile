# Tables of tt-mlir's ttnn files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-abb97a9b3e0f
file TTNN
hash abb97a9b3e0f17b569438fcabf5d56d4e48f0bf5
root TTNNBinary
without SystemDescRoot
enum BufferType u16 DRAM=0 L1=1 SystemMemory=2 L1Small=3 Trace=4
table ConcatOp inputs@0:[TensorRef] out@1:TensorRef dim@2:i32
table Conv2dOp input@0:TensorRef weight@1:TensorRef bias@2:TensorRef out@3:TensorRef device@4:DeviceRef in_channels@5:u32 out_channels@6:u32 batch_size@7:u32 input_height@8:u32 input_width@9:u32 kernel_height@10:u32 kernel_width@11:u32 stride_height@12:u32 stride_width@13:u32 padding_height@14:u32 padding_width@15:u32 dilation_height@16:u32 dilation_width@17:u32 groups@18:u32
table DeallocOp in@0:TensorRef
table DebugInfo mlir@0:MLIR cpp@1:text
table DeviceRef global_id@0:u32
struct Dim2dRange 16 loc@0:Dim2d size@8:Dim2d
table EltwiseOp type@0:EltwiseOpType ins@1:[TensorRef] out@2:TensorRef
enum EltwiseOpType u32 Add=0 Multiply=1 Subtract=2 Relu=3 GreaterEqual=4 Sqrt=5 Div=6 Sigmoid=7 Reciprocal=8 Exp=9 Maximum=10 Abs=11 Neg=12
table EmbeddingOp input@0:TensorRef weight@1:TensorRef output@2:TensorRef
table EmptyOp shape@0:[i64] dtype@1:DataType layout@2:TensorLayout device@3:DeviceRef memcfg@4:MemoryConfigDesc out@5:TensorRef
table FromDeviceOp in@0:TensorRef out@1:TensorRef
table FullOp device@0:DeviceRef fill_value@1:f32 out@2:TensorRef
table GetDeviceOp mesh@0:Dim2d chip_ids@1:[u32] out@2:DeviceRef
table LayoutDesc stride@0:[i32] oob_val@1:OOBVal core_range_set@2:[Dim2dRange] memory_desc@3:MemoryDesc
table MLIR name@0:text source@1:text
table MatmulOp in0@0:TensorRef in1@1:TensorRef out@2:TensorRef
table MaxPool2dOp in@0:TensorRef out@1:TensorRef device@2:DeviceRef batch_size@3:u32 input_height@4:u32 input_width@5:u32 channels@6:u32 kernel_height@7:u32 kernel_width@8:u32 stride_height@9:u32 stride_width@10:u32 dilation_height@11:u32 dilation_width@12:u32 ceil_mode@13:bool padding_height@14:u32 padding_width@15:u32
table MemoryConfigDesc tensor_memory_layout@0:TensorMemoryLayout buffer_type@1:BufferType
table MemoryDesc shape@0:[i32] tile_shape@1:Dim2d data_type@2:DataType memory_space@3:MemorySpace memory_layout@4:TensorMemoryLayout size@5:u64
enum MemorySpace u16 System=0 SystemMMIO=1 DeviceDRAM=2 DeviceL1=3
enum OOBVal u16 Undef=0 Zero=1 One=2 Inf=3 NegInf=4
union OpType GetDeviceOp=1:GetDeviceOp ToMemoryConfigOp=2:ToMemoryConfigOp ToLayoutOp=3:ToLayoutOp ToDeviceOp=4:ToDeviceOp FromDeviceOp=5:FromDeviceOp EmptyOp=6:EmptyOp FullOp=7:FullOp EltwiseOp=8:EltwiseOp MatmulOp=9:MatmulOp ReductionOp=10:ReductionOp EmbeddingOp=11:EmbeddingOp SoftmaxOp=12:SoftmaxOp TransposeOp=13:TransposeOp Conv2dOp=14:Conv2dOp ConcatOp=15:ConcatOp ReshapeOp=16:ReshapeOp MaxPool2dOp=17:MaxPool2dOp DeallocOp=18:DeallocOp
table Operation type@1:OpType debug_info@2:text
table Program name@0:text inputs@1:[TensorRef] outputs@2:[TensorRef] operations@3:[Operation] debug_info@4:DebugInfo
table ReductionOp type@0:ReductionOpType in@1:TensorRef out@2:TensorRef dim_arg@3:[i32] keep_dim@4:bool
enum ReductionOpType u32 Sum=0 Mean=1 Max=2
table ReshapeOp in@0:TensorRef out@1:TensorRef shape@2:[i32]
table SoftmaxOp in@0:TensorRef out@1:TensorRef dimension@2:i32
table TTNNBinary version@0:Version ttmlir_git_hash@1:text system_desc@2:SystemDesc programs@3:[Program]
table TensorDesc shape@0:[i32] layout@1:LayoutDesc
enum TensorLayout u16 RowMajor=0 Tile=1 Invalid=2
enum TensorMemoryLayout u16 None=0 Interleaved=1 SingleBank=2 HeightSharded=3 WidthSharded=4 BlockSharded=5
table TensorRef global_id@0:u32 address@1:u64 size@2:u64 desc@3:TensorDesc
table ToDeviceOp in@0:TensorRef device@1:DeviceRef memcfg@2:MemoryConfigDesc out@3:TensorRef
table ToLayoutOp in@0:TensorRef layout@1:TensorLayout device@2:DeviceRef out@3:TensorRef
table ToMemoryConfigOp in0@0:TensorRef device@1:DeviceRef out@2:TensorRef
table TransposeOp in@0:TensorRef out@1:TensorRef dim0@2:i32 dim1@3:i32
