import { win32 } from 'node:path';
import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { agentProgram, agentProgramHash, dir, file, requiredDirectories, splitPath } from './paths.ts';

test('directories are created in the order of the contract', () => {
  expect(requiredDirectories).toEqual([
    String.raw`C:\Temp`,
    String.raw`C:\k\cni`,
    String.raw`C:\k\cni\config`,
    String.raw`C:\var\log`,
    String.raw`C:\var\log\kubelet`,
    String.raw`C:\var\log\csi-proxy`,
    String.raw`C:\var\log\kube-proxy`,
    String.raw`C:\var\log\wicd`,
    String.raw`C:\var\log\hybrid-overlay`,
    String.raw`C:\k\containerd`,
    String.raw`C:\var\log\containerd`,
    String.raw`C:\var\log\windows_exporter`,
    String.raw`C:\k\containerd\registries`,
    String.raw`C:\k\etc\kubernetes\manifests`,
    String.raw`C:\k`,
    String.raw`C:\k\tls`,
    String.raw`C:\k\wicd-certs`,
  ]);
});

test('files lie where services, scripts and live hosts expect them', () => {
  expect(Object.values(file)).toEqual(
    expect.arrayContaining([
      String.raw`C:\k\windows-instance-config-daemon.exe`,
      String.raw`C:\k\kubelet.exe`,
      String.raw`C:\k\kube-proxy.exe`,
      String.raw`C:\k\kube-log-runner.exe`,
      String.raw`C:\k\hybrid-overlay-node.exe`,
      String.raw`C:\k\windows_exporter.exe`,
      String.raw`C:\k\csi-proxy.exe`,
      String.raw`C:\k\azure-cloud-node-manager.exe`,
      String.raw`C:\k\containerd\containerd.exe`,
      String.raw`C:\k\containerd\containerd_conf.toml`,
      String.raw`C:\k\tls\windows-exporter-webconfig.yaml`,
      String.raw`C:\k\tls\certs\tls.crt`,
      String.raw`C:\k\tls\certs\tls.key`,
      String.raw`C:\k\bootstrap-kubeconfig`,
      String.raw`C:\k\bootstrap-ca.crt`,
      String.raw`C:\k\kubeconfig`,
      String.raw`C:\k\kubelet.conf`,
      String.raw`C:\k\kubelet-ca.crt`,
      String.raw`C:\k\kube-proxy.conf`,
      String.raw`C:\k\cloud.conf`,
      String.raw`C:\var\lib\kubelet\config.json`,
      String.raw`C:\k\credential-provider-config.yaml`,
      String.raw`C:\k\ca-bundle.crt`,
      String.raw`C:\k\imported-certs.pem`,
      String.raw`C:\k\wicd-kubeconfig`,
      String.raw`C:\k\wicd-certs\wicd-client-current.pem`,
      String.raw`C:\k\cni\config\cni.conf`,
      String.raw`C:\var\log\kubelet\kubelet.log`,
      String.raw`C:\var\log\kube-proxy\kube-proxy.log`,
      String.raw`C:\var\log\hybrid-overlay\hybrid-overlay.log`,
      String.raw`C:\var\log\containerd\containerd.log`,
      String.raw`C:\var\log\windows_exporter\windows_exporter.log`,
      String.raw`C:\var\log\csi-proxy\csi-proxy.log`,
    ]),
  );
});

test('directories that are not created by us keep their place too', () => {
  expect([dir.cniState, dir.tlsCerts]).toEqual([String.raw`C:\var\lib\cni`, String.raw`C:\k\tls\certs`]);
});

test('the kubelet keeps the exact text it was started with', () => {
  expect(dir.kubeletPki).toBe('c:\\var\\lib\\kubelet\\pki\\');
});

test('every path appears once, and so does every directory that is created', () => {
  const all = [...Object.values(dir), ...Object.values(file)].map(path => path.toLowerCase());
  expect(new Set(all).size).toBe(all.length);
  expect(new Set(requiredDirectories).size).toBe(requiredDirectories.length);
});

// The directory of native code stands in no command line, so a blank does no harm there.
const odd: readonly string[] = [dir.kubeletPki, dir.agentNative];
const plain = [...Object.values(dir), ...Object.values(file)].filter(path => !odd.includes(path));
for (const path of plain) {
  test(`${path} is absolute, normal, without blank or trailing backslash`, () => {
    expect(path).toMatch(/^C:(\\[A-Za-z0-9_.-]+)+$/);
    expect(win32.normalize(path)).toBe(path);
  });
}

test('the directory of every file is created by us or lies below one that is', () => {
  // The folder of the kubelet has a rule in src/agent/access/folders.ts.
  for (const path of Object.values(file).filter(each => each !== file.registryLogins)) {
    expect(requiredDirectories.some(directory => path.startsWith(`${directory}\\`))).toBe(true);
  }
});

const splits: [string, string, string, string][] = [
  ['nothing', '', '', ''],
  ['a name only', 'kubelet.exe', '', 'kubelet.exe'],
  ['a directory only', 'C:\\k\\', 'C:\\k\\', ''],
  ['a full path', 'C:\\k\\kubelet.exe', 'C:\\k\\', 'kubelet.exe'],
  ['a deep path', 'C:\\k\\tls\\certs\\tls.key', 'C:\\k\\tls\\certs\\', 'tls.key'],
  ['a path of Linux', '/payload/kubelet.exe', '', '/payload/kubelet.exe'],
  ['a backslash alone', '\\', '\\', ''],
  ['a drive', 'C:', '', 'C:'],
];
for (const [name, path, directory, leaf] of splits) {
  test(`splits ${name}`, () => expect(splitPath(path)).toEqual({ directory, name: leaf }));
}

test('both parts of a split path make it up again, and the name has no backslash', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom('\\', 'a', '.', '/', ':', ' ') }), path => {
      const { directory, name } = splitPath(path);
      expect(directory + name).toBe(path);
      expect(name).not.toContain('\\');
      expect(directory === '' || directory.endsWith('\\')).toBe(true);
    }),
  );
});

const hash = '0a'.repeat(32);
const programs: [string, string, string | undefined][] = [
  ['the path that the operator uses', agentProgram(hash), hash],
  ['the same in other capitals', agentProgram(hash).toUpperCase(), hash],
  ['the copy for services', file.agent, undefined],
  ['a hash that is too short', agentProgram(hash.slice(1)), undefined],
  ['a folder of another name', agentProgram('quarantine'), undefined],
  ['a folder further below', agentProgram(hash).replace(/\\([^\\]+)$/, '\\x\\$1'), undefined],
  ['a way out', agentProgram(hash).replace('Windows\\', 'Windows\\..\\k\\'), undefined],
];
for (const [name, path, want] of programs) {
  test(`finds the hash of an agent program in ${name}`, () => expect(agentProgramHash(path)).toBe(want));
}
