/** What must not be read in a manifest: it is kept in a Secret, and named where it is needed. */

import { redact, tellsSecret } from '../../base/pure/redact.ts';

/** A variable whose name or value tells that nobody else should see it. */
export const isSecretVariable = (name: string, value: string, secrets: readonly string[]): boolean =>
  tellsSecret(name) || redact(value, secrets) !== value || holdsSecret(value, secrets);

/** A file with a key or a password in it. */
export const isSecretFile = (name: string, text: string, secrets: readonly string[]): boolean =>
  /\.(?:key|pem|p12|pfx|jks)$/i.test(name) || tellsSecret(name) || redact(text, secrets) !== text;

export const holdsSecret = (text: string, secrets: readonly string[]): boolean =>
  secrets.some((secret) => secret !== '' && text.includes(secret));

/** Kubernetes expands `$(NAME)` in commands and variables, and takes `$$` for a dollar sign: text with either is written with two. */
export const literally = (text: string): string => (/\$[$(]/.test(text) ? text.replaceAll('$', '$$$$') : text);

/** Arguments in which secrets stand as `$(KEEPWELL_SECRET_1)`: the kubelet puts them in, from a Secret. */
export class SecretArguments {
  /** By variable. */
  readonly values = new Map<string, string>();
  readonly #secrets: readonly string[];

  constructor(secrets: readonly string[]) {
    // The longest first: one may be a part of another.
    this.#secrets = [...new Set(secrets)].filter((secret) => secret !== '').sort((a, b) => b.length - a.length);
  }

  write(text: string): string {
    const secret = this.#secrets.find((each) => text.includes(each));
    if (secret === undefined) return literally(text);
    // A dollar sign before ours would make it a literal, so beside a secret all of them are doubled.
    return text
      .split(secret)
      .map((part) => (holdsSecret(part, this.#secrets) ? this.write(part) : part.replaceAll('$', '$$$$')))
      .join(`$(${this.#variable(secret)})`);
  }

  #variable(secret: string): string {
    const known = [...this.values].find(([, value]) => value === secret)?.[0];
    const name = known ?? `KEEPWELL_SECRET_${this.values.size + 1}`;
    this.values.set(name, secret);
    return name;
  }
}
