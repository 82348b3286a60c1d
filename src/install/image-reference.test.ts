import { expect, test } from 'vitest';
import { defaultImage, repositoryOf } from './image-reference.ts';

const cases: [version: string, tag: string][] = [
  ['11.0.0', 'v11.0.0'],
  ['11.0.0-1234abc', 'v11.0.0'],
  ['11.0.0-1234abc-dirty', 'v11.0.0'],
  ['11.0.0-source', 'v11.0.0'],
  ['11.1.0-rc.1', 'v11.1.0-rc.1'],
  ['11.1.0+build.2', 'v11.1.0-build.2'],
];
for (const [version, tag] of cases) {
  test(`the image of ${version} has the tag ${tag}`, () => {
    expect(defaultImage(version)).toBe(`quay.io/windows-machine-config-operator/operator:${tag}`);
  });
}

test.each(['', ':v1', '@sha256:1234', ':v1@sha256:1234'])('"%s" is no part of the repository', end => {
  expect(repositoryOf(`registry.example.com:5000/a/b${end}`)).toBe('registry.example.com:5000/a/b');
});
