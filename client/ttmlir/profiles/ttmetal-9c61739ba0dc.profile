# Tables of tt-mlir's ttmetal files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-9c61739ba0dc
file TTM0
hash 9c61739ba0dcc7dd85a29b353e828933c493f87b
root TTMetalBinary
without SystemDescRoot
enum BinaryType u16 BRISC=0 NCRISC=1 TRISC0=2 TRISC1=3 TRISC2=4 ERISC=5
table CBDesc port@0:u32 memory_desc@1:MemoryDesc page_size@2:u64 num_buffers@3:u64
table CBRef global_id@0:u32 tensor_ref@1:TensorRef address@2:u64 desc@3:CBDesc
table Command type@1:CommandType debug_info@2:text
table CommandQueue name@0:text commands@1:[Command]
union CommandType EnqueueProgramCommand=1:EnqueueProgramCommand EnqueueWriteBufferCommand=2:EnqueueWriteBufferCommand EnqueueReadBufferCommand=3:EnqueueReadBufferCommand CreateBufferCommand=4:CreateBufferCommand DeallocateBufferCommand=5:DeallocateBufferCommand CreateEventCommand=6:CreateEventCommand EnqueueRecordEventCommand=7:EnqueueRecordEventCommand EnqueueWaitForEventCommand=8:EnqueueWaitForEventCommand EventSynchronizeCommand=9:EventSynchronizeCommand EventQueryCommand=10:EventQueryCommand FinishCommand=11:FinishCommand
table CreateBufferCommand ref@0:TensorRef
table CreateEventCommand ref@0:EventRef
table DeallocateBufferCommand ref@0:TensorRef
table DeviceProgram inputs@0:[TensorRef] outputs@1:[TensorRef] command_queues@2:[CommandQueue]
struct Dim2dRange 16 loc@0:Dim2d size@8:Dim2d
table EnqueueProgramCommand operands@0:[TensorRef] program@1:ProgramDesc
table EnqueueReadBufferCommand src@0:TensorRef dst@1:TensorRef
table EnqueueRecordEventCommand ref@0:EventRef
table EnqueueWaitForEventCommand ref@0:EventRef
table EnqueueWriteBufferCommand src@0:TensorRef dst@1:TensorRef
table EventQueryCommand ref@0:EventRef
table EventRef global_id@0:u32
table EventSynchronizeCommand ref@0:EventRef
table FinishCommand
union Kernel KernelSource=1:KernelSource KernelBinary=2:KernelBinary
table KernelBinary core_type@0:BinaryType data@1:[u8] debug_source@2:text
table KernelDesc kernel@1:Kernel core_range_set@2:[Dim2dRange] cbs@3:[CBRef] debug_info@4:text
table KernelSource source_type@0:SourceType source@1:text
table LayoutDesc stride@0:[i32] oob_val@1:OOBVal core_range_set@2:[Dim2dRange] memory_desc@3:MemoryDesc
table MemoryDesc shape@0:[i32] tile_shape@1:Dim2d data_type@2:DataType memory_space@3:MemorySpace memory_layout@4:TensorMemoryLayout size@5:u64
enum MemorySpace u16 System=0 SystemMMIO=1 DeviceDRAM=2 DeviceL1=3
enum OOBVal u16 Undef=0 Zero=1 One=2 Inf=3 NegInf=4
table Program name@0:text inputs@1:[TensorRef] outputs@2:[TensorRef] device_programs@3:[DeviceProgram]
table ProgramDesc kernels@0:[KernelDesc]
enum SourceType u16 Noc0=0 Noc1=1 Tensix=2 Ethernet=3
table TTMetalBinary version@0:Version ttmlir_git_hash@1:text system_desc@2:SystemDesc programs@3:[Program]
table TensorDesc shape@0:[i32] layout@1:LayoutDesc constant_data@2:[u8]
enum TensorMemoryLayout u16 None=0 Interleaved=1 SingleBank=2 HeightSharded=3 WidthSharded=4 BlockSharded=5
table TensorRef global_id@0:u32 address@1:u64 size@2:u64 desc@3:TensorDesc
