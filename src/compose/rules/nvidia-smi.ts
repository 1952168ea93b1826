/** Asks nvidia-smi, and reads what it prints with suspicion: its output is not promised to stay as it is. */
import { nvmlFault } from './nvml.ts';
import type { Gpu, GpuReading } from './gpu.ts';

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
