import { existsSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { AppError } from '#base/errors.ts';
import { windowsInstances } from '#cluster/windows-instance-resource.ts';
import { sandboxDouble } from '../../../test/kit/sandbox-double.ts';
import { type StatusCluster, statusCluster } from '../../../test/kit/status-cluster.ts';
import {
  instanceOf,
  type RecordedTerminal,
  recordedTerminal,
  type StateName,
  statuses,
} from '../../../test/kit/status-views.ts';
import { main } from '../main.ts';
import type { TerminalSize } from '../terminal.ts';
import { sandboxProgram } from './program.ts';
import type { RunningSandbox, SandboxFactory, SandboxSpec } from './running.ts';

/** A sandbox whose operator is the test. */
interface Stage extends AsyncDisposable {
  cluster: StatusCluster;
  factory: SandboxFactory;
  /** What the command requested. */
  specs: SandboxSpec[];
  operatorExit: AbortController;
  isRunning(): boolean;
}

async function stage(fail?: AppError): Promise<Stage> {
  const cluster = await statusCluster();
  await cluster.lead(systemClock.now());
  await cluster.putNode('win-1');
  const specs: SandboxSpec[] = [];
  const operatorExit = new AbortController();
  let running = 0;
  const machine = (name: string, ...faults: string[]) => ({
    name,
    faults,
    sshSessions: 7,
    uploadedBytes: 8e6,
    reboots: 0,
    installed: { services: [], networks: [] },
  });
  const start = async (spec: SandboxSpec): Promise<RunningSandbox> => {
    specs.push(spec);
    if (fail !== undefined) throw fail;
    running += 1;
    return sandboxDouble(cluster, {
      operatorExit: operatorExit.signal,
      hosts: () => [machine('win-1'), machine('win-2', 'wrong-key')],
      [Symbol.asyncDispose]: async () => void (running -= 1),
    });
  };
  const factory = {
    faults: [
      { name: 'no-ssh', description: 'no SSH server' },
      { name: 'german', description: 'speaks German' },
    ],
    endFaultAnnotation: 'sandbox.test/end',
    start,
  };
  return {
    cluster,
    factory,
    specs,
    operatorExit,
    isRunning: () => running > 0,
    [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose](),
  };
}

const statusOf = (state: StateName) => structuredClone(statuses[state]);
const put = (cluster: StatusCluster, name: string, state: StateName) =>
  cluster.putInstance(instanceOf(name, statusOf(state)));
const change = (cluster: StatusCluster, name: string, state: StateName) =>
  cluster.client.patch(
    windowsInstances,
    name,
    { type: 'merge', body: { status: { progress: null, step: null, ...statusOf(state) } } },
    { namespace: cluster.namespace, subresource: 'status' },
  );

interface Show {
  terminal: RecordedTerminal;
  ended: Promise<number>;
  prints: (text: string | RegExp) => Promise<void>;
}

function show(words: string[], { factory }: Stage, size?: TerminalSize): Show {
  const terminal = recordedTerminal(size, { NO_COLOR: '1' }, systemClock);
  const program = {
    name: 'sandbox',
    summary: '',
    run: (rest: readonly string[]) => sandboxProgram(rest, terminal, () => Promise.resolve(factory)),
  };
  const ended = main(['sandbox', ...words], { ...terminal, stdin: () => Promise.resolve(''), runtime: '' }, [program]);
  return {
    terminal,
    ended,
    prints: text => expect.poll(() => terminal.text(), { interval: 20 }).toMatch(text),
  };
}

const two = ['--hosts', '2', '--machines', '0'];

test('exits with 0 when all hosts are Ready and prints the summary', async () => {
  await using set = await stage();
  await put(set.cluster, 'win-1', 'ready');
  await put(set.cluster, 'win-2', 'configuring');
  const { terminal, ended, prints } = show(two, set);
  await prints(/win-2 +stage programs: 3\.0 of 6\.0 MB/);
  await change(set.cluster, 'win-2', 'ready');
  expect(await ended).toBe(0);
  expect(terminal.text()).toMatch(/^Cluster at https:\/\/127\.0\.0\.1:\d+ with 2 hosts and 0 Machines; .* 2 times/);
  expect(terminal.text()).toMatch(/^win-1 +win-1 +Ready +12 s +7 +8\.0 MB +uncordon, 2\.0 s$/m);
  expect(terminal.text()).toMatch(/^2 of 2 hosts Ready in .* of sandbox time\)\.$/m);
  expect(set.isRunning()).toBe(false);
});

test('exits with 1 when hosts are missing', async () => {
  await using set = await stage();
  await put(set.cluster, 'win-1', 'ready');
  const { terminal, ended } = show([...two, '--timeout', '1s'], set);
  expect(await ended).toBe(1);
  expect(terminal.text()).toContain('1 of 1 host Ready in ');
  expect(terminal.text()).toContain('Timed out: --timeout is 1.0 s.');
});

test('exits with 1 and remedies when hosts keep failing', async () => {
  await using set = await stage();
  await put(set.cluster, 'win-1', 'ready');
  await put(set.cluster, 'win-2', 'failed');
  const { terminal, ended } = show([...two, '--exit-when-ready'], set);
  expect(await ended).toBe(1);
  expect(terminal.text()).toMatch(
    /\nwin-2: HOST_REFUSED_KEY\n {2}the host does not let us in\n {2}-> Put the key there\.\n/,
  );
});

test('--serve keeps running and removes its kubeconfig at the end', async () => {
  await using set = await stage();
  await put(set.cluster, 'win-1', 'ready');
  await put(set.cluster, 'win-2', 'ready');
  const { terminal, ended, prints } = show([...two, '--serve'], set);
  await prints('Running until Ctrl-C');
  const path = /KUBECONFIG=(\S+)/.exec(terminal.text())?.[1] ?? '';
  expect(readFileSync(path, 'utf8')).toBe(set.cluster.sandbox.kubeconfig);
  await change(set.cluster, 'win-2', 'failed');
  await prints(/win-2 +Failed at connect: HOST_REFUSED_KEY/);
  terminal.stop();
  // The user may break it later.
  expect(await ended).toBe(0);
  expect([existsSync(path), set.isRunning()]).toEqual([false, false]);
  expect(terminal.text()).toMatch(/Stopping the sandbox and removing its files\.\n$/);
});

test('on a terminal it draws a table and keeps running', async () => {
  await using set = await stage();
  await put(set.cluster, 'win-1', 'ready');
  await put(set.cluster, 'win-2', 'ready');
  const { terminal, ended, prints } = show(two, set, { columns: 90, rows: 30 });
  await prints('Running until Ctrl-C');
  expect(terminal.text()).toMatch(/2 of 2 hosts Ready in /);
  terminal.stop();
  expect(await ended).toBe(0);
  expect(terminal.text().lastIndexOf('\u001b[?25h')).toBeGreaterThan(terminal.text().lastIndexOf('\u001b[?25l'));
});

test('on a terminal with --exit-when-ready it exits', async () => {
  await using set = await stage();
  await put(set.cluster, 'win-1', 'ready');
  const { terminal, ended } = show(['--hosts', '1', '--machines', '0', '--exit-when-ready'], set, {
    columns: 90,
    rows: 30,
  });
  expect(await ended).toBe(0);
  expect(terminal.text()).toContain('SLOWEST STEP');
});

test('stopped before all hosts are Ready, it exits with 1 and prints the summary', async () => {
  await using set = await stage();
  await put(set.cluster, 'win-1', 'configuring');
  const { terminal, ended, prints } = show(two, set);
  await prints(/win-1 +stage programs/);
  terminal.stop();
  expect(await ended).toBe(1);
  expect(terminal.text()).toMatch(/0 of \d hosts? Ready in /);
  expect(set.isRunning()).toBe(false);
});

test('prints the kubeconfig and commands at once, and then a hint about the failing host', async () => {
  await using set = await stage();
  await put(set.cluster, 'win-1', 'configuring');
  const { terminal, ended, prints } = show(two, set);
  await prints(/win-1 +stage programs/);
  expect(terminal.text()).toMatch(
    /^Cluster at .*\nIn another terminal:\n {2}export KUBECONFIG=\S+\n[^]*\/opt\/wmco status\n/,
  );
  expect(terminal.text()).not.toContain('annotate');
  await put(set.cluster, 'win-2', 'failed');
  await prints(
    /\n {2}\/opt\/wmco status win-2\n {2}kubectl annotate wi win-2 -n \S+ \\\n {4}sandbox\.test\/end=wrong-key/,
  );
  terminal.stop();
  await ended;
});

for (const size of [undefined, { columns: 80, rows: 24 }]) {
  test(`Ctrl-C leaves the last table and the remedies ${size === undefined ? 'in a log' : 'on a terminal'}`, async () => {
    await using set = await stage();
    await put(set.cluster, 'win-1', 'ready');
    await put(set.cluster, 'win-2', 'failed');
    const { terminal, ended, prints } = show([...two, '--serve'], set, size);
    await prints('Running until Ctrl-C');
    terminal.stop();
    await ended;
    const last = terminal.text().slice(terminal.text().lastIndexOf('\nHOST '));
    const table = terminal.text().slice(terminal.text().lastIndexOf('DETAIL'));
    expect(table).toMatch(/win-1[^]*win-2[^]*2 hosts: 1 Ready, 1 with a problem[^]*-> Put the key there\./);
    expect(last).toMatch(/SLOWEST STEP[^]*1 of 2 hosts Ready in [^]*Stopping the sandbox/);
  });
}

test('stopped before it starts, it exits without output', async () => {
  await using set = await stage();
  const { terminal, ended } = show(two, set);
  terminal.stop();
  expect(await ended).toBe(1);
  expect([terminal.errors(), set.isRunning()]).toEqual(['', false]);
});

const ends: [string, unknown, RegExp][] = [
  [
    'an error',
    new AppError('LEADERSHIP_LOST', 'another leads', { remedy: 'Wait.' }),
    /^error: LEADERSHIP_LOST: another leads\n {2}-> Wait\.\n/,
  ],
  ['a bug', new TypeError('oops'), /^error: INTERNAL_ERROR: TypeError: oops\n/],
];
for (const [name, reason, want] of ends) {
  test(`exits when the operator exits with ${name}`, async () => {
    await using set = await stage();
    await put(set.cluster, 'win-1', 'configuring');
    const { terminal, ended, prints } = show(two, set);
    await prints(/win-1/);
    set.operatorExit.abort(reason);
    expect(await ended).toBe(1);
    expect(terminal.errors()).toMatch(want);
    expect(set.isRunning()).toBe(false);
  });
}

test('passes its options to the sandbox', async () => {
  const refusal = new AppError('USAGE', 'there is no fault "x"', { remedy: 'See --faults.' });
  await using set = await stage(refusal);
  const words = ['--hosts', '3', '--machines', '1', '--speed', '7', '--port', '6443', '--faults', 'x@win-1,y'];
  const { terminal, ended } = show(words, set);
  expect(await ended).toBe(2);
  expect(terminal.errors()).toBe('error: there is no fault "x"\n  -> See --faults.\n');
  const [spec] = set.specs;
  expect(spec).toMatchObject({
    hosts: 3,
    machines: 1,
    speed: 7,
    port: 6443,
    faults: ['x@win-1', 'y'],
    version: '11.0.0-test',
  });
  expect(existsSync(spec?.folder ?? '')).toBe(false);
});

test('--faults lists all faults and how to end them without starting a sandbox', async () => {
  await using set = await stage();
  const { terminal, ended } = show(['--faults'], set);
  expect(await ended).toBe(0);
  expect(terminal.text()).toMatch(/^no-ssh {2}no SSH server\ngerman {2}speaks German\n\n/);
  expect(terminal.text()).toMatch(/kubectl annotate windowsinstance HOST -n \S+ sandbox\.test\/end=FAULT/);
  expect(set.specs).toEqual([]);
});

test('a kubeconfig that cannot be written is a usage error and leaves no files', async () => {
  await using set = await stage();
  const { terminal, ended } = show(['--kubeconfig', '/nonexistent/x'], set);
  expect(await ended).toBe(2);
  expect(terminal.errors()).toMatch(/^error: OUTPUT_UNWRITABLE: \/nonexistent\/x/);
  expect(set.isRunning()).toBe(false);
});
