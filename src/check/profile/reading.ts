// What one probe found.
import type { FailureKind } from '../../trainer/failure.ts';
import type { Misfit, Probe, Variant } from './probe.ts';

/** What one probe found. */
export type Reading =
  | { readonly state: 'fits'; readonly remaining: readonly Variant[] }
  | { readonly state: 'unknown'; readonly closest: Variant; readonly misfit: Misfit }
  | { readonly state: 'silent'; readonly why: string }
  /** The trainer failed; `why` says how. */
  | { readonly state: 'failed'; readonly why: string; readonly kind: FailureKind };

export interface Probed {
  readonly probe: Pick<Probe, 'id' | 'items' | 'confirms' | 'ops' | 'anyOp' | 'complete' | 'mayBeOwn'>;
  readonly reading: Reading;
}
