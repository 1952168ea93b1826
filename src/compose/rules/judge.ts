/** Whether GPUs are fit for the next experiment. */
import { formatBytes } from '../../base/pure/bytes.ts';
import type { Gpu, GpuReading } from './gpu.ts';

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
