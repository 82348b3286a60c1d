import { expect, test } from 'vitest';
import { descriptorOf } from '#agent/access/plan.ts';
import type { ErrorCode } from '#base/error-codes.ts';
import { AppError } from '#base/errors.ts';
import { agentProgram, dir, file } from '#contract/paths.ts';
import { JourneyBench } from '../../../../test/kit/lifecycle/journey-bench.ts';
import { rejectionOf } from '../../../../test/kit/outcome.ts';
import { uploadAgent, secureFolders, takeInventory } from './agent-program.ts';
import { connect } from './connect.ts';
import { prepareFiles } from './prepare-files.ts';

async function bench() {
  const lab = new JourneyBench();
  await lab.take(connect, prepareFiles);
  const { agent } = lab.journey.prepared;
  const program = agentProgram(agent.sha256);
  const content = Buffer.concat(await Array.fromAsync(agent.content()));
  const { fileTexts, files } = lab.host.model;
  return { lab, program, content, fileTexts, files };
}
const told = (code: ErrorCode) => ({
  exitCode: 1,
  stdout: JSON.stringify({ error: { code, message: 'm', remedy: 'r' } }),
  stderr: '',
});

test('an agent that is there is not sent; there is one session for files and one for each command', async () => {
  const { lab, program, content, fileTexts } = await bench();
  fileTexts.set(program, content);
  await lab.take(uploadAgent, takeInventory, secureFolders);
  expect([lab.host.verbs(), lab.host.uploads]).toEqual([['inventory', 'secure'], []]);
  expect(lab.journey.host.usage()).toMatchObject({ execSessions: 2, sftpSessions: 1 });
  expect(lab.journey.inventory.hostName).toBe('win-5');
});

test('an agent that is not there is sent to a folder of its hash, and put in place from there', async () => {
  const { lab, program, content, fileTexts } = await bench();
  await lab.take(uploadAgent, takeInventory);
  expect(fileTexts.has(file.agent)).toBe(false);
  await lab.take(secureFolders);
  expect([lab.host.verbs(), lab.host.uploads]).toEqual([['inventory', 'secure'], [program]]);
  expect(fileTexts.get(file.agent)).toBe(content.toString());
});

test('no program below C:\\k is ever run, whoever put it there', async () => {
  const { lab, content, fileTexts, files } = await bench();
  fileTexts.set(file.agent, 'evil');
  fileTexts.set(`${dir.k}\\version.dll`, 'evil');
  files.rights.set(dir.k, { ...descriptorOf('programs'), owner: 'S-1-5-21-1-2-3-1001' });
  await lab.take(uploadAgent, takeInventory, secureFolders);
  expect(lab.host.commands.filter(command => !command.startsWith(`${dir.agentPrograms}\\`))).toEqual([]);
  expect([fileTexts.get(file.agent), fileTexts.has(`${dir.k}\\version.dll`)]).toEqual([content.toString(), false]);
  expect(lab.logged.messages('warn')).toEqual(['Secured folders of host']);
});

test('one of another size is sent again before anything is run', async () => {
  const { lab, program, fileTexts } = await bench();
  fileTexts.set(program, 'cut short');
  await lab.take(uploadAgent, takeInventory);
  expect([lab.host.verbs(), lab.host.uploads]).toEqual([['inventory'], [program]]);
});

test('one of the same size and another content is sent once more', async () => {
  const { lab, program, content, fileTexts } = await bench();
  fileTexts.set(program, Buffer.alloc(content.length, 'x'));
  await lab.take(uploadAgent, takeInventory);
  expect([lab.host.verbs(), lab.host.uploads]).toEqual([['inventory', 'inventory'], [program]]);
  expect(fileTexts.get(program)).toBe(content.toString());
});

const signs: [string, { exitCode: number; stdout: string; stderr: string }][] = [
  ['that does not start', { exitCode: 216, stdout: '', stderr: 'This version of the file is not compatible' }],
  ['that answers with something else', { exitCode: 0, stdout: 'hello', stderr: '' }],
];
for (const [name, answer] of signs) {
  test(`a program ${name} is sent once more`, async () => {
    const { lab, program } = await bench();
    await lab.take(uploadAgent);
    let isFirst = true;
    lab.host.faults.exec = () => {
      const instead = isFirst ? answer : undefined;
      isFirst = false;
      return instead;
    };
    await lab.take(takeInventory);
    expect(lab.host.uploads).toEqual([program, program]);
  });
}

test('a program that never starts is reported, after two attempts', async () => {
  const { lab, program } = await bench();
  lab.host.faults.exec = () => ({ exitCode: 5, stdout: '', stderr: 'Zugriff verweigert' });
  expect(await rejectionOf(lab.take(uploadAgent, takeInventory))).toMatchObject({
    code: 'AGENT_UNUSABLE',
    remedy: expect.stringContaining(program) as string,
  });
  expect(lab.host.verbs()).toEqual(['inventory', 'inventory']);
});

const others: [string, () => never, ErrorCode][] = [
  ['a command that does not end', () => fail('HOST_COMMAND_TIMEOUT'), 'HOST_COMMAND_TIMEOUT'],
  ['a host that starts no command', () => fail('HOST_COMMAND_REFUSED'), 'HOST_COMMAND_REFUSED'],
];
function fail(code: ErrorCode): never {
  throw new AppError(code, '10.0.0.5: m', { remedy: 'r' });
}
for (const [name, act, code] of others) {
  test(`${name} says nothing about the agent, which is not sent again`, async () => {
    const { lab, program } = await bench();
    lab.host.faults.exec = act;
    expect(await rejectionOf(lab.take(uploadAgent, takeInventory))).toMatchObject({ code });
    expect(lab.host.uploads).toEqual([program]);
  });
}

test.each<ErrorCode>(['WINDOWS_NATIVE_UNUSABLE', 'HOST_FOLDER_UNSAFE'])(
  'an agent that fails with %s says why, and is not sent again',
  async code => {
    const { lab, program } = await bench();
    lab.host.faults.exec = command => (command.includes(' secure') ? told(code) : undefined);
    expect(await rejectionOf(lab.take(uploadAgent, takeInventory, secureFolders))).toMatchObject({ code });
    expect(lab.host.uploads).toEqual([program]);
  },
);

test('an agent that is not in place although it says so is not used', async () => {
  const { lab, program } = await bench();
  const without = (missing: string) => (verb: string, data: Record<string, unknown>) => {
    const inventory = (verb === 'secure' ? data['inventory'] : data) as Record<string, unknown>;
    const files = inventory['files'] as Record<string, string>;
    const left = {
      ...inventory,
      files: Object.fromEntries(Object.entries(files).filter(([path]) => path !== missing)),
    };
    return verb === 'secure' ? { ...data, inventory: left } : left;
  };
  lab.host.faults.answer = without(file.agent);
  expect(await rejectionOf(lab.take(uploadAgent, takeInventory, secureFolders))).toMatchObject({
    code: 'AGENT_UNUSABLE',
    message: expect.stringContaining(file.agent) as string,
  });
  lab.host.faults.answer = without(program);
  expect(await rejectionOf(lab.take(takeInventory))).toMatchObject({
    code: 'AGENT_PROGRAM_DAMAGED',
    message: expect.stringContaining(program) as string,
  });
});

test.each<ErrorCode>(['HOST_FILE_DENIED', 'HOST_FILE_MISSING'])(
  'a user who may not write below C:\\Windows (%s) is no administrator',
  async code => {
    const { lab } = await bench();
    lab.host.faults.upload = () => fail(code);
    expect(await rejectionOf(lab.take(uploadAgent))).toMatchObject({
      code: 'HOST_NOT_ADMINISTRATOR',
      message: '10.0.0.5: the user is not an administrator (m)',
    });
    expect(lab.host.commands).toEqual([]);
  },
);

test('the upload takes a place and gives it back, whatever comes of it', async () => {
  const { lab } = await bench();
  const { uploads } = lab.journey.deps.slots;
  const taken: number[] = [];
  lab.host.faults.upload = () => {
    taken.push(uploads.taken);
    fail('HOST_DISK_FULL');
  };
  expect(await rejectionOf(lab.take(uploadAgent))).toMatchObject({ code: 'HOST_DISK_FULL' });
  expect([taken, uploads.taken]).toEqual([[1], 0]);
});

test('the progress of the upload ends with all its bytes', async () => {
  const { lab } = await bench();
  const reports: number[] = [];
  await uploadAgent.run(lab.journey, {
    signal: lab.stop.signal,
    note: () => undefined,
    report: ({ bytes }) => void reports.push(bytes),
    queued: wait => wait(),
    hint: () => undefined,
  });
  expect(reports[0]).toBe(0);
  expect(reports.at(-1)).toBe(lab.journey.prepared.agent.bytes);
});
