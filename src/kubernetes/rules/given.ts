/** What the rules are told, and what they have to say beside the objects. */

import type { ComponentSpec } from '../../supervision/spec.ts';
import type { KubernetesSpec } from '../spec.ts';

export type Path = readonly (string | number)[];

/** Something that the configuration says and Kubernetes does not do, or does otherwise. */
export interface Loss {
  /** Null: it is about the whole. */
  readonly component: string | null;
  readonly path: Path;
  readonly message: string;
}

/** Something without which nothing can be rendered. */
export interface Refusal extends Loss {
  readonly hint: string;
}

/** A file or a folder of this machine that a container mounts. */
export type Mounted =
  | { readonly kind: 'files'; readonly isFolder: boolean; readonly files: Readonly<Record<string, MountedFile>> }
  /** A folder with folders in it, or more than a ConfigMap takes. */
  | { readonly kind: 'folder' }
  | { readonly kind: 'unreadable'; readonly problem: string };

export interface MountedFile {
  /** Base64 where `isText` is false. */
  readonly content: string;
  readonly isText: boolean;
}

/** Values of Secrets: only named, beside the rest, or nothing but them. */
export type SecretMode = 'refer' | 'include' | 'only';

export interface Given {
  readonly project: string;
  readonly components: readonly ComponentSpec[];
  readonly settings: KubernetesSpec;
  readonly isWritten: (path: Path) => boolean;
  /** Values that nobody may see. */
  readonly secrets: readonly string[];
  /** What is in the files of variables, by path; not needed where Secrets are only named. */
  readonly envFiles: ReadonlyMap<string, Readonly<Record<string, string>>>;
  readonly mounts: ReadonlyMap<string, Mounted>;
}

/** What is collected while a component is rendered. */
export class Notes {
  readonly losses: Loss[] = [];
  readonly refusals: Refusal[] = [];
  readonly #component: string | null;
  readonly #base: Path;
  readonly #isWritten: Given['isWritten'];

  constructor(component: string | null, isWritten: Given['isWritten']) {
    this.#component = component;
    this.#base = component === null ? [] : ['components', component];
    this.#isWritten = isWritten;
  }

  /** Paths are relative to the component. */
  isWritten(...path: Path): boolean {
    return this.#isWritten([...this.#base, ...path]);
  }
  lose(path: Path, message: string): void {
    this.losses.push({ component: this.#component, path: [...this.#base, ...path], message });
  }
  loseWritten(path: Path, message: string): void {
    if (this.isWritten(...path)) this.lose(path, message);
  }
  refuse(path: Path, message: string, hint: string): void {
    this.refusals.push({ component: this.#component, path: [...this.#base, ...path], message, hint });
  }
}
