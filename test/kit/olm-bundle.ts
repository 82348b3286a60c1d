import { expect } from 'vitest';
import { olmFiles } from '../../src/install/olm/files.ts';
import type { Json } from '../../tools/olm/read.ts';
import { problemsOf, type Rule } from '../../tools/olm/rule.ts';

const plain = {
  version: '11.0.0',
  image: 'quay.io/a/operator:v11.0.0',
  bundleImage: 'quay.io/a/bundle:v11.0.0',
};
const digest = (digit: string) => `@sha256:${digit.repeat(64)}`;
const released = {
  version: '11.0.0',
  image: `quay.io/a/operator${digest('1')}`,
  bundleImage: `quay.io/a/bundle${digest('2')}`,
  pauseImage: `quay.io/a/pause${digest('3')}`,
  createdAt: '2026-01-02T03:04:05Z',
};

/** Files of the bundle or the catalog, by path below their folder. */
export function olmFolder(folder: 'bundle' | 'catalog', isReleased = false): Record<string, string> {
  const files = Object.entries(olmFiles(isReleased ? released : plain));
  return Object.fromEntries(
    files.flatMap(([path, text]) =>
      path.startsWith(`${folder}/`) ? [[path.slice(folder.length + 1), text] as const] : [],
    ),
  );
}

/** Changes the value at a path such as `spec.icon.0.mediatype`; a dot in a name is written as `~`. */
export function changed<T>(subject: T, path: string, value: unknown): T {
  const copy = structuredClone(subject);
  const names = path.split('.').map(name => name.replaceAll('~', '.'));
  const last = names.pop() ?? '';
  const parent = names.reduce<unknown>((current, name) => (current as Json)[name], copy) as Json;
  if (value === undefined) Reflect.deleteProperty(parent, last);
  else parent[last] = value;
  return copy;
}

export function expectProblem<T>(rules: readonly Rule<T>[], subject: T, rule: string, problem: RegExp): void {
  const found = problemsOf(rules, subject).filter(each => each.startsWith(`${rule}: `));
  expect(found.join('\n')).toMatch(problem);
}
