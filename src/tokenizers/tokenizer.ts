// One interface over every tokenizer backend. The harness never downloads one: a tokenizer is a folder.

export interface Tokenizer {
  /** The folder's name, for reports. */
  readonly name: string;
  readonly backend: 'huggingface' | 'xenova';
  readonly vocabSize: number;
  /** Ids of text; no BOS or EOS is added unless `addSpecialTokens`. */
  encode(text: string, options?: { readonly addSpecialTokens?: boolean }): number[];
  /** Text of ids, special tokens kept, no clean-up of spaces. `decode([])` is ''. */
  decode(ids: readonly number[]): string;
  /** The token as the vocabulary spells it ("Ġthe", "<0x0A>"); undefined outside the vocabulary. */
  token(id: number): string | undefined;
  tokenId(token: string): number | undefined;
  readonly specialIds: ReadonlySet<number>;
  readonly bosTokenId: number | undefined;
  readonly eosTokenId: number | undefined;
  readonly padTokenId: number | undefined;
  /** What stands for a text or a token name that the vocabulary does not have. */
  readonly unkTokenId?: number | undefined;
  /** Special tokens that the folder's configuration names, and that have no id: as `eos_token "<|im_end|>"`. */
  readonly nameless?: readonly string[];
  /** The chat template's source (chat_template.jinja first, then tokenizer_config.json), line ends normalised. */
  readonly chatTemplate: string | undefined;
}
