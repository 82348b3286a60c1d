import * as fc from 'fast-check';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { agentName } from '#contract/names.ts';
import { type Service, service } from '#contract/services/manifest.ts';
import { printManifest } from '#contract/services/print.ts';
import { errorOf } from '../../../test/kit/outcome.ts';
import type { InstalledService, ServiceState } from '../ports.ts';
import {
  chooseServiceData,
  mergeNames,
  mergeServices,
  planRemoval,
  removalProblem,
  type ServicesConfigMapView,
} from './decide.ts';

const entry = (name: string, priority = 0, command = 'x') => service({ name, command, priority });
const data = (services: Service[], watched: string[] = []) =>
  printManifest({ services, files: [], environment: {}, watchedEnvironment: watched });
const configMap = (
  version: string,
  day: number,
  content: Record<string, string> = data([]),
): ServicesConfigMapView => ({
  name: `windows-services-${version}`,
  createdAt: `2026-01-${String(day).padStart(2, '0')}T00:00:00Z`,
  data: content,
});
const names = (services: readonly { name: string }[]) => services.map(({ name }) => name);

const choices: [
  name: string,
  configMaps: ServicesConfigMapView[],
  node: string | undefined,
  want: [string, string, boolean],
][] = [
  ['the only one without a Node', [configMap('a', 1)], undefined, ['latest', 'a', true]],
  ['the only one of the version of the node', [configMap('a', 1)], 'a', ['latest', 'a', false]],
  ['the latest when it is that of the node', [configMap('a', 1), configMap('b', 2)], 'b', ['latest', 'b', false]],
  ['the latest when that of the node has gone', [configMap('b', 2)], 'a', ['latest', 'b', true]],
  [
    'the latest when that of the node cannot be parsed',
    [configMap('a', 1, {}), configMap('b', 2)],
    'a',
    ['latest', 'b', true],
  ],
  ['both when the node runs another version', [configMap('a', 1), configMap('b', 2)], 'a', ['merged', 'b', true]],
  [
    'the latest by time, not by version',
    [configMap('9.0.0', 1), configMap('1.0.0', 2)],
    '1.0.0',
    ['latest', '1.0.0', false],
  ],
  ['the latest in any order of the list', [configMap('b', 2), configMap('a', 1)], 'b', ['latest', 'b', false]],
  ['the last by name of two of the same second', [configMap('a', 1), configMap('b', 1)], 'b', ['latest', 'b', false]],
  [
    'no ConfigMap of another kind',
    [configMap('a', 1), { ...configMap('', 9), name: 'windows-instances' }],
    'a',
    ['latest', 'a', false],
  ],
  ['no ConfigMap without a version', [configMap('a', 1), configMap('', 9)], 'a', ['latest', 'a', false]],
];
for (const [name, configMaps, node, want] of choices) {
  test(`chooses ${name}`, () => {
    const chosen = chooseServiceData(configMaps, node);
    expect([chosen.use, chosen.latest, chosen.removeAllTagged]).toEqual(want);
  });
}

const refusals: [name: string, configMaps: ServicesConfigMapView[], hint: string][] = [
  ['without any ConfigMap', [], 'there is none'],
  ['with ConfigMaps of another kind only', [{ ...configMap('a', 1), name: 'windows-instances' }], 'there is none'],
  [
    'when the latest cannot be parsed',
    [configMap('a', 1), configMap('b', 2, { services: '[]' })],
    'windows-services-b',
  ],
];
for (const [name, configMaps, hint] of refusals) {
  test(`fails to choose ${name}`, () => {
    const error = errorOf(() => chooseServiceData(configMaps, 'a'));
    expect(error).toMatchObject({ code: 'CLEANUP_NO_SERVICES', remedy: expect.stringContaining('operator') });
    expect(error?.message).toMatch(/^cannot get latest services ConfigMap: /);
    expect(error?.message).toContain(hint);
  });
}

test('keeps why the latest cannot be parsed', () => {
  const error = errorOf(() => chooseServiceData([configMap('b', 2, {})], undefined));
  expect(error?.cause).toBeInstanceOf(AppError);
});

test('merges services and watched names of both versions, the latest first', () => {
  const old = configMap('a', 1, data([entry('kubelet', 1, 'old'), entry('gone', 5)], ['HTTP_PROXY', 'OLD']));
  const latest = configMap('b', 2, data([entry('new', 3), entry('kubelet', 1, 'new')], ['HTTP_PROXY', 'NO_PROXY']));
  const chosen = chooseServiceData([old, latest], 'a');
  expect(chosen.services.map(({ name, command }) => `${name} ${command}`)).toEqual(['kubelet new', 'new x', 'gone x']);
  expect(chosen.watchedEnvironment).toEqual(['HTTP_PROXY', 'NO_PROXY', 'OLD']);
});

const merges: [name: string, preferred: Service[], other: Service[], want: string][] = [
  ['nothing', [], [], ''],
  ['nothing with something', [], [entry('a')], 'a'],
  ['something with nothing', [entry('a')], [], 'a'],
  ['different services', [entry('a')], [entry('b')], 'a b'],
  ['by priority', [entry('c', 2), entry('e', 9)], [entry('d', 3), entry('b', 1)], 'b c d e'],
  ['equal priorities in the order given', [entry('b', 1), entry('a', 1)], [entry('c', 1)], 'b a c'],
  ['names in any case', [entry('Kubelet')], [entry('kubelet')], 'Kubelet'],
];
for (const [name, preferred, other, want] of merges) {
  test(`merges ${name}`, () => expect(names(mergeServices(preferred, other)).join(' ')).toBe(want));
}

test('prefers the first list and changes neither', () => {
  const [preferred, other] = [[entry('a', 5, 'first')], [entry('a', 1, 'second'), entry('b', 0)]];
  expect(mergeServices(preferred, other).map(({ command }) => command)).toEqual(['x', 'first']);
  expect([names(preferred), names(other)]).toEqual([['a'], ['a', 'b']]);
});

const unions: [name: string, first: string, second: string, want: string][] = [
  ['nothing', '', '', ''],
  ['nothing with something', '', 'A B', 'A B'],
  ['something with nothing', 'A B', '', 'A B'],
  ['a part with the whole', 'A', 'A B C', 'A B C'],
  ['the whole with a part', 'A B C', 'B', 'A B C'],
  ['what overlaps', 'A B', 'B C', 'A B C'],
  ['what is listed twice', 'A A', 'A', 'A'],
];
const split = (text: string) => text.split(' ').filter(word => word !== '');
for (const [name, first, second, want] of unions) {
  test(`unites ${name}`, () => expect(mergeNames(split(first), split(second)).join(' ')).toBe(want));
}

/** `a:b,c` depends on b and c; `*` behind it means our tag, `-` that it is stopped. */
function installed(text: string): InstalledService[] {
  return split(text).map(word => {
    const [, name = '', dependencies = '', flags = ''] = /^(\w+)(?::([\w,]*))?([*-]*)$/.exec(word) ?? [];
    const state: ServiceState = flags.includes('-') ? 'stopped' : 'running';
    const description = flags.includes('*') ? `OpenShift managed ${name}` : 'x';
    const config = { command: '', description, startType: 'manual' as const, recovery: undefined };
    return {
      name,
      state,
      pid: 1,
      config: { ...config, dependencies: dependencies.split(',').filter(part => part !== '') },
    };
  });
}

const removals: [name: string, host: string, listed: string, sweep: boolean, want: string][] = [
  ['nothing of nothing', '', '', true, ''],
  ['nothing for a service that is not there', 'x', 'a', false, ''],
  ['a listed service', 'a* x', 'a', false, 'remove a'],
  ['a listed service without our tag', 'a', 'a', false, 'remove a'],
  ['the last to start first', 'a* b* c*', 'a b c', false, 'remove c, remove b, remove a'],
  ['dependents first, against the order of the list', 'a:b* b*', 'a b', false, 'remove a, remove b'],
  ['no tagged service that is not listed', 'a* left*', 'a', false, 'remove a'],
  ['tagged services too when it sweeps', 'a* left* x', 'a', true, 'remove a, remove left'],
  ['tagged services that depend on listed ones first', 'a* left:a*', 'a', true, 'remove left, remove a'],
  ['nothing of others when it sweeps', 'x y:x', '', true, ''],
  ['after stopping a dependant of others', 'a* x:a y:x z', 'a', false, 'stop y, stop x, remove a'],
  ['without stopping what does not run', 'a* x:a-', 'a', false, 'remove a'],
  ['names in any case', 'KUBELET*', 'kubelet', false, 'remove KUBELET'],
  ['services that stopped', 'a*-', 'a', false, 'remove a'],
];
for (const [name, host, listed, sweep, want] of removals) {
  test(`removes ${name}`, () => {
    const plan = planRemoval(
      installed(host),
      split(listed).map(item => ({ name: item })),
      sweep,
    );
    expect(plan.map(removal => `${removal.do} ${removal.name}`).join(', ')).toBe(want);
  });
}

test('removes every dependent before its dependencies, whatever the order of the list', () => {
  const host = fc.array(fc.array(fc.nat(8), { maxLength: 2 }), { maxLength: 8 }).map(lists =>
    lists
      .map(
        (list, index) =>
          `s${index}:${list
            .filter(other => other < index)
            .map(other => `s${other}`)
            .join()}*`,
      )
      .join(' '),
  );
  fc.assert(
    fc.property(host, fc.shuffledSubarray([...Array(8).keys()]), fc.boolean(), (text, listed, sweep) => {
      const services = installed(text);
      const plan = planRemoval(
        services,
        listed.map(index => ({ name: `s${index}` })),
        sweep,
      );
      const order = plan.map(removal => removal.name);
      for (const removal of plan) {
        const blockers = services.filter(({ config }) => config.dependencies.includes(removal.name));
        for (const { name } of blockers) expect(order.indexOf(name)).toBeLessThan(order.indexOf(removal.name));
        for (const { name } of blockers) expect(order).toContain(name);
      }
      if (sweep) expect(plan.filter(removal => removal.do === 'remove')).toHaveLength(services.length);
    }),
    { numRuns: 500 },
  );
});

test('gives no error without failures', () => expect(removalProblem([])).toBeUndefined());

test('counts and names what could not be removed', () => {
  const problem = removalProblem([
    { name: 'kubelet', error: new Error('1061') },
    { name: 'containerd', error: new Error('1051') },
  ]);
  expect(problem).toMatchObject({
    code: 'CLEANUP_INCOMPLETE',
    message: 'failed to remove 2 service(s): kubelet (1061), containerd (1051)',
    remedy: expect.stringContaining('sc.exe'),
  });
  expect(problem?.cause).toMatchObject({ errors: [{ message: '1061' }, { message: '1051' }] });
});

test('removes the agent first, because it would start the others again', () => {
  const config = { command: '', description: 'OpenShift managed', startType: 'manual', recovery: undefined } as const;
  const hosts = ['kubelet', agentName, 'containerd'].map(name => ({
    name,
    state: 'running' as const,
    pid: 1,
    config: { ...config, dependencies: [] },
  }));
  const plan = planRemoval(hosts, [{ name: 'containerd' }, { name: 'kubelet' }], true);
  expect(plan.map(({ name }) => name)).toEqual([agentName, 'kubelet', 'containerd']);
});

test('stops an agent that is not removed, because it would restore what is removed', () => {
  const config = { command: '', description: '', startType: 'manual', recovery: undefined, dependencies: [] } as const;
  const installed = [agentName, 'kubelet'].map(name => ({ name, state: 'running' as const, pid: 1, config }));
  expect(planRemoval(installed, [{ name: 'kubelet' }], false)).toEqual([
    { do: 'stop', name: agentName },
    { do: 'remove', name: 'kubelet' },
  ]);
});
