import { expect, test } from 'vitest';
import { agentRecovery } from '#contract/agent-command.ts';
import { service } from '#contract/services/manifest.ts';
import type { InstalledConfig, InstalledService, ServiceConfig, ServiceState } from '../ports.ts';
import { type DesiredService, desiredService, planServices, type ServiceAction } from './plan.ts';

const want = (name: string, over: Partial<ServiceConfig> & Partial<DesiredService> = {}): DesiredService => {
  const { prepares = false, filesChanged = false, environmentChanged = false, ...config } = over;
  const base = desiredService(service({ name, command: `${name}.exe` }), `${name}.exe`);
  return { ...base, prepares, filesChanged, environmentChanged, config: { ...base.config, ...config } };
};
/** The service as it would be if it had been configured as `want` says, with some members different. */
const have = (
  name: string,
  over: Partial<InstalledConfig> = {},
  state: ServiceState = 'running',
): InstalledService => ({
  name,
  state,
  pid: state === 'stopped' ? 0 : 7,
  config: { ...want(name).config, ...over },
});
const foreign = (name: string, dependencies: string[], state: ServiceState = 'running'): InstalledService => ({
  name,
  state,
  pid: 9,
  config: { command: 'x', description: 'of somebody else', dependencies, startType: 'manual', recovery: undefined },
});
const brief = (actions: readonly ServiceAction[]) => actions.map(action => `${action.do} ${action.name}`).join(', ');
const plan = (wanted: DesiredService[], actual: InstalledService[], remembered: string[] = []) =>
  brief(planServices(wanted, actual, remembered).actions);
const old = { command: 'old.exe' };

const cases: [name: string, wanted: DesiredService[], actual: InstalledService[], want: string][] = [
  ['does nothing for nothing', [], [], ''],
  ['leaves services of others alone', [], [have('spooler')], ''],
  ['creates and starts what is missing', [want('a')], [], 'create a, start a'],
  ['does not touch what is as it should be', [want('a')], [have('a')], ''],
  ['starts what has stopped', [want('a')], [have('a', {}, 'stopped')], 'start a'],
  ['waits for what is starting', [want('a')], [have('a', {}, 'start-pending')], 'start a'],
  ['starts again what is stopping', [want('a')], [have('a', {}, 'stop-pending')], 'start a'],
  ['waits for what continues after a pause', [want('a')], [have('a', {}, 'continue-pending')], 'start a'],
  ['starts anew what is paused', [want('a')], [have('a', {}, 'paused')], 'stop a, start a'],
  ['starts anew what is pausing', [want('a')], [have('a', {}, 'pause-pending')], 'stop a, start a'],
  ['corrects a command', [want('a')], [have('a', old)], 'stop a, configure a, start a'],
  ['corrects the command of a stopped service', [want('a')], [have('a', old, 'stopped')], 'configure a, start a'],
  [
    'corrects the command of a starting service',
    [want('a')],
    [have('a', old, 'start-pending')],
    'stop a, configure a, start a',
  ],
  [
    'fills in an empty service without our tag',
    [want('a')],
    [have('a', { command: '', description: '' })],
    'stop a, configure a, start a',
  ],
  ['corrects a description without a restart', [want('a')], [have('a', { description: '' })], 'configure a'],
  ['corrects the start type without a restart', [want('a')], [have('a', { startType: 'disabled' })], 'configure a'],
  ['corrects the recovery without a restart', [want('a')], [have('a', { recovery: undefined })], 'configure a'],
  [
    'corrects a delay of the recovery',
    [want('a')],
    [have('a', { recovery: { resetSeconds: 300, restartDelaysMs: [10] } })],
    'configure a',
  ],
  ['leaves a recovery alone that cannot be read', [want('a')], [have('a', { recovery: 'unreadable' })], ''],
  [
    'sets a recovery that cannot be read together with the rest',
    [want('a')],
    [have('a', { recovery: 'unreadable', description: '' })],
    'configure a',
  ],
  ['clears dependencies', [want('a')], [have('a', { dependencies: ['b'] }), have('b')], 'stop a, configure a, start a'],
  [
    'sets dependencies',
    [want('b'), want('a', { dependencies: ['b'] })],
    [have('a'), have('b')],
    'stop a, configure a, start a',
  ],
  [
    'sets the order of dependencies',
    [want('a', { dependencies: ['x', 'y'] })],
    [have('a', { dependencies: ['y', 'x'] })],
    'stop a, configure a, start a',
  ],
  [
    'takes another spelling of a dependency as the same',
    [want('a', { dependencies: ['Tcpip'] })],
    [have('a', { dependencies: ['TCPIP'] })],
    '',
  ],
  [
    'takes another spelling of a name as the same service',
    [want('Kubelet')],
    [{ ...have('Kubelet'), name: 'KUBELET' }],
    '',
  ],
  ['restarts a service whose files have changed', [want('a', { filesChanged: true })], [have('a')], 'stop a, start a'],
  [
    'only starts a stopped one whose files have changed',
    [want('a', { filesChanged: true })],
    [have('a', {}, 'stopped')],
    'start a',
  ],
  [
    'restarts a service that sees other variables',
    [want('a', { environment: { A: '1' }, environmentChanged: true })],
    [have('a', { environment: {} })],
    'stop a, configure a, start a',
  ],
  [
    'corrects variables without a restart when the service sees the same',
    [want('a', { environment: {} })],
    [have('a', { environment: { A: '' } })],
    'configure a',
  ],
  ['leaves variables alone that are not known', [want('a')], [have('a', { environment: { A: '1' } })], ''],
  [
    'restarts services in turn that do not depend on each other, the longest chain last',
    [want('a'), want('b', { dependencies: ['a'] }), want('x'), want('new'), want('y')],
    [have('a', old), have('b', { ...old, dependencies: ['a'] }), have('x', old), have('y', old)],
    'stop y, configure y, start y, stop x, configure x, start x, ' +
      'stop b, stop a, configure a, start a, configure b, start b, create new, start new',
  ],
  [
    'restarts services together that depend on each other through a third',
    [want('a'), want('top', { dependencies: ['mid'] }), want('x')],
    [have('a', old), foreign('mid', ['a'], 'stopped'), have('top', { ...old, dependencies: ['mid'] }), have('x', old)],
    'stop x, configure x, start x, stop top, stop a, configure a, start a, configure top, start top',
  ],
  ['prepares a running service too', [want('a', { prepares: true })], [have('a')], 'prepare a'],
  ['prepares before a start', [want('a', { prepares: true })], [], 'create a, prepare a, start a'],
  [
    'prepares after its dependency has started',
    [want('b', { prepares: true, dependencies: ['a'] }), want('a')],
    [],
    'create a, start a, create b, prepare b, start b',
  ],
  ['starts in the order given', [want('b'), want('a')], [], 'create b, start b, create a, start a'],
  [
    'starts dependencies first',
    [want('b', { dependencies: ['a'] }), want('a')],
    [],
    'create a, start a, create b, start b',
  ],
  [
    'stops dependents first and starts them last',
    [want('a'), want('b', { dependencies: ['a'] }), want('c', { dependencies: ['b'] })],
    [have('a', old), have('b', { dependencies: ['a'] }), have('c', { dependencies: ['b'] })],
    'stop c, stop b, stop a, configure a, start a, start b, start c',
  ],
  [
    'does not touch what the changed service depends on',
    [want('a'), want('b', { dependencies: ['a'] })],
    [have('a'), have('b', { ...old, dependencies: ['a'] })],
    'stop b, configure b, start b',
  ],
  [
    'does not stop a dependant that has stopped',
    [want('a'), want('b', { dependencies: ['a'] })],
    [have('a', old), have('b', { dependencies: ['a'] }, 'stopped')],
    'stop a, configure a, start a, start b',
  ],
  [
    'stops dependents by the dependencies they have, not by those they will have',
    [want('a'), want('b')],
    [have('a', old), have('b', { dependencies: ['a'] })],
    'stop b, stop a, configure a, start a, configure b, start b',
  ],
  [
    'stops a dependant behind one that does not run',
    [want('a')],
    [have('a', old), foreign('mid', ['a'], 'stopped'), foreign('top', ['mid'])],
    'stop top, stop a, configure a, start a, start top',
  ],
  [
    'turns a dependency round',
    [want('b', { dependencies: ['a'] }), want('a')],
    [have('a', { dependencies: ['b'] }), have('b')],
    'stop a, stop b, configure a, start a, configure b, start b',
  ],
];
for (const [name, wanted, actual, expected] of cases) test(name, () => expect(plan(wanted, actual)).toBe(expected));

const outsiders: [
  name: string,
  actual: InstalledService[],
  remembered: string[],
  actions: string,
  outside: string[],
][] = [
  [
    'starts again a service of others it had to stop',
    [have('a', old), foreign('x', ['a'])],
    [],
    'stop x, stop a, configure a, start a, start x',
    ['x'],
  ],
  [
    'leaves alone one that had stopped itself',
    [have('a', old), foreign('x', ['a'], 'stopped')],
    [],
    'stop a, configure a, start a',
    [],
  ],
  [
    'does not start one that somebody else is stopping',
    [have('a', old), foreign('x', ['a'], 'stop-pending')],
    [],
    'stop x, stop a, configure a, start a',
    [],
  ],
  [
    'starts several in the order of their dependencies',
    [have('a', old), foreign('y', ['x']), foreign('x', ['a'])],
    [],
    'stop y, stop x, stop a, configure a, start a, start x, start y',
    ['x', 'y'],
  ],
  ['starts one that an earlier pass has stopped', [have('a'), foreign('x', ['a'], 'stopped')], ['x'], 'start x', ['x']],
  [
    'starts one that an earlier pass is still stopping',
    [have('a'), foreign('x', ['a'], 'stop-pending')],
    ['X'],
    'start x',
    ['x'],
  ],
  ['forgets one that runs again', [have('a'), foreign('x', ['a'])], ['x'], '', []],
  ['forgets one that has been deleted', [have('a')], ['x'], '', []],
  ['forgets one that has become ours', [have('a', {}, 'stopped')], ['a'], 'start a', []],
  [
    'remembers both old and new ones',
    [have('a', old), foreign('x', ['a']), foreign('y', [], 'stopped')],
    ['y'],
    'stop x, stop a, configure a, start a, start x, start y',
    ['x', 'y'],
  ],
];
for (const [name, actual, remembered, actions, outside] of outsiders) {
  test(name, () => {
    const made = planServices([want('a')], actual, remembered);
    expect(brief(made.actions)).toBe(actions);
    expect(made.outside.toSorted()).toEqual(outside);
  });
}

test('does not try to start a service of others that is disabled', () => {
  const disabled = foreign('x', ['a']);
  disabled.config.startType = 'disabled';
  const made = planServices([want('a')], [have('a', old), disabled]);
  expect([brief(made.actions), made.outside]).toEqual(['stop x, stop a, configure a, start a', []]);
});

test('lists the services that each action needs', () => {
  const wanted = [want('a'), want('b', { dependencies: ['a', 'tcpip'], prepares: true })];
  const actual = [have('a', old), have('b', { dependencies: ['a', 'tcpip'] }), foreign('x', ['b'])];
  const needs = planServices(wanted, actual).actions.map(action => [`${action.do} ${action.name}`, [...action.needs]]);
  expect(Object.fromEntries(needs)).toEqual({
    'stop x': [],
    'stop b': ['x'],
    'stop a': ['x', 'b'],
    'configure a': [],
    'start a': [],
    'prepare b': ['a', 'tcpip'],
    'start b': ['a', 'tcpip'],
    'start x': ['b'],
  });
});

test('gives create and configure the whole configuration', () => {
  const made = planServices([want('a', { dependencies: ['b'] }), want('b')], [have('b', { description: '' })]);
  const configs = made.actions.flatMap(action => ('config' in action ? [[action.do, action.config]] : []));
  expect(configs).toEqual([
    ['configure', want('b').config],
    ['create', want('a', { dependencies: ['b'] }).config],
  ]);
});

test('does not modify its input', () => {
  const [wanted, actual] = [
    [want('b', { dependencies: ['a'] }), want('a')],
    [have('a', old), foreign('x', ['a'])],
  ];
  const before = structuredClone({ wanted, actual });
  planServices(wanted, actual);
  expect({ wanted, actual }).toEqual(before);
});

const entry = service({ name: 'kubelet', command: 'kubelet.exe NODE_IP', dependencies: ['containerd'] });
const script = (variable?: string) => ({ path: 'x.ps1', args: [], ...(variable !== undefined && { variable }) });
const desires: [name: string, given: DesiredService, want: unknown][] = [
  [
    'tags a service, and has it restarted after a crash',
    desiredService(entry, 'kubelet.exe 10.0.0.4'),
    {
      name: 'kubelet',
      config: {
        command: 'kubelet.exe 10.0.0.4',
        description: 'OpenShift managed kubelet',
        dependencies: ['containerd'],
        startType: 'manual',
        recovery: agentRecovery,
      },
      prepares: false,
      filesChanged: false,
      environmentChanged: false,
    },
  ],
  [
    'lets a bootstrap service start with Windows',
    desiredService({ ...entry, bootstrap: true }, 'x'),
    { config: { startType: 'automatic' } },
  ],
  [
    'prepares what names a preparation',
    desiredService({ ...entry, prepare: [{ kind: 'defender-exclusion', arguments: {} }] }, 'x'),
    { prepares: true },
  ],
  [
    'prepares what has a script without a variable',
    desiredService({ ...entry, preScripts: [script('A'), script()] }, 'x'),
    { prepares: true },
  ],
  [
    'does not prepare what only has scripts for variables',
    desiredService({ ...entry, preScripts: [script('A')] }, 'x'),
    { prepares: false },
  ],
];
for (const [name, given, expected] of desires) test(name, () => expect(given).toMatchObject(expected as object));
