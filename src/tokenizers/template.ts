// Everything about chat templates under one name: compiling, rendering, and the spans that a template marks.
export { compileTemplate } from './jinja/compile.ts';
export { checkTemplate, type Rendered, type RenderOptions, renderChat, templateTokens } from './render.ts';
export { generationSpans, hasGenerationTags, type Spans } from './spans.ts';
