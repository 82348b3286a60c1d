import { expect, test } from 'vitest';
import { printPublicKey } from '#host/keys/public-key.ts';
import { address, startJoinLab } from '../../../test/kit/lifecycle/join-lab.ts';
import { type LabHost, lost } from '../../../test/kit/lifecycle/lab-host.ts';
import { until } from '../../../test/kit/until.ts';

const refused = { exitCode: 1, stdout: '', stderr: '' };

const breaks: [name: string, arrange: (host: LabHost) => void][] = [
  ['a command runs', host => (host.faults.exec = breakOnce(host, command => command.includes(' stage ')))],
  ['the agent is uploaded', host => (host.faults.upload = breakOnce(host, path => path.endsWith('.exe')))],
  ['a bundle is uploaded', host => (host.faults.upload = breakOnce(host, path => path.includes('incoming')))],
  [
    'the service of the agent is made',
    host => (host.faults.exec = breakOnce(host, command => command.includes(' install '))),
  ],
];
function breakOnce(host: LabHost, when: (what: string) => boolean) {
  let isDone = false;
  return (what: string): undefined => {
    if (isDone || !when(what)) return undefined;
    isDone = true;
    host.disconnect();
    throw lost(address);
  };
}
for (const [name, arrange] of breaks) {
  test(`a connection that breaks while ${name} is made again within the same attempt`, async () => {
    const lab = await startJoinLab();
    const host = lab.host();
    arrange(host);
    lab.start();
    await lab.add();
    await until(async () => (await lab.instance()).status?.phase === 'Ready');
    expect([host.connectionCount, host.openConnections]).toEqual([2, 0]);
    expect((await lab.instance()).status?.timeline?.every(({ attempts }) => attempts === 1)).toBe(true);
    expect((await lab.events()).filter(line => line.includes('Failure'))).toEqual([]);
  });
}

test('a bundle that was changed where it lay is uploaded again', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  let kills = 0;
  const operator = lab.start();
  host.faults.exec = async command => {
    if (!command.includes(' stage ') || kills > 0) return undefined;
    kills += 1;
    await operator.kill();
    const [path = ''] = host.uploads.slice(-1);
    host.model.files.tamper(path, 'x'.repeat(Buffer.byteLength(host.model.fileTexts.get(path) ?? '')));
    return refused;
  };
  await lab.add();
  await until(() => kills === 1 && host.openConnections === 0);
  const [bundle = ''] = host.uploads.slice(-1);
  lab.start();
  await until(async () => (await lab.instance()).status?.phase === 'Ready');
  expect(host.uploads.filter(path => path === bundle)).toHaveLength(2);
});

test('the host key is recorded before anything is done on the host', async () => {
  const lab = await startJoinLab();
  const host = lab.host();
  const stored: unknown[] = [];
  host.faults.exec = async () => {
    stored.push((await lab.instance()).status?.hostKey);
    return refused;
  };
  lab.start();
  await lab.add();
  await until(async () => (await lab.instance()).status?.phase === 'Failed');
  expect(stored[0]).toBe(printPublicKey(host.hostKey));
});
