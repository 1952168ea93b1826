/**
 * GPUs as JSON: what a command of one's own prints, and what the few lines of Python below print. A list with one entry per GPU:
 * `[{ "index": 0, "uuid": "GPU-…", "memory_used_bytes": 1073741824, "memory_total_bytes": 85899345920 }]`. `null`: there is none.
 * `{ "error": CODE, "message": "…" }`: NVML failed with that code.
 */
import { isObject, parseJson } from '../../base/pure/json.ts';
import { nvmlFault } from './nvml.ts';
import type { Gpu, GpuReading } from './gpu.ts';

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

const MAX_QUOTED = 120;

export function readGpuJson(code: number, output: string): GpuReading {
  const said = output.trim();
  if (code !== 0) {
    const last = said.split('\n').at(-1)?.slice(0, MAX_QUOTED) ?? '';
    return { kind: 'fault', why: `the GPU command failed with code ${code}: ${last}`, remedy: 'restart' };
  }
  const value = parseJson(said);
  if (value === null) return { kind: 'none' };
  if (isObject(value) && typeof value['error'] === 'number')
    return nvmlFault(value['error'], typeof value['message'] === 'string' ? value['message'] : '');
  const gpus = Array.isArray(value) ? value.map(readGpu) : [null];
  const broken = gpus.includes(null);
  if (broken)
    return { kind: 'unknown', why: `the GPU command printed what cannot be understood: ${said.slice(0, MAX_QUOTED)}` };
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
