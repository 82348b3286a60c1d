import { expect, test } from 'vitest';
import { errorOf } from '../../../test/kit/outcome.ts';
import { hostIn } from '../../../test/kit/status-views.ts';
import { selectHosts, selectKnownHosts } from './select-hosts.ts';

const hosts = [
  hostIn('ready', '10.0.0.1', { aliases: ['win-1', 'entry-1'] }),
  hostIn('failed', 'win-2.example.com', { aliases: ['10.0.0.2'] }),
  hostIn('failed', 'win-2.example.org', { aliases: ['10.0.0.3', 'machine-3'] }),
  hostIn('failed', 'WIN-4', { aliases: [] }),
];

const cases: [names: string[], want: string[]][] = [
  [[], ['10.0.0.1', 'win-2.example.com', 'win-2.example.org', 'WIN-4']],
  [['10.0.0.1'], ['10.0.0.1']],
  [['WIN-1'], ['10.0.0.1']],
  [['entry-1', 'win-1'], ['10.0.0.1']],
  [['win-2.example.com.'], ['win-2.example.com']],
  [
    ['machine-3', '10.0.0.1'],
    ['10.0.0.1', 'win-2.example.org'],
  ],
  [['win-2'], ['win-2.example.com', 'win-2.example.org']],
  [['win-4'], ['WIN-4']],
  [['win'], []],
];
for (const [names, want] of cases) {
  test(`${JSON.stringify(names)} selects ${JSON.stringify(want)}`, () =>
    expect(selectHosts(hosts, names).map(({ name }) => name)).toEqual(want));
}

const view = { unread: [] };

test('an unknown name is an error that lists the hosts', () => {
  expect(errorOf(() => selectKnownHosts(hosts, ['nope'], view))).toMatchObject({
    code: 'HOST_UNKNOWN',
    message: 'this cluster has no Windows host "nope"',
    remedy: 'Use one of: 10.0.0.1, win-2.example.com, win-2.example.org, WIN-4.',
  });
});

test('of many hosts, five that are close to the unknown name are listed', () => {
  const many = Array.from({ length: 200 }, (_, index) => hostIn('ready', `win-${index}`));
  expect(errorOf(() => selectKnownHosts(many, ['win-1990'], view))?.remedy).toBe(
    'Use one of: win-190, win-199, win-10, win-19, win-90 and 195 others.',
  );
});

test('an unknown name does not hide the others', () => {
  const { hosts: found, unknown } = selectKnownHosts(hosts, ['win-1', 'nope'], view);
  expect([found.map(({ name }) => name), unknown.map(({ code }) => code)]).toEqual([['10.0.0.1'], ['HOST_UNKNOWN']]);
});

test('says when Nodes could not be read', () => {
  expect(errorOf(() => selectKnownHosts(hosts, ['nope'], { unread: ['nodes'] }))?.message).toBe(
    'this cluster has no Windows host "nope", as far as it can be read: Nodes cannot',
  );
});
