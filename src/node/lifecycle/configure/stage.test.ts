import { expect, test } from 'vitest';
import { dir } from '#contract/paths.ts';
import type { BundleFile } from '../../bundle.ts';
import { missingFiles, staleFiles } from './stage.ts';

const file = (path: string, sha256 = 'a') => ({ path, sha256 }) as BundleFile;
const wanted = [file('C:\\k\\kubelet.exe'), file('C:\\k\\CNI\\x.exe', 'b')];

const missing: [string, Record<string, string>, string[]][] = [
  ['everything', {}, ['C:\\k\\kubelet.exe', 'C:\\k\\CNI\\x.exe']],
  ['nothing', { 'c:\\k\\kubelet.exe': 'a', 'c:\\k\\cni\\x.exe': 'b' }, []],
  ['what is different', { 'c:\\k\\kubelet.exe': 'z', 'c:\\k\\cni\\x.exe': 'b' }, ['C:\\k\\kubelet.exe']],
  ['what is absent', { 'c:\\k\\kubelet.exe': 'a' }, ['C:\\k\\CNI\\x.exe']],
];
for (const [name, files, want] of missing) {
  test(`sends ${name} that the host lacks`, () => {
    expect(missingFiles(wanted, { files }).map(({ path }) => path)).toEqual(want);
  });
}

const owned = [dir.registries, dir.tlsCerts];
const registry = `${dir.registries}\\quay.io\\hosts.toml`;
const stale: [string, string[], BundleFile[], string[]][] = [
  ['a registry that is gone', [registry], [], [registry]],
  ['no registry that is wanted, in whatever case', [registry], [file(registry.toUpperCase())], []],
  ['nothing outside', ['C:\\k\\kubelet.exe', `${dir.registries}2\\x`, dir.registries], [], []],
  [
    'a certificate too many',
    [`${dir.tlsCerts}\\old.crt`, `${dir.tlsCerts}\\tls.crt`],
    [file(`${dir.tlsCerts}\\tls.crt`)],
    [`${dir.tlsCerts}\\old.crt`],
  ],
];
for (const [name, present, texts, want] of stale) {
  test(`takes away ${name}`, () => {
    const files = Object.fromEntries(present.map(path => [path.toLowerCase(), 'x']));
    expect(staleFiles(texts, owned, { files })).toEqual(want.map(path => path.toLowerCase()));
  });
}
