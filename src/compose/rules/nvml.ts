/** NVML's error codes, which are also the exit codes of nvidia-smi, and what may help against each. */
import type { GpuReading } from './gpu.ts';

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
