/** What every reader here returns: the thing, or one sentence on what is wrong with it. */
export type Decoded<T> = { readonly ok: T } | { readonly complaint: string };
