# Tables of tt-mlir's ttmetal files with this hash. Written by make_profile.py; src/profile.h has the format.
extends ttmetal-dcfff37afffd
file TTM0
hash ecca7b12e8325941aefd9cd1cefc7295ae2378e773b49d30c78048ef17db2193
root TTMetalBinary
without DataMovementProcessor KernelArgTensorAccessorArgs
table EnqueueProgramCommand arg_refs@1:[ArgRef] cbs@2:[CBRef] program@3:ProgramDesc fabric_connection_config@4:FabricConnectionConfig
union KernelArgType KernelArgCBPort=1:KernelArgCBPort KernelArgBufferAddress=2:KernelArgBufferAddress KernelArgLocalSemaphore=3:KernelArgLocalSemaphore KernelArgNamedArgument=4:KernelArgNamedArgument KernelArgGlobalSemaphore=5:KernelArgGlobalSemaphore KernelArgScalar=6:KernelArgScalar
table KernelArgs rt_args@0:[KernelArg] ct_args@1:[KernelArg]
enum MeshShardType u32 Identity=0 Replicate=1 Maximal=2 Devices=3
table NocConfig noc_index@0:NocIndex
