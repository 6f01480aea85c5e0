// What is wrong with a configuration.

/** A key that does nothing, or that stops the trainer. */
export interface SettingFault {
  /** As the file has it, with the part that it is in: `columns.response`. */
  readonly key: string;
  readonly line?: number;
  readonly sentence: string;
  /** Worth a look, and perhaps on purpose. */
  readonly note?: true;
}

export interface Problem {
  readonly problem: string;
}
