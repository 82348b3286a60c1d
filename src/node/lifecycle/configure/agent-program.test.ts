import { expect, test } from 'vitest';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { file } from '#contract/paths.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { bringAgent, takeInventory } from './agent-program.ts';
import { connect } from './connect.ts';
import { gather } from './gather.ts';

async function bench(): Promise<JourneyBench> {
  const lab = new JourneyBench();
  await lab.take(connect, gather);
  return lab;
}
const told = (code: ErrorCode) => ({
  exitCode: 1,
  stdout: JSON.stringify({ error: { code, message: 'm', remedy: 'r' } }),
  stderr: '',
});
async function installed(lab: JourneyBench): Promise<void> {
  const { agent } = lab.journey.gathered;
  lab.host.model.fileTexts.set(agent.path, Buffer.concat(await Array.fromAsync(agent.content())));
}

test('an agent that is the right one is asked once, and not sent', async () => {
  const lab = await bench();
  await installed(lab);
  await lab.take(bringAgent, takeInventory);
  expect([lab.host.verbs(), lab.host.uploads]).toEqual([['inventory'], []]);
  expect(lab.journey.inventory.hostName).toBe('win-5');
});

test('an agent that is not there is sent, and asked then', async () => {
  const lab = await bench();
  await lab.take(bringAgent, takeInventory);
  expect([lab.host.verbs(), lab.host.uploads]).toEqual([['inventory', 'inventory'], [file.agent]]);
});

test('an agent of ours that is another one puts the new one in its place, and the version of all else stays', async () => {
  const lab = await bench();
  lab.host.model.fileTexts.set(file.agent, 'an older agent');
  lab.host.faults.answer = (verb, data) => (verb === 'inventory' ? { ...data, stagedVersion: 'v1' } : data);
  await lab.take(bringAgent);
  expect(lab.host.verbs()).toEqual(['inventory', 'stage']);
  expect(lab.host.uploads).toEqual([expect.stringContaining('incoming')]);
  const record = JSON.parse(lab.host.model.fileTexts.get(file.stagedRecord) ?? '') as { version: string };
  expect(record.version).toBe('v1');
  await lab.take(takeInventory);
  expect(lab.host.model.fileTexts.get(file.agent)).toContain('.exe one');
});

const signs: [string, ErrorCode | 'words' | 'no inventory'][] = [
  ['that knows less than ours', 'USAGE'],
  ['of somebody else', 'words'],
  ['whose inventory lacks what we need', 'no inventory'],
];
for (const [name, sign] of signs) {
  test(`an agent ${name} is replaced`, async () => {
    const lab = await bench();
    let isFirst = true;
    lab.host.faults.exec = () => {
      if (!isFirst) return undefined;
      isFirst = false;
      if (sign === 'words') return { exitCode: 2, stdout: 'unknown command "inventory"', stderr: '' };
      return sign === 'no inventory' ? { exitCode: 0, stdout: '{"hostName": 5}', stderr: '' } : told(sign);
    };
    await lab.take(bringAgent, takeInventory);
    expect(lab.host.uploads).toEqual([file.agent]);
  });
}

const others: [string, () => never][] = [
  ['a command that does not end', () => fail('HOST_COMMAND_TIMEOUT')],
  ['a host that starts no command', () => fail('HOST_COMMAND_REFUSED')],
];
function fail(code: ErrorCode): never {
  throw new AppError(code, 'm', { remedy: 'r' });
}
for (const [name, act] of others) {
  test(`${name} says nothing about the agent, which is not sent`, async () => {
    const lab = await bench();
    lab.host.faults.exec = act;
    expect((await rejectionOf(lab.take(bringAgent)))?.code).toMatch(/^HOST_COMMAND_/);
    expect(lab.host.uploads).toEqual([]);
  });
}

test('an agent of ours that fails says why, and is not sent again', async () => {
  const lab = await bench();
  lab.host.faults.exec = () => told('WINDOWS_NATIVE_UNUSABLE');
  expect(await rejectionOf(lab.take(bringAgent))).toMatchObject({ code: 'WINDOWS_NATIVE_UNUSABLE' });
  expect(lab.host.uploads).toEqual([]);
});

test('the upload takes a place and gives it back, whatever comes of it', async () => {
  const lab = await bench();
  const { uploads } = lab.journey.world.slots;
  const taken: number[] = [];
  lab.host.faults.upload = () => {
    taken.push(uploads.taken);
    fail('HOST_DISK_FULL');
  };
  expect(await rejectionOf(lab.take(bringAgent))).toMatchObject({ code: 'HOST_DISK_FULL' });
  expect([taken, uploads.taken]).toEqual([[1], 0]);
});

test('a file that stays in use, although the service was stopped, is told', async () => {
  const lab = await bench();
  lab.host.faults.upload = () => fail('HOST_FILE_DENIED');
  expect(await rejectionOf(lab.take(bringAgent))).toMatchObject({ code: 'HOST_FILE_DENIED' });
  expect(lab.host.commands.filter(command => command.startsWith('sc.exe'))).toHaveLength(1);
});

test('the progress of the upload ends with all its bytes', async () => {
  const lab = await bench();
  const reports: number[] = [];
  await bringAgent.make(lab.journey, {
    signal: lab.stop.signal,
    note: () => undefined,
    report: ({ bytes }) => void reports.push(bytes),
  });
  expect(reports.at(-1)).toBe(lab.journey.gathered.agent.bytes);
});
