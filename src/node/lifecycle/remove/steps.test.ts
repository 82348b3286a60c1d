import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { shortDuration } from '#base/short-duration.ts';
import type { WindowsInstance } from '#cluster/windows-instance-resource.ts';
import { instanceAnnotation } from '#contract/names.ts';
import { removalMode } from './journey.ts';
import { removeSteps } from './steps.ts';

test('every step has a unique name, a description, a usual time and a limit', () => {
  const names = removeSteps.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  for (const { description, usualMs, limitMs } of removeSteps) {
    expect(description).toMatch(/^[a-z].*[^.]$/);
    expect(2 * (usualMs ?? Infinity)).toBeLessThan(limitMs);
  }
});

test('docs/lifecycle.md has the steps in their order, with what they do, their times and codes', () => {
  const page = readFileSync(join(import.meta.dirname, '../../../../docs/lifecycle.md'), 'utf8');
  const [, section = ''] = page.split('## The steps of `remove`\n');
  const rows = section
    .split('\n')
    .filter(line => /^\| \d+ \|/.test(line))
    .map(line =>
      line
        .split('|')
        .map(cell => cell.trim())
        .slice(2, -1),
    );
  expect(rows).toEqual(
    removeSteps.map(({ name, description, usualMs = 0, limitMs, timeout }) => [
      name,
      description,
      shortDuration(usualMs),
      shortDuration(limitMs),
      `\`${timeout?.code ?? 'STEP_TIMEOUT'}\``,
    ]),
  );
});

const entry = { kind: 'ConfigMap', name: '10.0.0.5' } as const;
const touched = { hostKey: 'ssh-ed25519 AAAA' };
const forced = { [instanceAnnotation.forceRemoval]: '' };
const modes: [about: string, Partial<WindowsInstance['spec']>, object | undefined, object, shared: boolean, string][] =
  [
    ['a host that was connected to', { source: entry }, touched, {}, false, 'host'],
    ['a host that was never connected to', { source: entry }, undefined, {}, false, 'object'],
    ['a request without a record', {}, undefined, {}, false, 'host'],
    ['a host by force', { source: entry }, touched, forced, false, 'force'],
    ['a host that another instance lists', { source: entry }, touched, {}, true, 'object'],
    ['a host that another instance lists, by force', { source: entry }, touched, forced, true, 'object'],
  ];
test.each(modes)('removes %s: %#', (_, spec, status, annotations, isShared, want) => {
  const instance = {
    metadata: { name: 'win-5', annotations },
    spec: { address: '10.0.0.5', username: 'x', ...spec },
    ...(status && { status }),
  } as WindowsInstance;
  const cluster = { sharedWith: () => (isShared ? 'other' : undefined) };
  expect(removalMode({ instance, cluster: cluster as never })).toBe(want);
});
