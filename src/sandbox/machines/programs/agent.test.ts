import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { ModelHost } from '../../../../test/kit/model-host.ts';
import { recordedLog } from '../../../../test/kit/recorded-log.ts';
import { freshState } from '../host/state.ts';
import { defaultTimes } from '../times.ts';
import { defaultTraits } from '../traits.ts';
import { type AgentRun, agentProgram } from './agent.ts';
import type { ProgramHost } from './program-host.ts';

interface Ran {
  exitCode: number;
  out: string;
  err: string;
  ready: number;
  logged: string[];
}

async function ran(words: string[], over: Partial<AgentRun> = {}, stopAfterMs = 0): Promise<Ran> {
  const recorded = recordedLog();
  const said = { out: '', err: '' };
  let ready = 0;
  const host: ProgramHost = {
    pid: 4711,
    ports: new ModelHost(),
    state: freshState({ hostName: 'win-1', address: '10.0.0.11', dnsSuffix: '', id: 'x' }, defaultTraits),
    clock: systemClock,
    delays: systemClock,
    times: defaultTimes,
    traits: defaultTraits,
    log: recorded.log,
  };
  const stop = new AbortController();
  if (stopAfterMs > 0) setTimeout(() => stop.abort(new Error('stopped')), stopAfterMs);
  const program = agentProgram(
    {
      path: 'C:\\k\\windows-instance-config-daemon.exe',
      words,
      version: '11.0.0-5',
      startedBy: 'user',
      terminal: { out: text => void (said.out += text), err: text => void (said.err += text) },
      ...over,
    },
    host,
  );
  const exitCode = await program({ signal: stop.signal, ready: () => void (ready += 1) });
  return { exitCode, ...said, ready, logged: recorded.lines.map(({ message }) => message) };
}

const controller = [
  'controller',
  '--windows-service',
  '--kubeconfig',
  'C:\\k\\none',
  '--namespace',
  'ns',
  '--node',
  'win-1',
];

test('is the real agent, of the version of its file', async () => {
  const { exitCode, out } = await ran(['version', '-o', 'json']);
  expect([exitCode, JSON.parse(out)]).toEqual([0, { version: '11.0.0-5', runtime: 'sandbox windows/amd64' }]);
});

test('asks the host it runs on', async () => {
  const { exitCode, out } = await ran(['inventory', '-o', 'json']);
  expect([exitCode, JSON.parse(out)]).toMatchObject([0, { hostName: 'win-1', agentVersion: '11.0.0-5' }]);
});

test('reports errors of the command line', async () => {
  const { exitCode, err } = await ran(['stage']);
  expect([exitCode, err]).toEqual([1, expect.stringMatching(/^error: missing --bundle and --sha256/)]);
});

test('writes its progress to the terminal', async () => {
  const { exitCode, err } = await ran(['cleanup', '--kubeconfig', 'C:\\k\\none', '--namespace', 'ns']);
  expect(exitCode).toBe(0);
  expect(err).toContain('Cleaning up host');
});

test('a user cannot run it as a service', async () => {
  const { exitCode, err, ready } = await ran(controller);
  expect([exitCode, err, ready]).toEqual([1, expect.stringContaining('WINDOWS_NOT_A_SERVICE'), 0]);
});

test('the service manager can start the service, which logs to the host and stops on request', async () => {
  const words = [...controller, '--log-dir', 'C:\\l'];
  const { exitCode, out, logged } = await ran(words, { startedBy: 'service manager' }, 200);
  expect([exitCode, out]).toEqual([0, '']);
  expect(logged[0]).toBe('Starting');
  expect(logged.at(-1)).toMatch(/^Stopped/);
});

test('a verb without its kubeconfig fails with a matching error code', async () => {
  const words = [
    'bootstrap',
    '--kubeconfig',
    'C:\\k\\none',
    '--namespace',
    'ns',
    '--desired-version',
    '1',
    '--node',
    'win-1',
  ];
  const { exitCode, err } = await ran(words);
  expect([exitCode, err]).toEqual([1, expect.stringContaining('CREDENTIAL_UNREADABLE')]);
});
