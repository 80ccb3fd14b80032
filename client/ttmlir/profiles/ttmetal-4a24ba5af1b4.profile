# Tables of tt-mlir's ttmetal files with this hash. Written by make_profile.py; src/profile.h has the format.
extends ttmetal-ecca7b12e832
file TTM0
hash 4a24ba5af1b48d81acc83a89e5f922df4445007817474a61dad40bccf2c3cab7
root TTMetalBinary
without ArgRef BufferDistributionSpec CreateGlobalSemaphoreCommand CreateLocalSemaphoreCommand FabricConnectionConfig GlobalSemaphoreRef KernelArgGlobalSemaphore KernelArgLocalSemaphore KernelArgNamedArgument KernelArgScalar LocalSemaphoreRef ResetGlobalSemaphoreCommand RoutingMode Topology
enum Arch u32 Grayskull=0 Wormhole_b0=1 Blackhole=2
table ChipDesc arch@0:Arch grid_size@1:Dim2d coord_translation_offsets@2:Dim2d l1_size@3:u64 num_dram_channels@4:u32 dram_channel_size@5:u64 noc_l1_address_align_bytes@6:u32 pcie_address_align_bytes@7:u32 noc_dram_address_align_bytes@8:u32 l1_unreserved_base@9:u32 erisc_l1_unreserved_base@10:u32 dram_unreserved_base@11:u32 dram_unreserved_end@12:u32 supported_data_types@13:[DataType] supported_tile_sizes@14:[Dim2d] dst_physical_size_tiles@15:u32 num_cbs@16:u32 num_compute_threads@17:u32 num_datamovement_threads@18:u32
union CommandType HostAllocCommand=1:HostAllocCommand ReturnCommand=2:ReturnCommand EnqueueProgramCommand=3:EnqueueProgramCommand EnqueueWriteBufferCommand=4:EnqueueWriteBufferCommand EnqueueReadBufferCommand=5:EnqueueReadBufferCommand CreateBufferCommand=6:CreateBufferCommand DeallocateBufferCommand=7:DeallocateBufferCommand EnqueueRecordEventCommand=8:EnqueueRecordEventCommand EnqueueWaitForEventCommand=9:EnqueueWaitForEventCommand EventSynchronizeCommand=10:EventSynchronizeCommand MemrefCopyCommand=11:MemrefCopyCommand CpuCommand=12:CpuCommand FinishCommand=13:FinishCommand MeshShardCommand=14:MeshShardCommand
enum CoreType u16 WORKER=0 ETH=1
table CpuCommand ins@0:[BufferRef] out@1:BufferRef func_name@2:text dylib_id@3:u32
table EnqueueProgramCommand buffers@0:[BufferRef] cbs@1:[CBRef] program@2:ProgramDesc
table KernelArgSemaphore initial_value@0:u32 core_type@1:CoreType
union KernelArgType KernelArgCBPort=1:KernelArgCBPort KernelArgBufferAddress=2:KernelArgBufferAddress KernelArgSemaphore=3:KernelArgSemaphore
table ShardedBufferConfig size@0:u64 page_size@1:u64 shard_spec_buffer@2:ShardSpecBuffer
