import { expect, test } from 'vitest';
import { judgeGpus, readGpuJson, readNvidiaSmi } from '../../../../src/compose/rules/gpu.ts';

const MIB = 2 ** 20;
const judge = (code: number, output: string, expected: number | null = null, thresholdPct: number | null = 90) =>
  judgeGpus(readNvidiaSmi(code, output), { thresholdPct, expected });

const row = (index: number, used: string, total = '81559', rest = ', 0, No') =>
  `${index}, GPU-${index}a0, ${total}, ${used}${rest}\n`;

test.each([
  ['all is well', 0, row(0, '512'), 'healthy', ''],
  ['as full as allowed', 0, row(0, '90', '100'), 'healthy', ''],
  [
    'fuller than allowed',
    0,
    row(0, '91', '100'),
    'unhealthy',
    'memory of GPU 0 is 91.0 % full (91 MiB of 100 MiB), more than 90 %',
  ],
  [
    'the fullest counts',
    0,
    row(0, '1') + row(1, '80000'),
    'unhealthy',
    'memory of GPU 1 is 98.1 % full (78 GiB of 80 GiB), more than 90 %',
  ],
  ['an old one knows less', 0, row(0, '512', '81559', ''), 'healthy', ''],
  ['it does not say how full it is', 0, row(0, '[N/A]'), 'healthy', 'no GPU says how full it is'],
  [
    'nor in other words',
    0,
    row(0, 'ERR!', '[Not Supported]', ', [N/A], [Unknown Error]'),
    'healthy',
    'no GPU says how full it is',
  ],
  ['one says and one does not', 0, row(0, '[Unknown Error]') + row(1, '512'), 'healthy', ''],
  [
    'memory errors are noted',
    0,
    row(0, '512', '81559', ', 2, Yes'),
    'healthy',
    'GPU 0: 2 uncorrected memory errors; GPU 0: it must be reset to replace bad memory rows',
  ],
  [
    'a damaged infoROM is noted',
    14,
    `WARNING: infoROM is corrupted at gpu 0000:00:1E.0\n${row(0, '512')}`,
    'healthy',
    'GPU 0: its infoROM is damaged',
  ],
  ['half a row', 0, '0, GPU-1', 'unknown', 'nvidia-smi printed what cannot be understood: 0, GPU-1'],
  [
    'words instead of a number',
    0,
    row(0, 'many'),
    'unknown',
    `nvidia-smi printed what cannot be understood: ${row(0, 'many').trim()}`,
  ],
])('%s', (_, code, output, status, reason) => {
  expect(judge(code, output)).toMatchObject({ status, reason });
});

test.each([
  [
    'the driver is not loaded',
    9,
    "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver.",
    'none',
  ],
  ['the library is missing', 12, "NVIDIA-SMI couldn't find libnvidia-ml.so library in your system.", 'none'],
  ['a GPU is lost', 15, '', 'none'],
  [
    'a GPU is lost, with another code',
    255,
    'Unable to determine the device handle for GPU0000:41:00.0: GPU is lost.',
    'none',
  ],
  ['a cable', 8, '', 'none'],
  ['the devices are out of reach', 255, 'Failed to initialize NVML: Unknown Error', 'recreate'],
  ['the same with exit code 0', 0, 'Failed to initialize NVML: Unknown Error', 'recreate'],
  ['no device', 6, 'No devices were found', 'recreate'],
  ['no device with exit code 0', 0, 'No devices were found', 'recreate'],
  ['nothing at all', 0, '', 'recreate'],
  ['no permission', 4, '', 'recreate'],
  ['another driver', 18, 'Failed to initialize NVML: Driver/library version mismatch', 'recreate'],
  ['anything else', 255, 'oops', 'restart'],
])('%s: what may help', (_, code, output, remedy) => {
  expect(judge(code, output)).toMatchObject({ status: 'unhealthy', remedy, reason: expect.stringMatching(/./) });
});

test('a GPU that answered before is missed', () => {
  expect(judge(0, row(0, '1'), 2)).toMatchObject({ reason: 'a GPU is missing: 1 of 2 answer', remedy: 'recreate' });
  expect(judge(0, row(0, '1') + row(1, '1') + row(2, '1'), 2)).toMatchObject({ status: 'healthy' });
  expect(judgeGpus({ kind: 'none' }, { thresholdPct: 90, expected: 2 })).toMatchObject({ remedy: 'recreate' });
});

test('a service without a GPU is not judged by one', () => {
  expect(judgeGpus({ kind: 'none' }, { thresholdPct: 90, expected: null })).toBeNull();
});

test('how full it is matters only when it is asked', () => {
  expect(judge(0, row(0, '99', '100'), null, null)).toMatchObject({ status: 'healthy', usedBytes: 99 * MIB });
});

test.each([
  [
    '[{"memory_used_bytes": 1, "memory_total_bytes": 2}]',
    { kind: 'read', gpus: [{ index: 0, usedBytes: 1, totalBytes: 2 }] },
  ],
  [
    '[{"index": 3, "uuid": "GPU-a", "memory_used_bytes": null}]',
    { kind: 'read', gpus: [{ index: 3, usedBytes: null }] },
  ],
  ['null', { kind: 'none' }],
  ['[]', { kind: 'read', gpus: [] }],
  ['{"error": 15, "message": "GPU is lost"}', { kind: 'fault', remedy: 'none' }],
  ['[{"memory_used_bytes": "1"}]', { kind: 'unknown' }],
  ['[{"memory_used_bytes": -1}]', { kind: 'unknown' }],
  ['Traceback', { kind: 'unknown' }],
  ['', { kind: 'unknown' }],
])('a command of one’s own that prints %s', (output, reading) => {
  expect(readGpuJson(0, output)).toMatchObject(reading);
});

test('a command of one’s own that fails', () => {
  expect(readGpuJson(1, 'Traceback\nNVMLError: no')).toMatchObject({
    kind: 'fault',
    why: 'the GPU command failed with code 1: NVMLError: no',
  });
});
