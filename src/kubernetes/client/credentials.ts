/** As whom the server is asked: certificates and tokens, files read again when they may have changed, plugins asked when their answer is old. */

import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { Clock } from '../../base/clock.ts';
import {
  type ClusterAccess,
  type Credential,
  credentialIn,
  type ExecPlugin,
  type Material,
} from '../rules/kubeconfig.ts';

/** What a connection needs beside the address. */
export interface Credentials {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly token: string | null;
}

/** A token in a file is replaced by whoever wrote it, about once an hour. */
const FILE_FOR_MS = 60_000;
const PLUGIN_WITHIN_MS = 15_000;
const MAX_PLUGIN_BYTES = 2 ** 20;
/** A credential that is about to expire would expire on its way. */
const EARLY_MS = 30_000;

export class CredentialSource {
  readonly #access: ClusterAccess;
  readonly #env: Readonly<Record<string, string | undefined>>;
  readonly #clock: Clock;
  #known: { readonly credentials: Credentials; readonly until: number } | null = null;
  #asking: Promise<Credentials> | null = null;

  constructor(access: ClusterAccess, env: Readonly<Record<string, string | undefined>>, clock: Clock) {
    this.#access = access;
    this.#env = env;
    this.#clock = clock;
  }

  /** Rejects with a sentence when a file or a plugin is of no use. One question for all who ask at once. */
  get(): Promise<Credentials> {
    if (this.#known && this.#clock.wallNow() < this.#known.until) return Promise.resolve(this.#known.credentials);
    this.#asking ??= this.#ask().finally(() => {
      this.#asking = null;
    });
    return this.#asking;
  }

  /** The server did not take them. */
  forget(): void {
    this.#known = null;
  }

  async #ask(): Promise<Credentials> {
    const { ca, account } = this.#access;
    const now = this.#clock.wallNow();
    const printed = account.exec === null ? null : await this.#runPlugin(account.exec);
    const credentials: Credentials = {
      ca: textOf(ca) ?? undefined,
      cert: printed?.certificate ?? textOf(account.certificate) ?? undefined,
      key: printed?.key ?? textOf(account.key) ?? undefined,
      token: printed?.token ?? textOf(account.token)?.trim() ?? null,
    };
    const until = printed === null ? now + FILE_FOR_MS : (printed.expiresAt ?? Number.POSITIVE_INFINITY) - EARLY_MS;
    this.#known = { credentials, until };
    return credentials;
  }

  #runPlugin({ command, args, env, apiVersion, installHint }: ExecPlugin): Promise<Credential> {
    const info = JSON.stringify({ apiVersion, kind: 'ExecCredential', spec: { interactive: false } });
    const options = {
      env: { ...this.#env, ...env, KUBERNETES_EXEC_INFO: info },
      timeout: PLUGIN_WITHIN_MS,
      killSignal: 'SIGKILL' as const,
      maxBuffer: MAX_PLUGIN_BYTES,
    };
    return new Promise((resolve, reject) => {
      const child = execFile(command, [...args], options, (error, stdout, stderr) => {
        if (error !== null) {
          const hint = installHint === null ? '' : ` (${installHint.trim()})`;
          reject(new Error(`the exec plugin "${command}" ${failure(error, String(stderr))}${hint}`));
          return;
        }
        const credential = credentialIn(parsed(String(stdout)));
        if (credential) resolve(credential);
        else reject(new Error(`the exec plugin "${command}" printed no credentials`));
      });
      child.stdin?.end(); // nobody is there to type anything
    });
  }
}

const textOf = (material: Material | null): string | null => {
  if (material === null) return null;
  return 'text' in material ? material.text : readFileSync(material.file, 'utf8');
};

function parsed(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return null;
  }
}

type ExecError = Error & { readonly code?: string | number | null; readonly killed?: boolean };

/** What it printed to stderr may say why; its arguments are nobody's business. */
function failure({ code, killed }: ExecError, stderr: string): string {
  if (code === 'ENOENT') return 'is not installed';
  if (killed) return `did not end within ${PLUGIN_WITHIN_MS / 1_000} s`;
  const said = stderr.trim().split('\n').at(-1)?.slice(0, 200) ?? '';
  return `failed with ${code ?? 'a signal'}${said === '' ? '' : `: ${said}`}`;
}
