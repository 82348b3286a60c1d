import { expect, test } from 'vitest';
import { recordSession, sessionPage, size } from '../../tools/record-session.ts';

test('a failing join shows cause and remedy on 80 x 24 without scrolling, and ends Ready', async () => {
  const session = await recordSession();
  const { failed, status, ready } = session;
  for (const screen of [failed, ready]) {
    expect(screen.length).toBeLessThanOrEqual(size.rows);
    expect(Math.max(...screen.map(line => line.length))).toBeLessThanOrEqual(size.columns);
  }
  const text = failed.join(' ').replaceAll(/\s+/g, ' ');
  expect(text).toContain('13 hosts: 12 Ready, 1 with a problem');
  expect(text).toMatch(/win-2: HOST_REFUSED_KEY win-2: SSH login as "Administrator" was rejected for key ssh-ed25519/);
  expect(text).toMatch(/-> Run in PowerShell .*`Add-Content .*administrators_authorized_keys .*ssh-ed25519 .*icacls/);
  expect(text).toMatch(/export KUBECONFIG=\S+ wmco status win-2 kubectl annotate wi win-2/);
  expect(status.join('\n')).toMatch(/^Problem: HOST_REFUSED_KEY$/m);
  expect(ready.join('\n')).toContain('13 hosts: 13 Ready');
  expect(sessionPage(session)).toContain('# A failing join');
}, 180_000);
