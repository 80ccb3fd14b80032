# Tables of tt-mlir's ttmetal files with this hash. Written by make_profile.py; src/profile.h has the format.
extends system-92f6a8a87b72
file TTM0
hash dcfff37afffdddc22dde3c9e85e6a364193fdf761495360696b1dbe3376dc696
root TTMetalBinary
without SystemDescRoot
union ArgRef BufferRef=1:BufferRef GlobalSemaphoreRef=2:GlobalSemaphoreRef LocalSemaphoreRef=3:LocalSemaphoreRef
enum BinaryType u16 BRISC=0 NCRISC=1 TRISC0=2 TRISC1=3 TRISC2=4 ERISC=5
union BufferConfig ShardedBufferConfig=1:ShardedBufferConfig InterleavedBufferConfig=2:InterleavedBufferConfig
table BufferDesc shape@0:[i32] host_strides@1:[i32] host_volume@2:u64 data_type@3:DataType element_shape@4:Dim2d buffer_detail@6:BufferDetail mesh@7:text
union BufferDetail SystemBuffer=1:SystemBuffer MetalBuffer=2:MetalBuffer
table BufferDistributionSpec tensor_shape_in_pages@0:[u32] shard_shape_in_pages@1:[u32] cores@2:[Dim2d]
table BufferRef global_id@0:u32 address@1:u64 desc@2:BufferDesc
enum BufferType u16 DRAM=0 L1=1 SystemMemory=2 L1Small=3 Trace=4
table CBRef port@0:u32 buffer_ref@1:BufferRef
table CircularBufferConfig core_range_set@0:[Dim2dRange] total_size@1:u64 page_size@2:u64 num_buffers@3:u64
table Command type@1:CommandType loc@2:text debug_info@3:text
table CommandQueue name@0:text queue_id@1:u32 commands@2:[Command]
union CommandType HostAllocCommand=1:HostAllocCommand ReturnCommand=2:ReturnCommand EnqueueProgramCommand=3:EnqueueProgramCommand EnqueueWriteBufferCommand=4:EnqueueWriteBufferCommand EnqueueReadBufferCommand=5:EnqueueReadBufferCommand CreateBufferCommand=6:CreateBufferCommand DeallocateBufferCommand=7:DeallocateBufferCommand CreateGlobalSemaphoreCommand=8:CreateGlobalSemaphoreCommand ResetGlobalSemaphoreCommand=9:ResetGlobalSemaphoreCommand CreateLocalSemaphoreCommand=10:CreateLocalSemaphoreCommand EnqueueRecordEventCommand=11:EnqueueRecordEventCommand EnqueueWaitForEventCommand=12:EnqueueWaitForEventCommand EventSynchronizeCommand=13:EventSynchronizeCommand MemrefCopyCommand=14:MemrefCopyCommand CpuCommand=15:CpuCommand FinishCommand=16:FinishCommand MeshShardCommand=17:MeshShardCommand
table ComputeConfig math_fidelity@0:MathFidelity fp32_dest_acc_en@1:bool dst_full_sync_en@2:bool math_approx_mode@3:bool unpack_to_dest_mode@4:[UnpackToDestMode]
table CpuCommand ins@0:[BufferRef] outs@1:[BufferRef] func_name@2:text dylib_id@3:u32
table CreateBufferCommand ref@0:BufferRef
table CreateGlobalSemaphoreCommand ref@0:GlobalSemaphoreRef initial_value@1:u32? core_range_set@2:[Dim2dRange]
table CreateLocalSemaphoreCommand ref@0:LocalSemaphoreRef
enum DataMovementProcessor u16 RISCV_0=0 RISCV_1=1 RISCV_2=2 RISCV_3=3 RISCV_4=4 RISCV_5=5 RISCV_6=6 RISCV_7=7
table DeallocateBufferCommand ref@0:BufferRef
table DebugInfo cpp@0:text mlir_stages@1:[MLIR] golden_info@2:GoldenInfo
table DeviceProgram inputs@0:[BufferRef] outputs@1:[BufferRef] command_queues@2:[CommandQueue] mesh@3:MeshDesc
struct Dim2dRange 16 loc@0:Dim2d size@8:Dim2d
table DynamicLib dylib_id@0:u32 raw_file@1:[u8]
table EnqueueProgramCommand arg_refs@1:[ArgRef] cbs@2:[CBRef] program@3:ProgramDesc fabric_connection_configs@4:[FabricConnectionConfig]
table EnqueueReadBufferCommand src@0:BufferRef dst@1:BufferRef
table EnqueueRecordEventCommand ref@0:EventRef
table EnqueueWaitForEventCommand ref@0:EventRef
table EnqueueWriteBufferCommand src@0:BufferRef dst@1:BufferRef
enum EthType u16 Sender=0 Receiver=1
table EthernetConfig eth_type@0:EthType noc_index@1:NocIndex
table EventRef global_id@0:u32
table EventSynchronizeCommand ref@0:EventRef
table FabricConnectionConfig noc_index@0:NocIndex topology@1:Topology cluster_axis@2:u32 routing_mode@3:RoutingMode num_links@4:u32
table FinishCommand
table GlobalSemaphoreRef global_id@0:u32 address@1:u64
table GoldenDeviceTensor device@0:u32 value@1:GoldenTensor
table GoldenInfo golden_map@0:[GoldenKV]
table GoldenKV key@0:text value@1:[GoldenDeviceTensor]
table GoldenTensor name@0:text shape@1:[i64] stride@2:[i64] dtype@3:DataType data@4:[u8]
table HostAllocCommand dst@0:BufferRef data@1:[u8]
table InterleavedBufferConfig size@0:u64 page_size@1:u64
union Kernel KernelSource=1:KernelSource KernelBinary=2:KernelBinary
table KernelArg arg@1:KernelArgType
table KernelArgBufferAddress operand_idx@0:u32
table KernelArgCBPort operand_idx@0:u32
table KernelArgGlobalSemaphore operand_idx@0:u32
table KernelArgLocalSemaphore operand_idx@0:u32
table KernelArgNamedArgument name@0:text value@1:u32
table KernelArgScalar operand_idx@0:u32
table KernelArgTensorAccessorArgs operand_idx@0:u32
union KernelArgType KernelArgCBPort=1:KernelArgCBPort KernelArgBufferAddress=2:KernelArgBufferAddress KernelArgLocalSemaphore=3:KernelArgLocalSemaphore KernelArgNamedArgument=4:KernelArgNamedArgument KernelArgGlobalSemaphore=5:KernelArgGlobalSemaphore KernelArgScalar=6:KernelArgScalar KernelArgTensorAccessorArgs=7:KernelArgTensorAccessorArgs
table KernelArgs crt_args@0:[KernelArg] rt_args@1:[KernelArg] ct_args@2:[KernelArg]
table KernelBinary core_type@0:BinaryType data@1:[u8] debug_source@2:text
table KernelConfig kernel@1:Kernel core_range_set@2:[Dim2dRange] args@3:KernelArgs type@5:KernelConfigType debug_info@6:text symbol@7:text loc@8:text
union KernelConfigType NocConfig=1:NocConfig ComputeConfig=2:ComputeConfig EthernetConfig=3:EthernetConfig
table KernelSource source@0:text
table LayoutDesc memory_desc@0:MemoryDesc
table LocalSemaphoreRef global_id@0:u32 initial_value@1:u32
table MLIR name@0:text source@1:text
enum MathFidelity u8 LoFi=0 HiFi2=2 HiFi3=3 HiFi4=4
table MemoryDesc data_type@0:DataType
table MemrefCopyCommand src@0:BufferRef dst@1:BufferRef
table MeshDesc name@0:text mesh_shape@1:[i64] mesh_offset@2:[i64]
table MeshShardCommand src@0:BufferRef dst@1:BufferRef shard_type@2:MeshShardType shard_direction@3:MeshShardDirection shard_shape@4:[i64] shard_dims@5:[i64]
enum MeshShardDirection u32 FullToShardShape=0 ShardToFullShape=1
enum MeshShardType u32 Replicate=0 Maximal=1 Devices=2
table MetalBuffer buffer_type@0:BufferType buffer_config@2:BufferConfig circular_buffer_config@3:CircularBufferConfig
table NocConfig processor@0:DataMovementProcessor noc_index@1:NocIndex fabric_config_index@2:u32?
enum NocIndex u16 Noc0=0 Noc1=1
table Program name@0:text inputs@1:[TensorRef] outputs@2:[TensorRef] device_programs@3:[DeviceProgram] debug_info@4:DebugInfo private@5:bool mesh_shape@6:Dim2d
table ProgramDesc kernels@0:[KernelConfig]
table ResetGlobalSemaphoreCommand ref@0:GlobalSemaphoreRef value@1:u32
table ReturnCommand results@0:[BufferRef]
enum RoutingMode u16 BidirLineMesh=0 UnidirRingTorus=1
table ShardSpec core_range_set@0:[Dim2dRange] shard_shape@1:Dim2d
table ShardSpecBuffer shard_spec@0:ShardSpec page_shape@1:Dim2d tensor_shape_in_pages@2:Dim2d
table ShardedBufferConfig size@0:u64 page_size@1:u64 shard_spec_buffer@2:ShardSpecBuffer buffer_distribution_spec@3:BufferDistributionSpec
table SystemBuffer stride@0:[i32]
table TTMetalBinary version@0:Version schema_hash@1:text ttmlir_git_hash@2:text system_desc@3:SystemDesc mlir@4:MLIR programs@5:[Program] dylibs@6:[DynamicLib]
table TensorDesc shape@0:[i32] mesh_shape@1:[i32] layout@2:LayoutDesc
table TensorRef size@0:u64 desc@1:TensorDesc
enum Topology u16 Ring=0 Linear=1 Mesh=2 Torus=3
enum UnpackToDestMode u8 Fp32=0 Default=1
