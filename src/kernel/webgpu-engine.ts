// What is on a device, and how it gets there and back: buffers, pipelines, errors. It knows rows and the shader, not what their
// numbers mean.
import type { LogitRows, RowsInput } from './rows.ts';
import { FORMATS, MOST_LANES, OUTPUTS, SHADER } from './wgsl.ts';

/** What browsers have as globals. */
export interface Constants {
  readonly GPUBufferUsage: Record<
    'STORAGE' | 'UNIFORM' | 'COPY_DST' | 'COPY_SRC' | 'MAP_READ' | 'MAP_WRITE',
    number
  >;
  readonly GPUMapMode: Record<'READ' | 'WRITE', number>;
}

/** What is on the device, ready to be computed: until the next is sent. */
export interface Sent {
  readonly rows: number;
  readonly pipeline: GPUComputePipeline;
  readonly group: GPUBindGroup;
  readonly out: GPUBuffer;
  readonly back: GPUBuffer;
  readonly outBytes: number;
  readonly errors: readonly Promise<GPUError | null>[];
}

/** Device, pipelines and buffers; the buffers grow with the chunks and are kept for the next. */
export class Engine {
  /** Kept, because Dawn's instance ends when it is collected, and takes the device's threads with it. */
  readonly gpu: GPU;
  readonly #device: GPUDevice;
  readonly #usage: Constants['GPUBufferUsage'];
  readonly #mode: Constants['GPUMapMode'];
  readonly #module: GPUShaderModule;
  readonly #stageBytes: number;
  readonly #pipelines = new Map<string, GPUComputePipeline>();
  readonly #buffers = new Map<string, GPUBuffer>();
  /** In the order in which they were sent; `mapped` when the device has read them. */
  readonly #stages: { readonly buffer: GPUBuffer; readonly mapped: Promise<undefined> }[] = [];

  constructor(gpu: GPU, device: GPUDevice, { GPUBufferUsage, GPUMapMode }: Constants, stageBytes: number) {
    this.#stageBytes = stageBytes;
    this.gpu = gpu;
    this.#device = device;
    this.#usage = GPUBufferUsage;
    this.#mode = GPUMapMode;
    this.#module = device.createShaderModule({ code: SHADER });
  }

  /** Logits and settings to the device. */
  async send({ policy, reference, targets, vocab, temperature }: RowsInput): Promise<Sent> {
    const rows = targets.length;
    const { STORAGE, COPY_DST, COPY_SRC, UNIFORM, MAP_READ } = this.#usage;
    const outBytes = rows * OUTPUTS * Float32Array.BYTES_PER_ELEMENT;
    for (const scope of SCOPES) this.#device.pushErrorScope(scope);
    const settings = new ArrayBuffer(SETTINGS_BYTES);
    new Uint32Array(settings).set([vocab, rows]);
    new Float32Array(settings)[2] = 1 / temperature;
    const policyBuffer = await this.#upload('policy', wholeWords(policy), STORAGE | COPY_DST);
    const referenceBuffer =
      reference === undefined
        ? undefined
        : await this.#upload('reference', wholeWords(reference), STORAGE | COPY_DST);
    const out = this.#buffer('out', outBytes, STORAGE | COPY_SRC);
    const back = this.#buffer('back', outBytes, MAP_READ | COPY_DST);
    const pipeline = this.#pipeline(policy.dtype, (reference ?? policy).dtype, lanesFor(vocab));
    const bindings = [
      policyBuffer,
      referenceBuffer ?? policyBuffer,
      out,
      await this.#upload('settings', new Uint8Array(settings), UNIFORM | COPY_DST),
    ];
    const group = this.#device.createBindGroup({
      layout: pipeline.getBindGroupLayout(0),
      entries: bindings.map((buffer, binding) => ({ binding, resource: { buffer } })),
    });
    const errors = SCOPES.map(() => this.#device.popErrorScope());
    return { rows, pipeline, group, out, back, outBytes, errors };
  }

  /** OUTPUTS numbers a row. Throws with the device's own words where it refuses something. */
  async run({ rows, pipeline, group, out, back, outBytes, errors }: Sent, passes = 1): Promise<Float32Array> {
    for (const scope of SCOPES) this.#device.pushErrorScope(scope);
    const encoder = this.#device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, group);
    const across = Math.min(rows, MOST_GROUPS);
    for (let at = 0; at < passes; at++) pass.dispatchWorkgroups(across, Math.ceil(rows / across));
    pass.end();
    encoder.copyBufferToBuffer(out, 0, back, 0, outBytes);
    this.#device.queue.submit([encoder.finish()]);
    const told = await Promise.all([...errors, ...SCOPES.map(() => this.#device.popErrorScope())]);
    const error = told.find((each) => each !== null);
    if (error) throw Object.assign(new Error(`webgpu: ${error.message}`), { code: 'ERR_WEBGPU' });
    await back.mapAsync(this.#mode.READ, 0, outBytes);
    const sums = new Float32Array(back.getMappedRange(0, outBytes).slice(0));
    back.unmap();
    return sums;
  }

  close(): void {
    for (const buffer of this.#buffers.values()) buffer.destroy();
    this.#buffers.clear();
    this.#device.destroy();
  }

  #pipeline(policy: LogitRows['dtype'], reference: LogitRows['dtype'], lanes: number): GPUComputePipeline {
    const key = `${policy} ${reference} ${lanes}`;
    const known = this.#pipelines.get(key);
    if (known !== undefined) return known;
    const formatOf = (dtype: LogitRows['dtype']): number => FORMATS[dtype as keyof typeof FORMATS];
    const made = this.#device.createComputePipeline({
      layout: 'auto',
      compute: {
        module: this.#module,
        constants: { lanes, policy_format: formatOf(policy), reference_format: formatOf(reference) },
      },
    });
    this.#pipelines.set(key, made);
    return made;
  }

  async #upload(name: string, bytes: Uint8Array<ArrayBuffer>, usage: number): Promise<GPUBuffer> {
    const buffer = this.#buffer(name, bytes.byteLength, usage);
    if (bytes.byteLength <= this.#stageBytes) {
      this.#device.queue.writeBuffer(buffer, 0, bytes);
      return buffer;
    }
    for (let from = 0; from < bytes.byteLength; from += this.#stageBytes) {
      const part = bytes.subarray(from, from + this.#stageBytes);
      const stage = await this.#stage();
      new Uint8Array(stage.getMappedRange(0, part.byteLength)).set(part);
      stage.unmap();
      const encoder = this.#device.createCommandEncoder();
      encoder.copyBufferToBuffer(stage, 0, buffer, from, part.byteLength);
      this.#device.queue.submit([encoder.finish()]);
      const mapped = stage.mapAsync(this.#mode.WRITE);
      // Of one that nobody waits for any more when the device is closed.
      mapped.catch(() => {});
      this.#stages.push({ buffer: stage, mapped });
    }
    return buffer;
  }

  /** The one that the device has been reading for longest, to be written. */
  async #stage(): Promise<GPUBuffer> {
    const first = this.#stages.length < STAGES ? undefined : this.#stages.shift();
    if (first === undefined) {
      const usage = this.#usage.MAP_WRITE | this.#usage.COPY_SRC;
      return this.#device.createBuffer({
        size: this.#stageBytes,
        usage,
        mappedAtCreation: true,
        label: 'stage',
      });
    }
    await first.mapped;
    return first.buffer;
  }

  #buffer(name: string, size: number, usage: number): GPUBuffer {
    const known = this.#buffers.get(name);
    if (known !== undefined && known.size >= size) return known;
    known?.destroy();
    const made = this.#device.createBuffer({ size, usage, label: name });
    this.#buffers.set(name, made);
    return made;
  }
}

// --- helpers ---

/** Workgroups along one dimension of a dispatch. */
const MOST_GROUPS = 65_535;
/** Copies to a buffer come in whole words. */
export const WORD = 4;
const SETTINGS_BYTES = 16;
/**
 * What is written in one go on its way to the device. Dawn's own way, writeBuffer, takes new memory for each large array, which
 * the driver has to pin: on an H100 1.5 GB/s, a ninth of what a copy in memory does.
 */
export const STAGE_BYTES = 2 ** 24;
/** One is written while the device reads the others. */
const STAGES = 3;

const SCOPES = ['validation', 'out-of-memory', 'internal'] as const;

/** Copies to the device come in whole words; an odd number of halves is copied once more, with one to spare. */
function wholeWords({ data }: LogitRows): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(data.buffer as ArrayBuffer, data.byteOffset, data.byteLength);
  if (bytes.byteLength % WORD === 0) return bytes;
  const padded = new Uint8Array(Math.ceil(bytes.byteLength / WORD) * WORD);
  padded.set(bytes);
  return padded;
}

/** A power of two, so that sums meet in pairs; no more threads than logits. */
function lanesFor(vocab: number): number {
  let lanes = 1;
  while (lanes < vocab && lanes < MOST_LANES) lanes *= 2;
  return lanes;
}
