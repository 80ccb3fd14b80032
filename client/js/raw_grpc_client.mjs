// Example: adds two vectors on 16 tiles, with the .proto files and grpc-js alone.
//
//   node raw_grpc_client.mjs PROTO_DIR KERNEL.elf [ADDRESS]
//
// KERNEL.elf is firmware/kernels/vector_add.cc. `npm install` in this folder brings the two packages it needs.
import {readFileSync} from 'node:fs';
import {createHash} from 'node:crypto';
import {Session, loadApi} from './raw_session.mjs';

const ELEMENTS = 16384, PAGE_BYTES = 2048, TILES = 16, QUEUE = 0;
const [A, B, C, KERNEL, PROGRAM] = [1, 2, 3, 4, 5];  // handles: any numbers, one space for all kinds
const CORES = [{x0: 0, y0: 0, x1: 3, y1: 3}];

function commands(a, b, elf) {
  const bytes = 4 * ELEMENTS, share = bytes / PAGE_BYTES / TILES;
  return [
    ...[A, B, C].map((handle) => ({allocate: {handle, size_bytes: bytes, page_bytes: PAGE_BYTES, dram: {}}})),
    {write: {buffer: A, size: bytes, inline: Buffer.from(a.buffer)}},
    {write: {buffer: B, size: bytes, inline: Buffer.from(b.buffer)}},
    {load_kernel: {handle: KERNEL, sha256: createHash('sha256').update(elf).digest(), size: elf.length, streamed: true,
                   name: 'vector_add'}},
    {create_program: {handle: PROGRAM, kernels: [{kernel: KERNEL, processor: 'PROCESSOR_BRISC', cores: CORES}],
                      circular_buffers: [{index: 0, pages: 4, page_bytes: PAGE_BYTES, cores: CORES}]}},
    {launch: {program: PROGRAM, arguments: [{
      common: [0, 0, 0, PAGE_BYTES],  // the daemon puts the buffers' addresses into words 0 to 2
      buffers: [{word: 0, buffer: A}, {word: 1, buffer: B}, {word: 2, buffer: C}],
      per_core: Array.from({length: TILES}, (_, tile) => [tile * share, share]).flat(), words_per_core: 2}]}},
    {read: {buffer: C, size: bytes}},
  ];
}

const [protoDir, kernel, address = process.env.TTFD_ADDRESS ?? 'unix:/run/ttfd/ttfd.sock'] = process.argv.slice(2);
if (kernel === undefined) {
  console.error('usage: raw_grpc_client.mjs PROTO_DIR KERNEL.elf [ADDRESS]');
  process.exit(2);
}
const elf = readFileSync(kernel);
const a = Uint32Array.from({length: ELEMENTS}, (_, i) => Math.imul(i, 2654435761) >>> 0);
const b = Uint32Array.from({length: ELEMENTS}, (_, i) => Math.imul(i + 7, 2246822519) >>> 0);
const session = await Session.connect(loadApi(protoDir), address, {client_name: 'raw_grpc_client.mjs'});
const job = commands(a, b, elf);
const load = job.findIndex((command) => command.load_kernel) + 1;  // command i has value i + 1
await session.send({open_queues: [{queue: QUEUE, kind: 'QUEUE_KIND_COMPUTE'}],
                    batches: [{queue: QUEUE, first_value: 1, commands: job}]});
const chunk = session.welcome.limits.chunk_bytes;
for (let offset = 0; offset < elf.length; offset += chunk) {
  await session.send({data: [{queue: QUEUE, value: load, offset, payload: elf.subarray(offset, offset + chunk)}]});
}
await session.wait(QUEUE, job.length);
for (const error of session.errors) console.error(`command ${error.first_value}: ${error.status.message}`);
const result = session.data.get(`${QUEUE}:${job.length}`) ?? Buffer.alloc(0);
await session.close();
const right = result.length === 4 * ELEMENTS && a.every((x, i) => result.readUInt32LE(4 * i) === (x + b[i]) >>> 0);
console.log(right ? `verified: all ${ELEMENTS} sums are right, ${job.length} commands in one conversation`
                  : `WRONG: ${result.length} bytes came back`);
process.exit(right ? 0 : 1);
