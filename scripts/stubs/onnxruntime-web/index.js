// Models are never run here; @xenova/transformers reads these two names at import.
export const env = { wasm: {} };
export class Tensor {}
