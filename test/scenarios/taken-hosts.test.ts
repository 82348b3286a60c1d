import { afterAll, beforeAll, expect, test } from 'vitest';
import { sid } from '../../src/agent/access/descriptor.ts';
import { folderRules } from '../../src/agent/access/folders.ts';
import { descriptorOf, judge } from '../../src/agent/access/plan.ts';
import { agentProgramHash, dir, file } from '../../src/contract/paths.ts';
import type { SimulatedHost } from '../../src/sandbox/machines/host/host.ts';
import { type Sandbox, startSandbox } from '../../src/sandbox/sandbox.ts';
import { type SandboxOperator, startOperator } from '../kit/sandbox-operator.ts';

/** Hosts on which an ordinary user planted programs and links before the join. */

const user = 'S-1-5-21-1-2-3-1001';
const ofUser = { ...descriptorOf('programs'), owner: user };
const evil = 'MZ evil';
const library = `${dir.k}\\version.dll`;
const pki = 'C:\\var\\lib\\kubelet\\pki';

async function plant({ files }: SimulatedHost, ...paths: string[]): Promise<void> {
  for (const path of paths) {
    await files.write(path, evil);
    files.rights.set(path, ofUser);
  }
}

const attacks: [name: string, prepare: (host: SimulatedHost) => unknown][] = [
  ['a junction at C:\\k', host => host.files.rights.plantLink(dir.k)],
  [
    'his own C:\\k with an agent and a library beside it',
    async host => {
      await plant(host, file.agent, library);
      host.files.rights.set(dir.k, ofUser);
    },
  ],
  ['an agent, a kubelet and a library in our C:\\k', host => plant(host, file.agent, file.kubelet, library)],
  [
    'links in the places of keys, logs and uploads',
    host => [pki, dir.agentLog, dir.incoming, dir.cniState].forEach(path => host.files.rights.plantLink(path)),
  ],
];

let sandbox: Sandbox;
let operator: SandboxOperator;

beforeAll(async () => {
  sandbox = await startSandbox({ hosts: attacks.length, machines: 0, speed: 10 });
  for (const [index, [, prepare]] of attacks.entries()) await prepare(hostOf(index));
  operator = startOperator(sandbox);
  await operator.allReady(attacks.length);
}, 120_000);
afterAll(async () => {
  await operator?.stop();
  await sandbox?.stop();
});

const hostOf = (index: number) => sandbox.hosts[index] ?? expect.fail('no such host');

for (const [index, [name]] of attacks.entries()) {
  test(`a host with ${name} joins, and SSH runs only programs below C:\\Windows`, () => {
    const { programs } = hostOf(index).stats;
    expect(programs.filter(path => agentProgramHash(path) === undefined)).toEqual([]);
    expect(programs.length).toBeGreaterThan(3);
  });

  test(`a host with ${name} has no links or files of the user in our folders`, async () => {
    const { files } = hostOf(index);
    for (const { path, access } of folderRules) {
      const entry = await files.inspect(path);
      expect([path, entry?.is, entry && judge(entry, access).do]).toEqual([path, 'directory', 'keep']);
    }
    for (const path of files.paths()) {
      if (!path.startsWith(`${dir.k}\\`)) continue;
      expect([path, files.rights.of(path).owner]).toEqual([path, sid.administrators]);
      expect(await files.read(path)).not.toContain(evil);
    }
    expect(files.has(library)).toBe(false);
  });
}

test('the operator reports what it found', () => {
  const reports = operator.lines.filter(line => line.includes('Secured folders of host'));
  expect(reports.length).toBeGreaterThanOrEqual(attacks.length);
  expect(reports.join('\n')).toContain(`belongs to ${user}`);
});
