/** Names that Kubernetes takes: the strictest of its rules (that of a Service), so that all objects of a component are called the same. */

const MAX_LABEL_CHARS = 63;

/** Letters, digits and dashes, a letter first. What was good already stays as it is. */
export function objectName(name: string): string {
  const plain = name.replace(/[^a-z0-9-]+/g, '-').replace(/^-+|-+$/g, '');
  const begun = /^[a-z]/.test(plain) ? plain : `c-${plain}`;
  return begun.slice(0, MAX_LABEL_CHARS).replace(/-+$/, '');
}

/** A value of a label: as written, but for what may not stand at its end. */
export const labelValue = (text: string): string => text.slice(0, MAX_LABEL_CHARS).replace(/[^a-z0-9]+$/i, '');

/** Groups of names that would become one. */
export function collisions(names: readonly string[]): readonly (readonly string[])[] {
  const byObject = new Map<string, string[]>();
  for (const name of names) {
    const object = objectName(name);
    const known = byObject.get(object);
    if (known) known.push(name);
    else byObject.set(object, [name]);
  }
  return [...byObject.values()].filter((group) => group.length > 1);
}

/** A key of a ConfigMap or a Secret. */
export const isDataKey = (key: string): boolean => /^[-._a-zA-Z0-9]{1,253}$/.test(key) && !/^\.\.?$|^\.\./.test(key);

/** The name of a variable, as all versions of Kubernetes take it. */
export const isVariableName = (name: string): boolean => /^[-._a-zA-Z][-._a-zA-Z0-9]*$/.test(name);

/** The key of an annotation: a name, with a domain before it if there is one. */
export const isAnnotationKey = (key: string): boolean =>
  /^(?:[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?\/)?[A-Za-z0-9](?:[A-Za-z0-9_.-]{0,61}[A-Za-z0-9])?$/.test(key) &&
  !/\.[.-]|-\.[^/]*\//.test(key.split('/').length > 1 ? `${key.split('/')[0]}/` : '');
