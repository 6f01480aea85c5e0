// Images are never opened here; @xenova/transformers only looks whether the module is there.
// biome-ignore lint/style/noDefaultExport: the real package has one, and its user imports it.
export default function sharp() {
  throw new Error('sharp is a stub in this repository: only tokenizers are used.');
}
