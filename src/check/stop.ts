// How a run is told to stop. Any AbortSignal is one. That name itself is not used here, because it belongs to the types
// of Node or of browsers, and whoever imports this package need not have either.

/** Looked at between two cases; an AbortSignal fits. */
export interface StopSignal {
  readonly aborted: boolean;
}
