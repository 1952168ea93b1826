/**
 * What the design has and this version has not, by place. Accepting one of these silently would be a promise we do not keep.
 * A row is deleted when the thing arrives in the schema.
 */
export const THIS_VERSION = '0.1';

export const UNAVAILABLE: Readonly<Record<string, readonly string[]>> = {
  '': ['dashboard'],
};

export const NOT_AVAILABLE = `not available in this version (${THIS_VERSION})`;

export const unavailableAt = (place: string): readonly string[] =>
  Object.hasOwn(UNAVAILABLE, place) ? UNAVAILABLE[place]! : [];
