// The ops that `discover` proposes, in docs/discover.md.
import { PROOFS } from '../../src/discover/ops.ts';

export function withProposedOps(page: string): string {
  const ops = [...new Set(PROOFS.map(({ op }) => `\`${op}\``))].join(', ');
  return page.replace(
    /(<!-- proposed: [^\n]*-->\n)[\s\S]*?(<!-- end of proposed -->)/,
    (_, begin: string, end: string) => `${begin}\n${ops}\n\n${end}`,
  );
}
