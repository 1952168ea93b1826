import { formatBytes } from '../../base/pure/format.ts';
import { isObject, parseJson } from '../../base/pure/json.ts';

/** What the GPUs of a container say of themselves. */
export interface Gpu {
  readonly index: number;
  readonly uuid: string;
  /** Null: it does not say; that is not 0. */
  readonly usedBytes: number | null;
  readonly totalBytes: number | null;
  /** What an operator should know and what is no verdict: "2 uncorrected memory errors". */
  readonly notes: readonly string[];
}

export type GpuReading =
  | { readonly kind: 'read'; readonly gpus: readonly Gpu[] }
  /** There is nothing in this container that could tell: it has no GPU, as far as can be known. */
  | { readonly kind: 'none' }
  /** `remedy`: what may help. `none`: it is the machine's fault, and no restart helps. */
  | { readonly kind: 'fault'; readonly why: string; readonly remedy: 'restart' | 'recreate' | 'none' }
  /** It was asked and the answer cannot be understood, or it could not be asked. That is no verdict. */
  | { readonly kind: 'unknown'; readonly why: string };

// GPUs as JSON: what a command of one's own prints, and what the few lines of Python below print. A list with one entry per GPU: `[{
// "index": 0, "uuid": "GPU-…", "memory_used_bytes": 1073741824, "memory_total_bytes": 85899345920 }]`. `null`: there is none. `{ "error":
// CODE, "message": "…" }`: NVML failed with that code.

/** For images that have NVIDIA's Python bindings and no nvidia-smi. */
export const PYNVML: readonly string[] = [
  'python3',
  '-c',
  `import json
try:
    import pynvml as nvml
except ImportError:
    print("null")
    raise SystemExit
try:
    nvml.nvmlInit()
    gpus = []
    for i in range(nvml.nvmlDeviceGetCount()):
        handle = nvml.nvmlDeviceGetHandleByIndex(i)
        memory = nvml.nvmlDeviceGetMemoryInfo(handle)
        uuid = nvml.nvmlDeviceGetUUID(handle)
        uuid = uuid.decode() if isinstance(uuid, bytes) else uuid
        gpus.append({"index": i, "uuid": uuid, "memory_used_bytes": memory.used, "memory_total_bytes": memory.total})
    print(json.dumps(gpus))
except nvml.NVMLError as error:
    print("null" if error.value == 12 else json.dumps({"error": error.value, "message": str(error)}))`,
];

const MAX_QUOTED_JSON = 120;

export function readGpuJson(code: number, output: string): GpuReading {
  const said = output.trim();
  if (code !== 0) {
    const last = said.split('\n').at(-1)?.slice(0, MAX_QUOTED_JSON) ?? '';
    return { kind: 'fault', why: `the GPU command failed with code ${code}: ${last}`, remedy: 'restart' };
  }
  const value = parseJson(said);
  if (value === null) return { kind: 'none' };
  if (isObject(value) && typeof value['error'] === 'number')
    return nvmlFault(value['error'], typeof value['message'] === 'string' ? value['message'] : '');
  const gpus = Array.isArray(value) ? value.map(readGpu) : [null];
  const broken = gpus.includes(null);
  if (broken)
    return {
      kind: 'unknown',
      why: `the GPU command printed what cannot be understood: ${said.slice(0, MAX_QUOTED_JSON)}`,
    };
  return { kind: 'read', gpus: gpus as Gpu[] };
}

function readGpu(entry: unknown, position: number): Gpu | null {
  if (!isObject(entry)) return null;
  const { index = position, uuid = `gpu-${position}`, memory_used_bytes: used, memory_total_bytes: total } = entry;
  const isSize = (value: unknown): value is number | null | undefined =>
    value === null || value === undefined || (typeof value === 'number' && value >= 0 && Number.isFinite(value));
  if (typeof index !== 'number' || typeof uuid !== 'string' || !isSize(used) || !isSize(total)) return null;
  return { index, uuid, usedBytes: used ?? null, totalBytes: total ?? null, notes: [] };
}

// Asks nvidia-smi, and reads what it prints with suspicion: its output is not promised to stay as it is.

const MEMORY = 'index,uuid,memory.total,memory.used';
const MORE = 'ecc.errors.uncorrected.volatile.total,remapped_rows.pending';
const query = (fields: string): readonly string[] => [
  'nvidia-smi',
  `--query-gpu=${fields}`,
  '--format=csv,noheader,nounits',
];
export const NVIDIA_SMI = query(`${MEMORY},${MORE}`);
/** For those that do not know all of it. */
export const OLD_NVIDIA_SMI = query(MEMORY);

/** NVML: an argument it does not understand. */
export const BAD_ARGUMENT = 2;
/** NVML: a damaged infoROM. It is told beside the answers, which are there. */
const INFOROM = 14;
const BYTES_PER_MIB = 2 ** 20;
const MAX_QUOTED = 120;

export function readNvidiaSmi(code: number, output: string): GpuReading {
  if (code !== 0 && code !== INFOROM) return nvmlFault(code, output);
  const lines = output
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '' && !/^warning/i.test(line));
  if (lines.length === 0 || /^No devices were found/i.test(lines[0]!)) return nvmlFault(6, lines[0] ?? '');
  const gpus: Gpu[] = [];
  for (const line of lines) {
    const gpu = readRow(line);
    if (gpu === null) return faultInWords(line);
    gpus.push(code === INFOROM ? { ...gpu, notes: [...gpu.notes, 'its infoROM is damaged'] } : gpu);
  }
  return { kind: 'read', gpus };
}

/** Some versions exit with 0 and complain on a line of their own. */
function faultInWords(line: string): GpuReading {
  if (/Failed to initialize NVML|GPU is lost|Unable to determine the device handle/i.test(line))
    return nvmlFault(255, line);
  return { kind: 'unknown', why: `nvidia-smi printed what cannot be understood: ${line.slice(0, MAX_QUOTED)}` };
}

function readRow(line: string): Gpu | null {
  const [index = '', uuid = '', total = '', used = '', ecc, pending, ...rest] = line
    .split(',')
    .map((field) => field.trim());
  if (!/^\d+$/.test(index) || !/^[\w.-]+$/.test(uuid) || rest.length > 0) return null;
  const totalMib = numberOf(total);
  const usedMib = numberOf(used);
  if (totalMib === undefined || usedMib === undefined) return null;
  return {
    index: Number(index),
    uuid,
    totalBytes: inBytes(totalMib),
    usedBytes: inBytes(usedMib),
    notes: notesOf(ecc, pending),
  };
}

/** Null: it says that it does not know, in one of its ways. Undefined: that is no answer at all. */
function numberOf(field: string): number | null | undefined {
  if (/^\d+(\.\d+)?$/.test(field)) return Number(field);
  return /^(\[.*\]|ERR!|N\/A)$/.test(field) ? null : undefined;
}

const inBytes = (mib: number | null): number | null => (mib === null ? null : mib * BYTES_PER_MIB);

function notesOf(ecc: string | undefined, pending: string | undefined): string[] {
  const errors = numberOf(ecc ?? '') ?? 0;
  return [
    ...(errors > 0 ? [`${errors} uncorrected memory errors`] : []),
    ...(/^(yes|1)$/i.test(pending ?? '') ? ['it must be reset to replace bad memory rows'] : []),
  ];
}

// NVML's error codes, which are also the exit codes of nvidia-smi, and what may help against each.

type Fault = Extract<GpuReading, { kind: 'fault' }>;

/** Of the machine: a restart of the container changes nothing. */
const OF_THE_HOST: Readonly<Record<number, string>> = {
  8: 'a GPU has no power: its cable is not attached properly',
  9: 'the NVIDIA driver is not loaded on this machine',
  12: 'the NVIDIA library (NVML) is missing',
  15: 'a GPU is lost: it fell off the bus or is otherwise inaccessible',
};
/** Of the container: its access to the devices is gone, or its libraries do not fit the driver any more. */
const OF_THE_CONTAINER: Readonly<Record<number, string>> = {
  4: 'no permission to use the GPU',
  6: 'no GPU was found',
  18: "the container's NVIDIA library does not fit the driver",
};

const LOST = /GPU is lost|fallen off the bus|Reboot the system/i;
/** The cgroup lost its devices, as after "systemctl daemon-reload": only a new container gets them back. */
const NO_ACCESS = /Failed to initialize NVML: (Unknown Error|Insufficient Permissions)|No devices were found/i;
const MISMATCH = /Driver\/library version mismatch/i;

/** `said`: its own words, which go before the code: 255 is the code of many things. */
export function nvmlFault(code: number, said: string): Fault {
  const words = said.trim().split('\n')[0]?.trim() ?? '';
  const fault = (what: string, remedy: Fault['remedy']): Fault => ({
    kind: 'fault',
    why: words === '' || what === words ? what : `${what} (${words})`,
    remedy,
  });
  if (LOST.test(said)) return fault(OF_THE_HOST[15]!, 'none');
  if (NO_ACCESS.test(said)) return fault('the container has lost its GPU', 'recreate');
  if (MISMATCH.test(said)) return fault(OF_THE_CONTAINER[18]!, 'recreate');
  const host = OF_THE_HOST[code];
  if (host !== undefined) return fault(host, 'none');
  const own = OF_THE_CONTAINER[code];
  if (own !== undefined) return fault(own, 'recreate');
  return fault(`asking for the GPUs failed with code ${code}`, 'restart');
}

// Whether GPUs are fit for the next experiment.

export interface GpuRules {
  /** Null: how full they are does not matter now. */
  readonly thresholdPct: number | null;
  /** How many there were when they were first seen; null: not seen yet. */
  readonly expected: number | null;
}

export interface GpuVerdict {
  readonly status: 'healthy' | 'unhealthy' | 'unknown';
  /** A sentence; empty: nothing to say. */
  readonly reason: string;
  readonly remedy: 'restart' | 'recreate' | 'none';
  /** Of the fullest; null: none says. */
  readonly usedBytes: number | null;
  readonly totalBytes: number | null;
}

type Known = Gpu & { readonly usedBytes: number; readonly totalBytes: number };

/** Null: there is no GPU to judge. */
export function judgeGpus(reading: GpuReading, { thresholdPct, expected }: GpuRules): GpuVerdict | null {
  if (reading.kind === 'none') {
    if (expected === null || expected === 0) return null;
    return unhealthy(`the container had ${expected} and nothing in it answers for GPUs any more`, 'recreate', null);
  }
  if (reading.kind === 'fault') return unhealthy(reading.why, reading.remedy, null);
  if (reading.kind === 'unknown') return { ...unhealthy(reading.why, 'restart', null), status: 'unknown' };
  const { gpus } = reading;
  if (expected !== null && gpus.length < expected)
    return unhealthy(`a GPU is missing: ${gpus.length} of ${expected} answer`, 'recreate', fullest(gpus));
  if (gpus.length === 0) return null;
  const full = fullest(gpus);
  const notes = gpus.flatMap((gpu) => gpu.notes.map((note) => `GPU ${gpu.index}: ${note}`));
  if (full === null)
    return {
      ...unhealthy('', 'none', null),
      status: 'healthy',
      reason: ['no GPU says how full it is', ...notes].join('; '),
    };
  const pct = shareOf(full) * 100;
  if (thresholdPct !== null && pct > thresholdPct) return unhealthy(tooFull(full, pct, thresholdPct), 'restart', full);
  return { ...unhealthy('', 'none', full), status: 'healthy', reason: notes.join('; ') };
}

const tooFull = (gpu: Known, pct: number, thresholdPct: number): string =>
  `memory of GPU ${gpu.index} is ${pct.toFixed(1)} % full (${formatBytes(gpu.usedBytes)} of ${formatBytes(gpu.totalBytes)}), more than ${thresholdPct} %`;

function unhealthy(reason: string, remedy: GpuVerdict['remedy'], full: Known | null): GpuVerdict {
  return {
    status: 'unhealthy',
    reason,
    remedy,
    usedBytes: full?.usedBytes ?? null,
    totalBytes: full?.totalBytes ?? null,
  };
}

const shareOf = (gpu: Known): number => gpu.usedBytes / gpu.totalBytes;
const isKnown = (gpu: Gpu): gpu is Known => gpu.usedBytes !== null && gpu.totalBytes !== null && gpu.totalBytes > 0;

function fullest(gpus: readonly Gpu[]): Known | null {
  return gpus
    .filter(isKnown)
    .reduce<Known | null>((most, gpu) => (most && shareOf(most) >= shareOf(gpu) ? most : gpu), null);
}
