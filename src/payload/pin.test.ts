import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { payloadFiles } from '../../src/node/payload.ts';
import { parseLock } from './lock.ts';
import { pinLock } from './pin.ts';

const text = readFileSync('payload/payload.lock.yaml', 'utf8');
const lock = parseLock(text, 'lock', payloadFiles);
const sum = (digit: string) => digit.repeat(64);
const [hex, digits, exponent] = [sum('a'), sum('1'), `1e${'2'.repeat(62)}`];

test('replaces only what was found, and no other character of the lock of the project', () => {
  const pinned = pinLock(text, lock, {
    sources: new Map([
      ['kubernetes', hex],
      ['ovn-kubernetes', `sha256:${hex}`],
      // A file has no sum beside that of its program.
      ['windows-exporter', hex],
    ]),
    files: new Map([
      ['kube-node/kubelet.exe', digits],
      ['csi-proxy/csi-proxy.exe', exponent],
    ]),
  });
  const [before, after] = [text.split('\n'), pinned.split('\n')];
  expect(after).toHaveLength(before.length);
  expect(after.filter((line, index) => line !== before[index])).toEqual([
    `    sha256: ${hex}`,
    // Digits alone would be read as a number.
    `        sha256: '${digits}'`,
    `    digest: sha256:${hex}`,
    `        sha256: '${exponent}'`,
  ]);
  const found = parseLock(pinned, 'lock', payloadFiles).sources.flatMap(({ files }) => files);
  expect(found.filter(({ sha256 }) => sha256 !== 'unverified').map(({ sha256 }) => sha256)).toEqual([digits, exponent]);
});

test('never replaces a checksum', () => {
  const once = pinLock(text, lock, { sources: new Map([['kubernetes', hex]]), files: new Map() });
  const again = { sources: new Map([['kubernetes', sum('b')]]), files: new Map() };
  expect(pinLock(once, parseLock(once, 'lock', payloadFiles), again)).toBe(once);
});
