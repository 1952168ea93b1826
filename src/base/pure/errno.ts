/**
 * What the kernel's error codes mean to a supervisor. That something is gone is said by two of them only; every other one says that it
 * could not be asked just now, and whoever takes that for "gone" starts a second copy of what is alive.
 */

export function errorCode(error: unknown): string {
  const code = (error as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === 'string' ? code : '';
}

export const meansGone = (error: unknown): boolean => ['ENOENT', 'ESRCH'].includes(errorCode(error));

/** Faults of the machine itself, which end: nobody has to change anything but the machine, and then the next try succeeds. */
const MACHINE_FAULTS: Readonly<Record<string, string>> = {
  EAGAIN: 'no more processes are allowed (EAGAIN)',
  ENOMEM: 'there is not enough memory (ENOMEM)',
  EMFILE: 'too many files are open (EMFILE)',
  ENFILE: 'too many files are open on this machine (ENFILE)',
  ENOSPC: 'the disk is full (ENOSPC)',
  EDQUOT: 'the disk quota is used up (EDQUOT)',
  EIO: 'the disk reports an error (EIO)',
  EROFS: 'the file system is read-only (EROFS)',
  ESTALE: 'the file server has lost the file (ESTALE)',
};

/** In words, when it is the machine's fault and may be over soon; null: it is not. */
export const machineFault = (error: unknown): string | null => MACHINE_FAULTS[errorCode(error)] ?? null;
