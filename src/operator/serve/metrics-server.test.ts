import { connect as tlsConnect } from 'node:tls';
import { expect, test } from 'vitest';
import { systemClock } from '#base/clock.ts';
import { fixedFacts } from '../../../test/kit/fixed-facts.ts';
import { MemoryApi } from '../../../test/kit/memory-api.ts';
import { apiServer, readObjects } from '../../../test/kit/openshift-objects.ts';
import { recordedLog } from '../../../test/kit/recorded-log.ts';
import { ask, running } from '../../../test/kit/running-server.ts';
import { metricsServer } from './metrics-server.ts';
import type { ListenAddress } from '../settings.ts';

async function serve(host: string, spec: Record<string, unknown> = {}) {
  const api = new MemoryApi();
  api.before = ({ resource, body }) => {
    const { spec: asked } = body as { spec: { token?: string; user?: string } };
    if (resource === 'subjectaccessreviews') return { status: { allowed: asked.user === 'good' } };
    return { status: { authenticated: asked.token !== 'bad', user: { username: asked.token } } };
  };
  const { log, lines } = recordedLog();
  const objects = readObjects([apiServer(spec)]);
  const facts = fixedFacts({}, objects);
  const address: ListenAddress = { host, port: 0 };
  let prints = 0;
  const print = () => `things ${(prints += 1)}\n`;
  await running(metricsServer({ address, client: api, facts, print, clock: systemClock, log }));
  const port = Number(/:(\d+)$/.exec(String(lines[0]?.fields['address']))?.[1]);
  return { port, api, facts, objects, log: lines };
}

test('is plain and open to the machine itself', async () => {
  const { port, api } = await serve('127.0.0.1');
  expect(await ask(`http://127.0.0.1:${port}/metrics`)).toEqual({
    code: 200,
    type: 'text/plain; version=0.0.4; charset=utf-8',
    text: 'things 1\n',
  });
  expect(api.calls).toEqual([]);
});

test('prints what there is at each question', async () => {
  const { port } = await serve('127.0.0.1');
  await ask(`http://127.0.0.1:${port}/metrics`);
  expect(await ask(`http://127.0.0.1:${port}/metrics`)).toMatchObject({ text: 'things 2\n' });
});

test('knows no other path', async () => {
  const [plain, open] = [await serve('127.0.0.1'), await serve('0.0.0.0')];
  expect(await ask(`http://127.0.0.1:${plain.port}/`)).toMatchObject({ code: 404 });
  expect(await ask(`https://127.0.0.1:${open.port}/`, { rejectUnauthorized: false })).toMatchObject({ code: 404 });
});

const visitors: [name: string, authorization: string | undefined, code: number][] = [
  ['whom the cluster allows it', 'Bearer good', 200],
  ['whom it does not', 'Bearer other', 403],
  ['whom it does not know', 'Bearer bad', 401],
  ['who shows nothing', undefined, 401],
];
for (const [name, authorization, code] of visitors) {
  test(`answers ${code} over the network to those ${name}`, async () => {
    const { port } = await serve('0.0.0.0');
    const headers = authorization === undefined ? {} : { authorization };
    const heard = await ask(`https://127.0.0.1:${port}/metrics`, { rejectUnauthorized: false, headers });
    expect(heard.code).toBe(code);
    expect(heard.text.startsWith('things')).toBe(code === 200);
  });
}

test('speaks nothing but TLS over the network', async () => {
  const { port } = await serve('0.0.0.0');
  await expect(ask(`http://127.0.0.1:${port}/metrics`)).rejects.toThrow();
});

/** Whether the server agrees to a connection of at most this version. */
function agrees(port: number, maxVersion: 'TLSv1.2' | 'TLSv1.3'): Promise<boolean> {
  return new Promise(resolve => {
    const socket = tlsConnect({ port, host: '127.0.0.1', maxVersion, rejectUnauthorized: false }, () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}

const modern = { tlsSecurityProfile: { type: 'Modern' }, tlsAdherence: 'StrictAllComponents' };
const profiles: [name: string, spec: Record<string, unknown>, want: boolean][] = [
  ['that nobody has to follow', { ...modern, tlsAdherence: '' }, true],
  ['that is for older components', { ...modern, tlsAdherence: 'LegacyAdheringComponentsOnly' }, true],
  ['that all must follow', modern, false],
  ['that cannot be understood', { ...modern, tlsSecurityProfile: { type: 'Strange' } }, true],
];
for (const [name, spec, want] of profiles) {
  test(`OP-09: ${want ? 'accepts' : 'refuses'} TLS 1.2 with a profile ${name}`, async () => {
    const { port } = await serve('0.0.0.0', spec);
    expect([await agrees(port, 'TLSv1.2'), await agrees(port, 'TLSv1.3')]).toEqual([want, true]);
  });
}

test('OP-09: follows a profile that changes, without a restart', async () => {
  const { port, facts, objects } = await serve('0.0.0.0');
  expect(await agrees(port, 'TLSv1.2')).toBe(true);
  objects.splice(0, 1, ...readObjects([apiServer(modern)]));
  facts.become({});
  expect(await agrees(port, 'TLSv1.2')).toBe(false);
  objects.splice(0, 1);
  facts.become({});
  expect(await agrees(port, 'TLSv1.2')).toBe(true);
});

test('reports "metrics server" in the log', async () => {
  const { log } = await serve('127.0.0.1');
  expect(log[0]?.message).toContain('metrics server');
});
