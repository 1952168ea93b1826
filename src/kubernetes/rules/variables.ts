/** The variables of a component: plain ones in the manifest, others in Secrets that it names. */

import type { ComponentSpec } from '../../supervision/spec.ts';
import type { Given, Notes } from './given.ts';
import { isVariableName } from './names.ts';
import type { Plain } from './object.ts';
import { isSecretVariable, literally, type SecretArguments } from './secret.ts';

export interface Variables {
  readonly env: readonly { readonly [key: string]: Plain }[];
  readonly envFrom: readonly { readonly [key: string]: Plain }[];
  /** Values by the name of their Secret; null: they are only named, so nobody has read them. */
  readonly secrets: ReadonlyMap<string, Readonly<Record<string, string>> | null>;
}

export const envSecret = (object: string): string => `${object}-env`;
export const envFileSecret = (object: string): string => `${object}-env-file`;

export function variablesOf(
  { driver }: ComponentSpec,
  object: string,
  known: readonly string[],
  inArguments: SecretArguments,
  { envFiles }: Pick<Given, 'envFiles'>,
  notes: Notes,
): Variables {
  const kept: Record<string, string> = {};
  const env: { readonly [key: string]: Plain }[] = [];
  const refer = (name: string, value: string): void => {
    kept[name] = value;
    env.push({ name, valueFrom: { secretKeyRef: { name: envSecret(object), key: name } } });
  };
  for (const [name, value] of Object.entries(driver.env)) {
    if (!isVariableName(name))
      notes.lose([driver.kind, 'env', name], 'Kubernetes takes no variable of this name: it is left out');
    else if (isSecretVariable(name, value, known)) refer(name, value);
    else env.push({ name, value: literally(value) });
  }
  for (const [name, value] of inArguments.values) refer(name, value);
  const secrets = new Map<string, Readonly<Record<string, string>> | null>();
  if (Object.keys(kept).length > 0) secrets.set(envSecret(object), kept);
  if (driver.envFiles.length > 0) secrets.set(envFileSecret(object), fileVariables(driver.envFiles, envFiles));
  const envFrom = driver.envFiles.length > 0 ? [{ secretRef: { name: envFileSecret(object) } }] : [];
  return { env, envFrom, secrets };
}

/** Later files over earlier ones. A file of variables is taken for secret as a whole. */
function fileVariables(paths: readonly string[], read: Given['envFiles']): Readonly<Record<string, string>> | null {
  const texts = paths.map((path) => read.get(path));
  if (texts.some((text) => text === undefined)) return null;
  const merged = Object.assign({}, ...texts) as Readonly<Record<string, string>>;
  return Object.fromEntries(Object.entries(merged).filter(([name]) => isVariableName(name)));
}
