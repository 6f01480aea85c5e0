/** What every reader here returns: the thing, or one sentence on what is wrong with it. */
export type Decoded<T> = { readonly ok: T } | { readonly complaint: string };

/** A parsed JSON object. */
export type JsonObject = Readonly<Record<string, unknown>>;

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
