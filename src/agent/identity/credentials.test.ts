import { inspect } from 'node:util';
import { expect, test } from 'vitest';
import { AppError } from '#base/errors.ts';
import { Secret } from '#base/secret.ts';
import type { Credential } from '#kube/transport/connection.ts';
import { agentCertificate, agentSubject, hourMs, minuteMs, nodeName } from '../../../test/kit/agent-certificates.ts';
import { startMs } from '../../../test/kit/agent-certificates.ts';
import { manualClock } from '../../../test/kit/manual-clock.ts';
import { rejectionOf } from '../../../test/kit/outcome.ts';
import { agentIdentity } from './kept-identity.ts';
import { CredentialChain, type CredentialSource } from './credentials.ts';

const { signal } = new AbortController();
const remedy = 'Write a token.';
const token = (text: string): Credential => ({ authorization: new Secret(`Bearer ${text}`) });
const certificate = (content: Parameters<typeof agentCertificate>[0] = {}): Credential => ({
  clientCertificate: agentCertificate(content).clientCertificate,
});

type Given = Credential | Error;

/** A place whose credential a test may change; `later` is what is found when it is looked at again. */
function place(name: string, given: Given, later: Given = given): CredentialSource & { refreshed: number } {
  let now = given;
  const source = {
    name,
    refreshed: 0,
    current: () => (now instanceof Error ? Promise.reject(now) : Promise.resolve(now)),
    refresh: () => {
      source.refreshed += 1;
      now = later;
      return now instanceof Error ? Promise.reject(now) : Promise.resolve();
    },
  };
  return source;
}

function chainOf(...sources: CredentialSource[]) {
  const clock = manualClock(startMs);
  const chain = new CredentialChain(sources, { clock, subject: agentIdentity(nodeName), remedy });
  return { chain, clock, current: () => chain.current(signal) };
}

const [one, two, three] = [token('one'), token('two'), token('three')];
const valid = certificate();
const missing = new AppError('CREDENTIAL_UNREADABLE', '"x" does not exist', { remedy: 'r' });

const choices: [name: string, sources: Given[], want: Credential][] = [
  ['the first', [valid, one], valid],
  ['the next when there is none', [missing, one, two], one],
  ['the next when reading fails', [new TypeError('bug'), one], one],
  ['the next when it is empty', [{}, one], one],
  ['the next when the certificate has expired', [certificate({ notAfter: startMs }), one], one],
  ['the next when the certificate is of another node', [certificate(agentSubject('win2')), one], one],
  [
    'a certificate of somebody else, who may be anybody',
    [certificate({ commonName: 'admin', organizations: [] }), one],
    undefined as never,
  ],
  [
    'a certificate of tomorrow, since the clock may be wrong',
    [certificate({ notBefore: startMs + hourMs, notAfter: startMs + 2 * hourMs }), one],
    undefined as never,
  ],
];
for (const [name, given, want] of choices) {
  test(`uses ${name}`, async () => {
    const { current } = chainOf(...given.map((each, index) => place(`place ${index}`, each)));
    expect(await current()).toBe(want ?? given[0]);
  });
}

test('accepts the certificate of any node while its own name is unknown', async () => {
  const foreign = certificate(agentSubject('win2'));
  const chain = new CredentialChain([place('a', foreign)], { clock: manualClock(startMs), remedy });
  expect(await chain.current(signal)).toBe(foreign);
});

test('turns to the next when the certificate expires', async () => {
  const { clock, current } = chainOf(place('a', valid), place('b', one));
  expect(await current()).toBe(valid);
  await clock.advance(hourMs - 1);
  expect(await current()).toBe(valid);
  await clock.advance(1);
  expect(await current()).toBe(one);
});

test('uses the next credential when the server rejects one, and keeps it', async () => {
  const { chain, current } = chainOf(place('a', valid), place('b', one), place('c', two));
  expect(await chain.renew(await current(), signal)).toBe(true);
  expect(await current()).toBe(one);
  expect(await chain.renew(one, signal)).toBe(true);
  expect(await current()).toBe(two);
});

test('refreshes all sources after a rejection', async () => {
  const sources = [place('a', one, two), place('b', three, missing)];
  const { chain, current } = chainOf(...sources);
  expect(await chain.renew(await current(), signal)).toBe(true);
  expect(await current()).toBe(two);
  expect(sources.map(source => source.refreshed)).toEqual([1, 1]);
});

test('recognizes a rejected credential by its text', async () => {
  const { chain, current } = chainOf(place('a', token('one')), place('b', two));
  await chain.renew(token('one'), signal);
  expect(await current()).toBe(two);
});

test('does not skip a token that was rejected only together with a certificate', async () => {
  const both = { ...valid, ...one };
  const { chain, current } = chainOf(place('a', both), place('b', token('one')));
  await chain.renew(both, signal);
  expect((await current()).clientCertificate).toBeUndefined();
});

test('can skip the last used credential', async () => {
  const { chain, current } = chainOf(place('a', one), place('b', two));
  await current();
  await chain.refuseLast(signal);
  expect(await current()).toBe(two);
  await expect(chain.refuseLast(signal)).rejects.toMatchObject({ code: 'AGENT_UNIDENTIFIED' });
});

test('reports the problem of every credential, with the remedy', async () => {
  const expired = certificate({ notAfter: startMs - minuteMs });
  const places: [string, Given][] = [
    ['the certificate of the agent', expired],
    ['C:\\k\\wicd-kubeconfig', one],
    ['C:\\k\\empty', {}],
    ['C:\\k\\other', certificate(agentSubject('win2'))],
    ['C:\\k\\odd', new TypeError('hunter2')],
    ['C:\\k\\missing', missing],
  ];
  const { chain } = chainOf(...places.map(([name, given]) => place(name, given)));
  const error = await rejectionOf(chain.renew(one, signal));
  expect(error).toMatchObject({
    code: 'AGENT_UNIDENTIFIED',
    remedy,
    message: `no credential for the API server works: ${[
      'the certificate of the agent: the certificate expired at 2026-03-01T11:59:00Z',
      'C:\\k\\wicd-kubeconfig: the API server rejects it',
      'C:\\k\\empty: contains no credential',
      'C:\\k\\other: the certificate is for "system:wicd-node:win2", not for "system:wicd-node:win1"',
      'C:\\k\\odd: cannot be read',
      '"x" does not exist',
    ].join('; ')}`,
  });
  expect(inspect(error)).not.toMatch(/Bearer|hunter2/);
});

test('starts again when all were rejected', async () => {
  const { chain, current } = chainOf(place('a', one), place('b', two));
  expect(await chain.renew(one, signal)).toBe(true);
  await expect(chain.renew(two, signal)).rejects.toMatchObject({ code: 'AGENT_UNIDENTIFIED' });
  expect(await current()).toBe(one);
});

test('ends with the caller, not with a story about credentials', async () => {
  const reason = new Error('stop');
  const source = place('a', reason);
  const { chain } = chainOf(source);
  await expect(chain.current(AbortSignal.abort(reason))).rejects.toBe(reason);
});
