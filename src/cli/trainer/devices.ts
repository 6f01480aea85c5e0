// Which GPUs each of several workers sees: what --gpus-per-worker means on this machine. Frameworks count their devices
// from the variable that hides the others, so that a worker is given its share by that variable alone.
import { readdirSync } from 'node:fs';
import { plural } from '../../report/text/plural.ts';
import type { Context, Problem } from '../context.ts';

/** What a machine says of its GPUs. */
export interface Machine {
  readonly env: Context['env'];
  /** Devices of NVIDIA that processes can open here. */
  readonly nvidia: number;
  /** And of AMD. */
  readonly amd: number;
}

export interface VisibleGpus {
  /** What hides devices from frameworks. */
  readonly variable: 'CUDA_VISIBLE_DEVICES' | 'HIP_VISIBLE_DEVICES' | 'ROCR_VISIBLE_DEVICES';
  /** As that variable names them: `0`, `GPU-8932f937`, `MIG-…`. */
  readonly ids: readonly string[];
  /** The variable says so; else they were counted. */
  readonly said: boolean;
}

/** The GPUs that this process, and so a trainer that it starts, may use. */
export function visibleGpus({ env, nvidia, amd }: Machine): VisibleGpus {
  const listed = VARIABLES.map((variable) => ({ variable, ids: idsIn(env[variable]) }));
  // The variable of CUDA is understood by both makers' builds of torch, but only where their own does not say otherwise.
  const ordered = amd > 0 && nvidia === 0 ? [...listed].reverse() : listed;
  for (const { variable, ids } of ordered) if (ids !== undefined) return { variable, ids, said: true };
  const variable = amd > 0 && nvidia === 0 ? 'HIP_VISIBLE_DEVICES' : 'CUDA_VISIBLE_DEVICES';
  const count = nvidia > 0 ? nvidia : amd;
  return { variable, ids: Array.from({ length: count }, (_, at) => String(at)), said: false };
}

/** What is added to the environment of each worker, the first one's first; or why they do not fit. */
export function gpusOfWorkers(
  workers: number,
  gpusPerWorker: number,
  visible: VisibleGpus,
): readonly Readonly<Record<string, string>>[] | Problem {
  const { variable, ids } = visible;
  const whole = Number.isInteger(gpusPerWorker);
  if (!(gpusPerWorker > 0) || (!whole && gpusPerWorker > 1))
    return {
      problem: `--gpus-per-worker ${gpusPerWorker}: it must be a whole number of GPUs, or the share of one, as 0.5`,
    };
  const fit = mostWorkers(gpusPerWorker, visible);
  if (workers > fit) return { problem: tooMany(workers, gpusPerWorker, visible, fit) };
  return Array.from({ length: workers }, (_, worker) => ({
    [variable]: whole
      ? ids.slice(worker * gpusPerWorker, (worker + 1) * gpusPerWorker).join(',')
      : // One on each GPU before any GPU has two.
        (ids[worker % ids.length] ?? ''),
  }));
}

/** How many workers the GPUs allow. */
export function mostWorkers(gpusPerWorker: number, { ids }: VisibleGpus): number {
  return gpusPerWorker >= 1
    ? Math.floor(ids.length / gpusPerWorker)
    : ids.length * Math.floor(1 / gpusPerWorker + ROUNDING);
}

/** The GPUs of this machine, as its files tell. */
export function thisMachine(env: Context['env']): Machine {
  // In a container there are the devices that it was given; the driver's own folder tells of all of the host.
  const devices = named('/dev', /^nvidia\d+$/);
  const nodes = named('/sys/class/kfd/kfd/topology/nodes', /^\d+$/);
  return {
    env,
    nvidia: devices.length > 0 ? devices.length : named('/proc/driver/nvidia/gpus', /./).length,
    // Nodes of the topology are processors, too; a device to render with is a GPU's own.
    amd: nodes.length === 0 ? 0 : named('/dev/dri', /^renderD\d+$/).length,
  };
}

const VARIABLES = ['CUDA_VISIBLE_DEVICES', 'HIP_VISIBLE_DEVICES', 'ROCR_VISIBLE_DEVICES'] as const;

/** 1 / 0.1 is 10. */
const ROUNDING = 1e-9;

/** As CUDA reads it: what stands behind the first id that is none is not seen. Undefined: it is not set. */
function idsIn(value: string | undefined): readonly string[] | undefined {
  if (value === undefined) return undefined;
  const ids = value.split(',').map((id) => id.trim());
  const end = ids.findIndex((id) => id === '' || id.startsWith('-') || id === 'NoDevFiles' || id === 'void');
  return end < 0 ? ids : ids.slice(0, end);
}

function tooMany(workers: number, gpusPerWorker: number, visible: VisibleGpus, fit: number): string {
  const { variable, ids, said } = visible;
  const seen = said
    ? `${variable} allows ${plural(ids.length, 'GPU')}`
    : `there are ${plural(ids.length, 'GPU')}`;
  const wanted = `${plural(workers, 'worker')} with --gpus-per-worker ${gpusPerWorker}`;
  if (ids.length === 0) {
    const none = said ? `${variable} hides all of them` : 'no GPU is found on this machine';
    return `${wanted}: ${none}; leave --gpus-per-worker out where the trainer computes without one`;
  }
  const share = shareFor(workers, ids.length);
  const enough = fit === 0 ? '' : `--workers ${fit}, or `;
  return `${wanted} do not fit, ${seen}: say ${enough}--gpus-per-worker ${share}`;
}

/** The largest that lets so many workers fit. */
function shareFor(workers: number, gpus: number): number {
  if (workers <= gpus) return Math.floor(gpus / workers);
  return Math.floor(100 / Math.ceil(workers / gpus)) / 100;
}

function named(folder: string, name: RegExp): readonly string[] {
  try {
    return readdirSync(folder).filter((each) => name.test(each));
  } catch {
    return [];
  }
}
