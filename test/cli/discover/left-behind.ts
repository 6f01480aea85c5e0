// What `discover` leaves in the temporary folder: one of the test's own, for others run at the same time.
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished, vi } from 'vitest';

export function ownTemporaryFolder(): void {
  const folder = mkdtempSync(join(tmpdir(), 'own-'));
  vi.stubEnv('TMPDIR', folder);
  onTestFinished(() => {
    vi.unstubAllEnvs();
    rmSync(folder, { recursive: true, force: true });
  });
}

export const foldersOfDiscover = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('lossproof-discover-'));
