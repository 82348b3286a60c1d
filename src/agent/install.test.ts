import { expect, test } from 'vitest';
import { agentRecovery, controllerCommand } from '#contract/agent-command.ts';
import { agentName } from '#contract/names.ts';
import { runIn, worldOf } from '../../test/kit/agent-bench.ts';
import { ModelHost } from '../../test/kit/model-host.ts';
import { installAgent } from './install.ts';
import type { InstalledConfig, ServiceState } from './ports.ts';

const command = controllerCommand({ namespace: 'ns', node: 'win-1' });
const good: InstalledConfig = {
  command,
  description: `OpenShift managed ${agentName}`,
  dependencies: [],
  startType: 'automatic',
  recovery: agentRecovery,
};
const install = (host: ModelHost) => installAgent(command, host, host.waiting());

test('makes the service with description, start type and recovery, and starts it', async () => {
  const host = new ModelHost();
  expect(await install(host)).toEqual({ created: true, changed: false, started: true });
  expect(await host.services.list()).toMatchObject([{ name: agentName, state: 'running', config: good }]);
  expect(host.services.calls).toEqual([`create ${agentName}`, `start ${agentName}`]);
});

const found: [string, Partial<InstalledConfig>, ServiceState, calls: string[]][] = [
  ['leaves alone what is as it should be', {}, 'running', []],
  ['waits for nobody who is starting', {}, 'start-pending', []],
  ['starts what has stopped', {}, 'stopped', ['start']],
  ['stops it before it gets another command', { command: 'old.exe' }, 'running', ['stop', 'configure', 'start']],
  [
    'corrects a command without a stop where it does not run',
    { command: 'old.exe' },
    'stopped',
    ['configure', 'start'],
  ],
  ['corrects a description without a restart', { description: 'mine' }, 'running', ['configure']],
  ['corrects the start type', { startType: 'disabled' }, 'stopped', ['configure', 'start']],
  ['corrects the recovery', { recovery: undefined }, 'running', ['configure']],
  ['corrects no recovery that cannot be read', { recovery: 'unreadable' }, 'running', []],
  ['takes away dependencies', { dependencies: ['W32Time'] }, 'stopped', ['configure', 'start']],
  ['starts what was paused anew', {}, 'paused', ['stop', 'start']],
];
for (const [name, config, state, calls] of found) {
  test(name, async () => {
    const host = new ModelHost();
    host.services.slowness = 1;
    host.services.install(agentName, { ...good, ...config }, state);
    const outcome = await install(host);
    expect(host.services.calls).toEqual(calls.map(call => `${call} ${agentName}`));
    const [did, started] = [calls.includes('configure'), calls.includes('start')];
    expect(outcome).toEqual({ created: false, changed: did, started });
  });
}

test('does nothing the second time', async () => {
  const host = new ModelHost();
  await install(host);
  expect(await install(host)).toEqual({ created: false, changed: false, started: false });
});

test('does not mind that Windows was quicker with the start', async () => {
  const host = new ModelHost();
  host.services.install(agentName, good, 'stopped');
  host.services.before = call => {
    if (call.startsWith('start')) host.services.install(agentName, good, 'running');
  };
  expect(await install(host)).toMatchObject({ started: false });
});

test('tells that Windows refuses the start', async () => {
  const host = new ModelHost();
  host.services.before = call => {
    if (call.startsWith('start')) throw new Error('1053: it did not answer');
  };
  await expect(install(host)).rejects.toThrow('1053');
});

test('is a verb that tells what it did, and says nothing of log files unless told', async () => {
  const host = new ModelHost();
  const run = (line: string) => runIn(worldOf(host), line);
  expect((await run('install --namespace ns')).out).toBe(`Service ${agentName}: created, started.\n`);
  expect((await run('install --namespace ns')).out).toBe(`Nothing to do: service ${agentName} is as it should be.\n`);
  const changed = await run('install --namespace ns --service-log-size 105 -o json');
  expect(JSON.parse(changed.out)).toEqual({ created: false, changed: true, started: true });
  const [{ config } = { config: undefined }] = await host.services.list();
  expect(config?.command).toBe(controllerCommand({ namespace: 'ns', node: 'win-1', logMegabytes: 105 }));
  expect((await run('install')).err).toContain('install needs --namespace');
  expect((await run('install --namespace ns --service-log-size much')).err).toContain('a whole number of megabytes');
});
